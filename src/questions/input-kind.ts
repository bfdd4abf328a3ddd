import { looksSecret } from './asks-for-secret.ts';
import { askedItem, choiceOf, YES_NO } from './options.ts';
import type { ItemTexts } from './session.ts';
import { isGeneric, matchingText, optionOr, withoutFinalMarks, words } from './texts.ts';
import { wordList } from './word-list.ts';

/** What an item offers. `separator`: between several that are chosen, in one text; without it, only one can be chosen. */
export interface Choices {
	readonly options: readonly string[];
	readonly separator?: string;
}

/** The input that suits an item. Every input sends a string. */
export type InputGuess =
	/** `options`: 2 to 100, in full length. Slack shows only 75 characters of each. */
	| ({ readonly kind: 'choice' } & Choices)
	| { readonly kind: 'yesNo' }
	/** A `number` may be a fraction, a `date` is sent as 2026-11-20, a `time` as 17:05. `line` is the only input of secrets. */
	| { readonly kind: (typeof INPUT_RULES)[number]['kind'] | 'longText' };

/** Where an option has a comma itself, each that is chosen takes a line, and a note the last one. */
export function choicesFrom(options: readonly string[], isSeveral: boolean): Choices {
	return { options, ...(isSeveral && { separator: options.some((option) => option.includes(',')) ? '\n' : ', ' }) };
}

export function choicesOf(guess: InputGuess): Choices {
	return guess.kind === 'choice' ? guess : { options: guess.kind === 'yesNo' ? YES_NO : [] };
}

/** What stands between an option and a note. */
const markAfter = (option: string, { separator }: Choices) =>
	separator === '\n' ? separator : /[.!?…。！？]$/.test(option) ? ' ' : '. ';

/**
 * Options, in the item's order, and a note as one text, as it is sent: "LH 1173. Seat 12A, please". Either may be empty. Names
 * an option once.
 */
export function withNote(chosen: readonly string[], note: string, choices: Choices): string {
	const option = choices.options.filter((one) => chosen.includes(one)).join(choices.separator);
	const own = note.trim();
	if (option === '' || own === '') return option || note;
	const rest = own.slice(option.length);
	const isNamed = own.toLowerCase().startsWith(option.toLowerCase()) && !/^[\p{L}\p{N}]/u.test(rest);
	if (!isNamed) return `${option}${markAfter(option, choices)}${own}`;
	return rest === '' ? option : own;
}

/** Undoes `withNote`: a text that begins with no option is all note. */
export function splitNote(
	text: string,
	choices: Choices,
): { readonly chosen: readonly string[]; readonly note: string } {
	const { options, separator } = choices;
	for (const option of options.toSorted((a, b) => b.length - a.length)) {
		if (separator !== undefined && text.startsWith(`${option}${separator}`)) {
			const others = { options: options.filter((other) => other !== option), separator };
			const { chosen, note } = splitNote(text.slice(option.length + separator.length), others);
			if (chosen.length > 0) return { chosen: [option, ...chosen], note };
		}
		const start = `${option}${markAfter(option, choices)}`;
		if (text === option || text.startsWith(start)) return { chosen: [option], note: text.slice(start.length) };
	}
	return { chosen: [], note: text };
}

/** The option that a text is (`optionOr`), or several; else the text. */
export function optionsOr(text: string, choices: Choices): string {
	const { options, separator } = choices;
	const parts = separator === undefined ? [text] : text.split(separator, options.length + 1);
	const chosen = parts.map((part) => (options.includes(part) ? part : optionOr(part, options)));
	const isChoice = parts.length <= options.length && chosen.every((part) => options.includes(part));
	return isChoice ? withNote(chosen, '', choices) : text;
}

/** The patterns of `words/inputs.txt`, of `matchingText`: lower case, no accents, no hyphens. */
const PATTERNS = Map.groupBy(
	wordList('inputs').map((line) => line.split(/: (.*)/)),
	([name]) => name ?? '',
);
const source = (name: string): string =>
	(PATTERNS.get(name) ?? [])
		.map(([, pattern = '']) => pattern)
		.join('|')
		.replace(/\{(the|what)\}/g, (_, other: string) => `(?:(?:${source(other)}) )?`)
		.replace('{doubt}', () => source('doubt'));

/** The first rule that matches decides. The last one is for those that have a doubt. */
export const INPUT_RULES = (['number', 'email', 'url', 'date', 'time', 'line', 'line in doubt'] as const).map(
	(name) => ({
		kind: name === 'line in doubt' ? 'line' : name,
		/** All of what names the thing asked for, without its final marks. */
		label: new RegExp(`^(?:${source(name)})$`, 'u'),
		/** Words in title or description with which another answer may be correct too: then the rule does not apply. */
		unless: words(source(`not ${name}`)),
	}),
);

/** Code units. Longer texts explain what is asked for and do not name it. */
const MAX_LABEL_LENGTH = 200;
/** A longer description asks for more than one word, number or date. */
const MAX_BRIEF_LENGTH = 400;

/** By item, with the text above a lone one and without. Several screens and rules ask about each. */
const guessedAt = new WeakMap<ItemTexts, InputGuess>();
const guessed = new WeakMap<ItemTexts, InputGuess>();

/** For an item by itself, without the text above it. */
export const guessInput = (item: ItemTexts) => guessInputAt({ items: [item], context: '' }, 0);

/**
 * By `looksSecret`, `choiceOf`, then `INPUT_RULES`. Any doubt gives long text, which refuses no answer. The text above a lone item
 * may have its options.
 */
export function guessInputAt(question: Parameters<typeof askedItem>[0], position: number): InputGuess {
	const item = question.items[position] ?? { title: '', description: '' };
	if (looksSecret(item)) return { kind: 'line' };
	const asked = askedItem(question, position);
	const known = asked === item ? guessed : guessedAt;
	const guess = known.get(item) ?? guessOf(asked);
	known.set(item, guess);
	return guess;
}

function guessOf(item: ItemTexts): InputGuess {
	const choice = choiceOf(item);
	if (choice === null) return { kind: kindByRules(item) };
	if (choice.options === YES_NO) return { kind: choice.isSeveral ? 'longText' : 'yesNo' };
	return { kind: 'choice', ...choicesFrom(choice.options, choice.isSeveral) };
}

function kindByRules(item: ItemTexts) {
	const [title, description] = [matchingText(item.title), matchingText(item.description)];
	const named = isGeneric(title) ? description : title;
	const text = `${title}\n${description}`;
	if (item.description.length > MAX_BRIEF_LENGTH || text.split('?').length > 2) return 'longText';
	if (named === '' || named.length > MAX_LABEL_LENGTH) return 'longText';
	const rule = INPUT_RULES.find(({ label, unless }) => label.test(withoutFinalMarks(named)) && !unless.test(text));
	return rule?.kind ?? 'longText';
}
