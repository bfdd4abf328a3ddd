import { INPUT_RULES, type InputRule, WANTS_MORE_THAN_YES_OR_NO } from './input-rules.ts';
import { labelOf, matchingText, withoutFinalMarks } from './matching-text.ts';
import { listedOptions } from './options.ts';
import { looksSecret } from './secrecy.ts';
import type { HumanInputItem } from './session.ts';

/** The input that suits an item. The value sent is a string whatever the input. */
export type InputGuess =
	| {
			readonly kind: 'choice';
			/** Two to 100, in full: Slack shows only 75 characters of each. */
			readonly options: readonly string[];
			/** Whether something else may be a right answer too. */
			readonly allowsOther: boolean;
			readonly secret: false;
	  }
	| {
			/** `number` may be a fraction; `date` is written 2026-11-20, `time` 17:05; `longText` is the default. */
			readonly kind: 'yesNo' | 'number' | 'email' | 'url' | 'date' | 'time' | 'longText';
			readonly secret: false;
	  }
	/** One line; the only input of secrets. */
	| { readonly kind: 'line'; readonly secret: boolean };

/** A description longer than this (code units) tells more than a box for one word, number or date can hold. */
const DESCRIBED_BRIEFLY = 400;

/**
 * Guesses from title and description, by `SECRET_RULES`, then `listedOptions`, then `INPUT_RULES` in their order. A wrong
 * box that refuses a right answer is worse than long text, so everything in doubt is long text. Never throws; the work
 * is linear in at most some thousand characters.
 */
export function guessInput(item: Pick<HumanInputItem, 'title' | 'description'>): InputGuess {
	if (looksSecret(item)) return { kind: 'line', secret: true };
	const listed = listedOptions(item);
	if (listed !== null) {
		if (!areYesAndNo(listed.options)) return { kind: 'choice', ...listed, secret: false };
		return { kind: WANTS_MORE_THAN_YES_OR_NO.test(textOf(item)) ? 'longText' : 'yesNo', secret: false };
	}
	return { kind: boxFor(item), secret: false };
}

function boxFor(item: Pick<HumanInputItem, 'title' | 'description'>): 'longText' | InputRule['kind'] {
	const label = labelOf(item);
	const all = textOf(item);
	if (label === '' || item.description.length > DESCRIBED_BRIEFLY || all.split('?').length > 2) return 'longText';
	const asked = questionIn(item.description);
	const described = withoutFinalMarks(matchingText(item.description));
	const candidates = INPUT_RULES.filter(
		(rule) => !rule.unless.test(all) && rule.description?.test(described) !== false,
	);
	const rule =
		candidates.find((candidate) => fits(candidate, label)) ??
		candidates.find((candidate) => candidate.question === true && fits(candidate, asked));
	return rule?.kind ?? 'longText';
}

function fits(rule: InputRule, label: string): boolean {
	return (rule.question !== true || label.endsWith('?')) && rule.label.test(withoutFinalMarks(label));
}

/** The question in a description: "The total is 30 euros. Should I go on?" */
function questionIn(description: string): string {
	const sentence = matchingText(description)
		.match(/[^.!?\n]+[.!?\n]?/g)
		?.find((text) => text.endsWith('?'));
	return sentence?.trim() ?? '';
}

function areYesAndNo(options: readonly string[]): boolean {
	const meanings = options.map((option) => ({ yes: 'yes', y: 'yes', no: 'no', n: 'no' })[option.toLowerCase()]);
	return meanings.length === 2 && meanings.includes('yes') && meanings.includes('no');
}

function textOf(item: Pick<HumanInputItem, 'title' | 'description'>): string {
	return `${matchingText(item.title)}\n${matchingText(item.description)}`;
}
