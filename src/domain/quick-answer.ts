import { looksSecret } from './asks-for-secret.ts';
import { askedAt, type Choice } from './options.ts';
import type { Question } from './session.ts';
import { wordList } from './word-list.ts';

/** More buttons are harder to read than a select. */
export const MAX_OPTIONS = 5;
/** UTF-16 units. Slack cuts longer labels of buttons. */
export const MAX_OPTION_LENGTH = 30;

/**
 * The 2 to 5 options of the only item, each at once a button's label and the value that is sent: yes and no, or a list
 * that the item marks as one. Null when the item has a value, when a button would not show an option in full, and in
 * doubt, because a wrong press cannot be taken back and the form is always there.
 */
export function quickAnswerOf(
	question: Pick<Question, 'openItems'> & Parameters<typeof askedAt>[0],
	isSecret: (position: number) => boolean,
) {
	const [position] = question.openItems;
	// Items with a value, from whomever, are a part of what is asked, and only the form shows them.
	if (position === undefined || question.items.length > 1) return null;
	const item = question.items[position];
	if (item === undefined || isSecret(position) || looksSecret(item)) return null;
	const options = optionsOf(askedAt(question, position).choice);
	return options === null ? null : { position, options };
}

function optionsOf(choice: Choice | null): readonly string[] | null {
	if (choice?.isWhole !== true || choice.options.length > MAX_OPTIONS) return null;
	return choice.options.every(staysAsItIs) && lookDifferent(choice.options) ? choice.options : null;
}

/** Control, format and unassigned characters, lone surrogates, and what fonts draw as nothing. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** White space at an end, two in a row, and any but the plain space. */
const UNUSUAL_SPACE = /^ | $| {2}|[^\S ]/;
/** Marks without a letter, and more than any script puts on one: the cleaning of labels removes these. */
const STRAY_MARKS = /^\p{M}|\p{M}{9}/u;
/** What Slack may show as something else: `:smile:`, `&lt;`, `<!here>`. */
const SLACK_MARKUP = /:[\p{L}\p{N}_+'-]+:|&(?:amp|lt|gt);|<[^<>]*>/u;
/** A label shows marks of Markdown as they are, and a box to tick is not a choice. */
const MARKDOWN = /\*\*|__|~~|`|\]\(|^\[[ xX]?\]|^\([ •xX]?\)|^>|\\|(?:^|\s)[*_]\S/;

function staysAsItIs(option: string): boolean {
	if (option.length > MAX_OPTION_LENGTH) return false;
	return ![INVISIBLE, UNUSUAL_SPACE, STRAY_MARKS, SLACK_MARKUP, MARKDOWN].some((pattern) => pattern.test(option));
}

/** What these labels look like. Numbers, punctuation and white space do not count. */
export const looksOfLabels = (labels: readonly string[]) => new Set(labels.map((label) => bare(lookOf(label))));

/** What is no word behind a label: something in brackets, or a number, perhaps with a unit of time. */
const NO_WORDS = /(?:[([{（【［].*|\p{N}{1,9}\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)?\.?)$/isu;

/**
 * Whether people can tell each of these texts from the others, and from the labels that look like `taken`, also with
 * something behind it that is no word: "Undo (10 s)". "Open a new account" is no label. False in doubt.
 */
export function lookDifferent(texts: readonly string[], taken: ReadonlySet<string> = new Set()): boolean {
	const looks = texts.map(lookOf);
	const isTaken = (text: string) =>
		taken.has(bare(lookOf(text))) || taken.has(bare(lookOf(text.replace(NO_WORDS, ''))));
	return isOneScript(texts.join('').normalize('NFKC')) && new Set(looks).size === looks.length && !texts.some(isTaken);
}

/** Letters of different scripts look alike. Those of Chinese, Japanese and English stand together, and differ. */
// biome-ignore format: a list of names
const SCRIPTS = 'Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Thai Georgian'.split(' ');
const EASTERN = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ーA-Za-z]';
const ONE_SCRIPT = new RegExp(`^(?:${[...SCRIPTS.map((name) => `\\p{Script=${name}}`), EASTERN].join('*|')}*)$`, 'u');

function isOneScript(text: string): boolean {
	// Unicode keeps the ten digits of a script together. A mark of no letter is easily overlooked.
	const tens = (text.match(/\p{Nd}/gu) ?? []).map((digit) => (/\d/.test(digit) ? 0 : (digit.codePointAt(0) ?? 0) >> 4));
	const isMixed = new Set(tens).size > 1 || (tens.some((ten) => ten > 0) && /[a-z]/i.test(text));
	return ONE_SCRIPT.test(text.replace(/\P{L}/gu, '')) && !isMixed && !/\p{Script=Latin}\p{M}/u.test(text);
}

const ALIKE = wordList('look-alikes').map((line) => line.split(' '));

/** Equal for texts that people confuse. */
function lookOf(text: string): string {
	const plain = text.normalize('NFKC').toUpperCase().toLowerCase().replace(/\s+/g, ' ');
	return ALIKE.reduce(
		(look, [one = '', other = '']) => look.normalize('NFD').replaceAll(one, other).normalize(),
		plain,
	);
}

const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
