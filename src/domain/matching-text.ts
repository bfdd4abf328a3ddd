import { wordList } from './word-list.ts';

/** Titles that do not say what is asked for. */
const GENERIC_TITLES = new Set(['', ...wordList('generic-titles').map(matchingText)]);

/**
 * The form of a text in which rules match it: lower case, without accents, invisible characters and emphasis, with one
 * space between words. `camelCase`, `snake_case` and `kebab-case` are divided into words. Line ends stay.
 */
export function matchingText(text: string): string {
	return plainWords(asWords(plainCharacters(text)));
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

/** Whether a title in the form of `matchingText` does not say what is asked for: "Your answer:". */
export const isGeneric = (title: string) => GENERIC_TITLES.has(withoutFinalMarks(title));

/** A text without the question marks, colons and the like at its end. */
export function withoutFinalMarks(text: string): string {
	let end = text.length;
	while (end > 0 && ' ?!:.,;\n'.includes(text.charAt(end - 1))) end -= 1;
	return text.slice(0, end);
}

/** A pattern for `matchingText` that matches `source` as whole words, in any script. `source` must take linear time. */
export function words(source: string): RegExp {
	const unmarked = source.normalize('NFKD').replace(/\p{M}/gu, '');
	return new RegExp(`(?<![\\p{L}\\p{N}])(?:${unmarked})(?![\\p{L}\\p{N}])`, 'u');
}
