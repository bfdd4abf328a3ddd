import { readFileSync } from 'node:fs';

/**
 * The entries of `words/<name>.txt`, in their order. A file has one entry a line; empty lines and lines that begin with
 * `#` are comments, and `\u{7c0}` is a character. Reads the file at each call, so call it once, when a module is
 * loaded. Throws where there is no such file.
 */
export function wordList(name: string): readonly string[] {
	return readFileSync(new URL(`words/${name}.txt`, import.meta.url), 'utf8')
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '' && !line.startsWith('#'))
		.map((line) =>
			line.replace(/\\u\{([\da-f]{1,6})\}/g, (_, point) => String.fromCodePoint(Number.parseInt(point, 16))),
		);
}

/*
 * Letters of `matchingText` as ranges, because Unicode's classes take 20 times longer to compile. `JOINED`: scripts
 * without spaces between words, or with particles joined to words. Their entries also match inside other words.
 */
const EASTERN = String.raw`\u1100-\u11ff\u3041-\u30ff\u3400-\u9fff\u{20000}-\u{3ffff}`;
const JOINED = String.raw`\u0590-\u06ff\u0900-\u097f\u0e00-\u0e7f${EASTERN}`;
const WESTERN = String.raw`a-z\xdf-\xf6\xf8-\u058f`;
const APART = String.raw`${WESTERN}\u0700-\u08ff\u0980-\u0dff\u0e80-\u10ff\u1200-\u1fff\u2c00-\u2dff\ua000-\ud7ff`;
const IS_JOINED = new RegExp(`[${JOINED}]`, 'u');
/** A letter or mark of `matchingText`, as the source of a pattern. */
const LETTER = `[${APART}${JOINED}]`;

/** The pattern of each sign in an entry. */
const STANDS_FOR: Readonly<Record<string, string>> = {
	'*': `${LETTER}{0,20}`,
	'?': LETTER,
	0: '(?<!\\d)\\d{1,2}(?!\\d)',
	' ': ' ?',
	'~': '[^.!?\\n]{0,30}',
};

/**
 * A global pattern of all entries of these lists, for `matchingText`. In an entry, `*` stands for any letters (before
 * others: up to 20), `~` for up to 30 characters of a sentence, `?` for one letter, `0` for a number of 1 or 2 digits,
 * a space for one or none.
 */
export function phrases(...lists: readonly string[]): RegExp {
	const rows = lists.flatMap(wordList).map((entry) => entry.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase());
	const kindOf = (row: string) => (row.endsWith('*') ? 'begun' : 'whole');
	const { inside = [], apart = [] } = Object.groupBy(rows, (row) => (IS_JOINED.test(row) ? 'inside' : 'apart'));
	const { begun = [], whole = [] } = Object.groupBy(apart, kindOf);
	// Whole entries come first: "duree de vie" before "duree*".
	const words = `${oneOf(whole)}|${oneOf(begun.map((row) => row.slice(0, -1)))}${LETTER}*`;
	return new RegExp(`(?:(?![${JOINED}])(?<![${APART}\\d])(?:${words})(?![${APART}\\d])|${oneOf(inside)})`, 'gu');
}

/**
 * The source of a pattern that matches any of these rows from the character `at` on. It is a trie: rows that begin
 * alike share a branch, because an engine tries alternatives one after the other. No row: matches nothing. `signs`: the
 * patterns of characters.
 */
export function oneOf(rows: readonly string[], signs: Readonly<Record<string, string>> = STANDS_FOR, at = 0): string {
	const sourceOf = (sign: string) => signs[sign] ?? (/[.*+?()|[\]^$\\/{}]/.test(sign) ? `\\${sign}` : sign);
	const [row, another] = rows;
	if (row === undefined) return '(?!)';
	if (another === undefined) return Array.from(row.slice(at), sourceOf).join('');
	const { '': ended, ...groups } = Object.groupBy(rows, (one) => one.charAt(at));
	const ways = Object.entries(groups).map(([sign, group = []]) => sourceOf(sign) + oneOf(group, signs, at + 1));
	// The longest of those that begin alike comes first.
	return ways.length === 1 && ended === undefined
		? ways.join('')
		: `(?:${ways.join('|')})${ended === undefined ? '' : '?'}`;
}
