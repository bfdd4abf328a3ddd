import { CONFUSABLES } from './confusables.ts';

const PROTOTYPES: ReadonlyMap<string, string> = new Map(
	[...CONFUSABLES.matchAll(/([^ ]+) ([^ ]+)/g)].flatMap(([, prototype = '', alike = '']) =>
		Array.from(alike, (character) => [character, prototype] as const),
	),
);

/** What these labels look like. Numbers, punctuation and white space do not count. */
export function looksOfLabels(labels: readonly string[]): ReadonlySet<string> {
	return new Set(labels.flatMap(looksOf).map(bare));
}

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

/** What a text looks like or is read as: equal for texts that people take for each other in one of these ways. */
function looksOf(text: string): readonly string[] {
	const upper = text.normalize('NFKC').toUpperCase();
	// A mark that is a part of no letter is easily overlooked.
	const unmarked = text.normalize('NFC').replace(/\p{Script=Inherited}/gu, '');
	const read = [text, unmarked, upper, upper.toLowerCase()].flatMap((one) => [one, one.replace(/\p{Nd}/gu, digit)]);
	return Array.from(new Set(read), skeleton);
}

/** UTS #39, ignoring case, and what it leaves out: pairs of Latin letters that are drawn as one, and the two marks in numbers. */
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

/** The value of a decimal digit of any script. Unicode keeps each ten of them together, from zero to nine. */
function digit(character: string): string {
	const point = character.codePointAt(0) ?? 0;
	let first = point;
	while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
	return String((point - first) % 10);
}

function bare(text: string): string {
	return text.replace(/[^\p{L}\p{N}]/gu, '');
}
