import { looksSecret } from './asks-for-secret.ts';
import { askedAt, type Choice } from './options.ts';
import type { Question } from './session.ts';
import { PROTOTYPES } from './texts.ts';

/** More buttons are harder to read than a select. */
const MAX_OPTIONS = 5;
/** UTF-16 units. Slack cuts longer labels of buttons. */
const MAX_OPTION_LENGTH = 30;

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
export const looksOfLabels = (labels: readonly string[]) => new Set(labels.flatMap(looksOf).map(bare));

/** What is no word behind a label: something in brackets, and numbers with a unit of time. */
const NO_WORDS =
	/[([{（【［].*?(?:[)\]}）】］]|$)|\p{N}+\s*(?:(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?![\p{L}\p{M}\p{N}]))?/giu;

/**
 * Whether people can tell each of these texts from the others, and from the labels that look like `taken`, also with
 * something behind it that is no word: "Undo (10 s)". "Open a new account" is no label. False in doubt.
 */
export function lookDifferent(texts: readonly string[], taken: ReadonlySet<string> = new Set()): boolean {
	const seen = new Set<string>();
	return texts.every((text) => {
		const looks = looksOf(text);
		const isNew = !looks.some((look) => seen.has(look));
		for (const look of looks) seen.add(look);
		const begins = Array.from(text.matchAll(/[\p{L}\p{M}]+|\p{N}+/gu), (word) => word.index + word[0].length)
			.filter((end) => !/\p{L}/u.test(text.slice(end).replace(NO_WORDS, '')))
			.map((end) => text.slice(0, end));
		const labels = [text, ...begins].flatMap((part) => [part, part.replace(/\p{N}/gu, '')]).flatMap(looksOf);
		return isNew && !labels.some((look) => taken.has(bare(look)));
	});
}

/** What a text looks like or is read as: equal for texts that people confuse in one of these ways. */
function looksOf(text: string): readonly string[] {
	const upper = text.normalize('NFKC').toUpperCase();
	// A mark that is a part of no letter is easily overlooked.
	const unmarked = text.normalize('NFC').replace(/\p{Script=Inherited}/gu, '');
	const read = [text, unmarked, upper, upper.toLowerCase()].flatMap((one) => [one, one.replace(/\p{Nd}/gu, digit)]);
	return Array.from(new Set(read), skeleton);
}

/** UTS #39 without case, and what it leaves out: pairs of Latin letters drawn as one, and the two marks in numbers. */
function skeleton(text: string): string {
	const mapped = Array.from(text.normalize('NFKD'), (character) => PROTOTYPES.get(character) ?? character);
	return mapped
		.join('')
		.normalize('NFKD')
		.toLowerCase()
		.replaceAll('w', 'vv')
		.replaceAll('d', 'cl')
		.replaceAll(',', '.');
}

/** The value of a decimal digit of any script. Unicode keeps each ten together, from zero to nine. */
function digit(character: string): string {
	const point = character.codePointAt(0) ?? 0;
	let first = point;
	while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
	return String((point - first) % 10);
}

const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
