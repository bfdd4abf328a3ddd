import { readFileSync } from 'node:fs';

/**
 * The entries of `words/<name>.txt`, in their order. A file has one entry a line; empty lines and lines that begin with `#` are
 * comments, and `\u{7c0}` is a character. Reads the file at each call, so call it once, when a module is loaded. Throws where
 * there is no such file.
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

/** Scripts without spaces between words, or with particles joined to them: their entries match inside words too. */
const JOINED = ['Hani', 'Hira', 'Kana', 'Hang', 'Thai', 'Arab', 'Hebr', 'Deva']
	.map((script) => `\\p{sc=${script}}`)
	.join('');
const IS_JOINED = new RegExp(`[${JOINED}]`, 'u');
const BEFORE = `(?:(?<![\\p{L}\\p{N}])|(?<=[${JOINED}]))`;
const AFTER = `(?:(?![\\p{L}\\p{N}])|(?=[${JOINED}]))`;

const LETTERS = '\\p{L}{0,20}';

/** What signs stand for in an entry. */
const STANDS_FOR: Readonly<Record<string, string>> = {
	'*': LETTERS,
	'?': '\\p{L}',
	0: '(?<!\\p{N})\\d{1,2}(?!\\p{N})',
	' ': ' ?',
};

/**
 * A global pattern of all entries of these lists, for `matchingText`. In an entry, `*` stands for any letters (before others: up
 * to 20), `?` for one, `0` for a number of one or two digits, a space for one or none, `{name}` for any entry of the list `name`
 * beside it.
 */
export function phrases(...lists: readonly string[]): RegExp {
	const rows = lists.flatMap((list) => wordList(list).map((entry) => partsOf(list, entry)));
	const {
		inside = [],
		begun = [],
		whole = [],
	} = Object.groupBy(rows, (row) => {
		if (IS_JOINED.test(row.join(''))) return 'inside';
		return row.at(-1) === LETTERS ? 'begun' : 'whole';
	});
	// Classes of all letters take long to compile, so there is one for all.
	const ways = [oneOf(whole), ...(begun.length === 0 ? [] : [`${oneOf(begun.map((row) => row.slice(0, -1)))}\\p{L}*`])];
	const apart = `${BEFORE}(?:${ways.join('|')})${AFTER}`;
	return new RegExp(`(?:${[apart, ...(inside.length === 0 ? [] : [oneOf(inside)])].join('|')})`, 'gu');
}

/** What an entry is made of, each a source of a pattern. */
function partsOf(list: string, entry: string): readonly string[] {
	const plain = entry.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
	return Array.from(plain.matchAll(/\{([a-z-]+)\}|./gsu), ([sign, name]) => {
		if (name === undefined) return STANDS_FOR[sign] ?? sign.replace(/[.+()|[\]^$\\/{}]/, '\\$&');
		const beside = list.replace(/[^/]*$/, name);
		return oneOf(wordList(beside).map((one) => partsOf(beside, one)));
	});
}

/** One of these rows, from a part on. What begins alike is tried once: an engine tries alternatives one after the other. */
function oneOf(rows: readonly (readonly string[])[], at = 0): string {
	const groups = Map.groupBy(rows, (row) => row[at]);
	const ways = Array.from(groups, ([part, group]) => (part === undefined ? '' : part + oneOf(group, at + 1)));
	// The longest of those that begin alike comes first.
	return ways.length === 1
		? (ways[0] ?? '')
		: `(?:${ways.filter((way) => way !== '').join('|')})${groups.has(undefined) ? '?' : ''}`;
}
