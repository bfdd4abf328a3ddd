import { looksSecret } from './asks-for-secret.ts';
import { askedAt, type Choice } from './options.ts';
import type { Question } from './session.ts';
import { wordList } from './word-list.ts';

/** More buttons would be harder to read than a select. */
export const MAX_OPTIONS = 5;
/** UTF-16 units. Slack cuts longer labels of buttons. */
export const MAX_OPTION_LENGTH = 30;

/**
 * The 2 to 5 options that one press can answer: a button's label is the value that is sent. Only for a question with
 * one item. Null when the item has a value or a secret, when a button would cut an option, and in doubt: a wrong press
 * cannot be taken back after *Undo*, and the form is always there.
 */
export function quickAnswerOf(
	question: Pick<Question, 'openItems'> & Parameters<typeof askedAt>[0],
	isSecret: (position: number) => boolean,
) {
	const [position] = question.openItems;
	// Items that have a value already are part of the question, and only the form shows them.
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

/** Control, format and unassigned characters, lone surrogates, and characters that fonts draw as nothing. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** White space at an end, two spaces in a row, and any white space but the plain space. */
const UNUSUAL_SPACE = /^ | $| {2}|[^\S ]/;
/** Marks without a letter, and more marks than any script puts on one letter. The cleaning of labels removes these. */
const STRAY_MARKS = /^\p{M}|\p{M}{9}/u;
/** Texts that Slack may show as something else: `:smile:`, `&lt;`, `<!here>`. */
const SLACK_MARKUP = /:[\p{L}\p{N}_+'-]+:|&(?:amp|lt|gt);|<[^<>]*>/u;
/** Marks of Markdown, which a label would show as they are, and boxes to tick, which are no choice. */
const MARKDOWN = /\*\*|__|~~|`|\]\(|^\[[ xX]?\]|^\([ •xX]?\)|^>|\\|(?:^|\s)[*_]\S/;

function staysAsItIs(option: string): boolean {
	if (option.length > MAX_OPTION_LENGTH) return false;
	return ![INVISIBLE, UNUSUAL_SPACE, STRAY_MARKS, SLACK_MARKUP, MARKDOWN].some((pattern) => pattern.test(option));
}

/** The looks of our own labels, for `taken` of `lookDifferent`. Punctuation and white space do not count. */
export const looksOfLabels = (labels: readonly string[]) => new Set(labels.map((label) => bare(lookOf(label))));

/** An ending without words: something in brackets, or a number, perhaps with a unit of time. */
const NO_WORDS = /(?:[([{（【［].*|\p{N}{1,9}\s?(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)?\.?)$/isu;

/**
 * Whether people can tell these texts from each other and from our labels. `taken`: the looks of our labels. An ending
 * without words does not count: "Undo (10 s)" looks like "Undo", but "Open a new account" not like "Open". False in
 * doubt.
 */
export function lookDifferent(texts: readonly string[], taken: ReadonlySet<string> = new Set()): boolean {
	const looks = texts.map(lookOf);
	const isTaken = (text: string) =>
		taken.has(bare(lookOf(text))) || taken.has(bare(lookOf(text.replace(NO_WORDS, ''))));
	return isOneScript(texts.join('').normalize('NFKC')) && new Set(looks).size === looks.length && !texts.some(isTaken);
}

/** Letters of different scripts may look alike. Chinese, Japanese, Korean and English ones differ. */
// biome-ignore format: a list of names
const SCRIPTS = 'Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Thai Georgian'.split(' ');
const EASTERN = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ーA-Za-z]';
const ONE_SCRIPT = new RegExp(`^(?:${[...SCRIPTS.map((name) => `\\p{Script=${name}}`), EASTERN].join('*|')}*)$`, 'u');

function isOneScript(text: string): boolean {
	// Unicode keeps the ten digits of a script together. A mark that NFKC joins with no letter is easily overlooked.
	const tens = (text.match(/\p{Nd}/gu) ?? []).map((digit) => (/\d/.test(digit) ? 0 : (digit.codePointAt(0) ?? 0) >> 4));
	const isMixed = new Set(tens).size > 1 || (tens.some((ten) => ten > 0) && /[a-z]/i.test(text));
	return ONE_SCRIPT.test(text.replace(/\P{L}/gu, '')) && !isMixed && !/\p{Script=Latin}\p{M}/u.test(text);
}

const ALIKE = wordList('look-alikes').map((line) => line.split(' '));

/** A text in a form that is equal for texts that people confuse. */
function lookOf(text: string): string {
	const plain = text.normalize('NFKC').toUpperCase().toLowerCase().replace(/\s+/g, ' ');
	return ALIKE.reduce(
		(look, [one = '', other = '']) => look.normalize('NFD').replaceAll(one, other).normalize(),
		plain,
	);
}

const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
