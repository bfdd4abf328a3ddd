import { wordList } from './word-list.ts';

/** Code units in NFKD, in all and for one: it makes up to 18 of a ligature, and at most four of what people write. */
const LONGEST_TEXT = 40_000;
const MOST_OF_ONE = 4;

/** Titles that say nothing of what is asked for. */
const GENERIC_TITLES = new Set(['', ...wordList('generic-titles').map(matchingText)]);

/**
 * A text as the rules match it: lower case, without accents, invisible characters and emphasis, one space between words, also
 * of `camelCase`, `snake_case` and `kebab-case`. Line ends stay.
 */
export function matchingText(text: string): string {
	return plainWords(asWords(plainCharacters(text)));
}

/**
 * `matchingText`, then readings with look-alike characters, digits in words and spaced-out letters as they look. Null for a text
 * that the rules do not read.
 */
export function readingsOf(text: string): readonly string[] | null {
	if (text.normalize('NFKD').length > Math.min(LONGEST_TEXT, MOST_OF_ONE * text.length)) return null;
	const plain = plainCharacters(text);
	const folded = foldConfusables(plain);
	const split = plainWords(asWords(plain));
	// "PaSsWoRd" is one word, "userPassword" two.
	const readings = new Set([folded === plain ? split : plainWords(asWords(folded)), plainWords(folded)]);
	const joined = [...readings].map(joinSpacedOut);
	const read = joined.flatMap((reading) => [withoutLeet(reading, 'i'), withoutLeet(reading, 'l')]);
	return [...new Set([split, ...joined, ...read])];
}

function plainCharacters(text: string): string {
	return text.normalize('NFKD').replace(/[\p{M}\p{Cf}*`#]/gu, '');
}

function asWords(text: string): string {
	return text
		.replace(/(\p{Ll})(?=\p{Lu})|(\p{N})(?=\p{Lu}\p{Ll})/gu, '$& ')
		.replace(/(\p{Lu})(?=\p{Lu}\p{Ll}{2})/gu, '$1 ');
}

function plainWords(text: string): string {
	return text
		.toLowerCase()
		.replace(/[\u2018\u2019\u00b4]/g, "'")
		.replace(/[_\p{Pd}]/gu, ' ')
		.replace(/[^\S\n]+/g, ' ')
		.trim();
}

/** Whether a title, as `matchingText`, says nothing of what is asked for: "Your answer:". */
export function isGeneric(title: string): boolean {
	return GENERIC_TITLES.has(withoutFinalMarks(title));
}

/** Without the question marks, colons and the like at the end. */
export function withoutFinalMarks(text: string): string {
	let end = text.length;
	while (end > 0 && ' ?!:.,;\n'.includes(text.charAt(end - 1))) end -= 1;
	return text.slice(0, end);
}

/** A pattern of whole words for `matchingText`, in any script. `source` must be linear: no nested repetition. */
export function words(source: string): RegExp {
	const unmarked = source.normalize('NFKD').replace(/\p{M}/gu, '');
	return new RegExp(`(?<![\\p{L}\\p{N}])(?:${unmarked})(?![\\p{L}\\p{N}])`, 'u');
}

/** Characters, and the prototypes that they look like (UTS #39). */
export const PROTOTYPES: ReadonlyMap<string, string> = new Map(
	wordList('look-alikes').flatMap((entry) => {
		const [prototype = '', alike = ''] = entry.split(' ');
		return Array.from(alike, (character) => [character, prototype] as const);
	}),
);

/** Latin letters for characters of which Unicode has no prototype, or another letter than people read in a word. */
const READ_AS: ReadonlyMap<string, string> = new Map(
	Array.from('ІΙꓲԚӏյłøđħŧƿ', (character, at) => [character, 'IIIQljlodhtp'.charAt(at)]),
);

/** Signs that people write instead of a letter inside a word. `1` can be an `i` or an `l`. */
const LEET: Readonly<Record<string, string>> = { 0: 'o', 3: 'e', 4: 'a', 5: 's', 7: 't', $: 's', '@': 'a' };

/** Words to find inside a run of spaced-out letters, where no space separates words. */
const INSIDE_A_RUN = /pass(?:word|code|phrase|wort)/g;

/** Words as the Latin words that they look like. Others stay: "где" looks like none, although its "е" does. */
function foldConfusables(text: string): string {
	return text.replace(/[^\s\p{P}]+/gu, (word) => {
		const folded = word.replace(/\P{ASCII}/gu, (one) => READ_AS.get(one) ?? PROTOTYPES.get(one) ?? one);
		return /^\p{ASCII}*$/u.test(folded) ? folded : word;
	});
}

/** Makes words of `p a s s w o r d` and `p.i.n`. `text` is in lower case with one space between words. */
function joinSpacedOut(text: string): string {
	return text.replace(/(?<![\p{L}\p{N}])[\p{L}\p{N}$@](?:[ .][\p{L}\p{N}$@](?![\p{L}\p{N}])){2,}/gu, (run) =>
		run.replace(/[ .]/g, '').replace(INSIDE_A_RUN, ' $& '),
	);
}

function withoutLeet(text: string, letterForOne: 'i' | 'l'): string {
	if (!/[013457$@]/.test(text)) return text;
	return text.replace(/[\p{L}\p{N}$@]+/gu, (word) =>
		/\p{L}/u.test(word)
			? word.replace(/[013457$@]/g, (sign) => (sign === '1' ? letterForOne : (LEET[sign] ?? sign)))
			: word,
	);
}
