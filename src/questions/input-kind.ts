import { looksSecret } from './asks-for-secret.ts';
import { INPUT_RULES, type InputRule, WANTS_MORE_THAN_YES_OR_NO } from './input-rules.ts';
import { labelOf, matchingText, withoutFinalMarks } from './matching-text.ts';
import { listedOptions } from './options.ts';
import type { HumanInputItem } from './session.ts';

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	| {
			readonly kind: 'choice';
			/** 2 to 100, in full length. Slack shows only 75 characters of each. */
			readonly options: readonly string[];
			/** Whether another answer is possible. */
			readonly allowsOther: boolean;
			readonly secret: false;
	  }
	| {
			/** A `number` may be a fraction. A `date` is sent as 2026-11-20, a `time` as 17:05. */
			readonly kind: 'yesNo' | 'number' | 'email' | 'url' | 'date' | 'time' | 'longText';
			readonly secret: false;
	  }
	/** One line; the only input of secrets. */
	| { readonly kind: 'line'; readonly secret: boolean };

/** The answers to a `yesNo`. */
export const YES_NO = ['Yes', 'No'] as const;

/** Code units. A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/**
 * Guesses from title and description, by `SECRET_RULES`, then `listedOptions`, then `INPUT_RULES` in their order. A box
 * that refuses a correct answer is worse than long text, so every doubt gives long text. Never throws; linear in the
 * length of the texts.
 */
export function guessInput(item: Pick<HumanInputItem, 'title' | 'description'>): InputGuess {
	if (looksSecret(item)) return { kind: 'line', secret: true };
	const listed = listedOptions(item);
	if (listed !== null) {
		const { options, allowsOther } = listed;
		if (!areYesAndNo(options)) return { kind: 'choice', options, allowsOther, secret: false };
		return { kind: WANTS_MORE_THAN_YES_OR_NO.test(textOf(item)) ? 'longText' : 'yesNo', secret: false };
	}
	return { kind: kindByRules(item), secret: false };
}

function kindByRules(item: Pick<HumanInputItem, 'title' | 'description'>): 'longText' | InputRule['kind'] {
	const label = labelOf(item);
	const text = textOf(item);
	if (label === '' || item.description.length > MAX_BRIEF_LENGTH || text.split('?').length > 2) return 'longText';
	const question = questionIn(item.description);
	const described = withoutFinalMarks(matchingText(item.description));
	const candidates = INPUT_RULES.filter(
		(rule) => !rule.unless.test(text) && rule.description?.test(described) !== false,
	);
	const rule =
		candidates.find((candidate) => fits(candidate, label)) ??
		candidates.find((candidate) => candidate.question === true && fits(candidate, question));
	return rule?.kind ?? 'longText';
}

function fits(rule: InputRule, label: string): boolean {
	return (rule.question !== true || label.endsWith('?')) && rule.label.test(withoutFinalMarks(label));
}

/** The question in a description: "The total is 30 euros. Should I go on?" */
function questionIn(description: string): string {
	const sentence = matchingText(description)
		.match(/[^.!?\n]+[.!?\n]?/g)
		?.find((part) => part.endsWith('?'));
	return sentence?.trim() ?? '';
}

function areYesAndNo(options: readonly string[]): boolean {
	const meanings = options.map((option) => ({ yes: 'yes', y: 'yes', no: 'no', n: 'no' })[option.toLowerCase()]);
	return meanings.length === 2 && meanings.includes('yes') && meanings.includes('no');
}

function textOf(item: Pick<HumanInputItem, 'title' | 'description'>): string {
	return `${matchingText(item.title)}\n${matchingText(item.description)}`;
}
