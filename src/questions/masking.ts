import { foldConfusables } from './texts.ts';
import { oneOf, wordList } from './word-list.ts';

/** Stands for what is hidden. */
export const MASK = '••••';

type Span = readonly [from: number, to: number];

const ROWS = Map.groupBy(
	wordList('credential-patterns').map((line) => line.split(/: (.*)/)),
	([name]) => name ?? '',
);
const sourcesOf = (name: string): string[] =>
	(ROWS.get(name) ?? []).map(([, row = '']) => row.replace(/\{([a-z]+)\}/g, (_, other: string) => sourceOf(other)));
const sourceOf = (name: string) => sourcesOf(name).join('|');
const pattern = (name: string, flags: string) => new RegExp(sourceOf(name), flags);

const FORMS = sourcesOf('form').map((source) => new RegExp(source, 'dgiu'));
const DIGITS = pattern('digits', 'gu');
const [CARD, GROUPS, ORDINARY] = [pattern('card', ''), pattern('groups', ''), pattern('ordinary', 'i')];
const [MARK, TOLD, JOINT] = [pattern('mark', 'y'), pattern('told', 'y'), pattern('joined', 'y')];
const [QUOTED, UNQUOTED, CODE] = [pattern('quoted', 'dy'), pattern('unquoted', 'y'), pattern('code', 'duy')];
const [ELSEWHERE, MIXED, PATH] = [pattern('elsewhere', ''), pattern('mixed', 'u'), pattern('path', '')];

/** How keys begin, and the least that follows. */
const LEAST = new Map(wordList('credentials').map((line) => line.split(' ') as [string, string]));
const KEY = new RegExp(`(?<![A-Za-z\\d])(${oneOf([...LEAST.keys()], {})})([\\w.+/=~-]{12,})`, 'g');

const NAMES = new Map(
	wordList('credential-names').map((line) => {
		const [, kind = '', inside = '', name = ''] = /^(\w+): (\*?)(.*)/.exec(line) ?? [];
		return [name.replace(/[ _-]/g, ''), { kind, name, isInside: inside !== '' }] as const;
	}),
);
const NAME = new RegExp(
	oneOf(
		Array.from(NAMES.values(), ({ name }) => name),
		{ ' ': '[ _-]?', '.': '\\.' },
	),
	'g',
);
const NO_VALUES = new Set(wordList('no-credentials'));

/** Scripts without spaces between words. */
const JOINED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
/** With letters that may look like Latin ones, or wide digits. */
const OTHER_SCRIPT = /[\u0250-\u1fff\ua000-\uffff]/;
const WIDE = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;

/** Reads the texts of one screen: masked unless it `shows` all. `hides`: it has hidden something. */
export function createMask(shows = false) {
	const mask = {
		hides: false,
		read(text: string): string {
			const found = shows ? { text, count: 0 } : masked(text);
			mask.hides ||= found.count > 0;
			return found.text;
		},
	};
	return mask;
}

export type Mask = ReturnType<typeof createMask>;

/**
 * An agent's text without what looks like a credential, and how many places of it are hidden. One that has none comes
 * back as it was, with characters that nobody sees. It takes time in proportion to the length.
 */
export function masked(text: string): { readonly text: string; readonly count: number } {
	const plain = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize();
	const narrow = plain.replace(WIDE, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0));
	const folded = OTHER_SCRIPT.test(plain) ? foldConfusables(narrow) : plain;
	const read = folded.length === plain.length ? folded : narrow;
	const spans = [...formsIn(read), ...keysIn(read), ...cardsIn(read), ...namedIn(read)].toSorted(([a], [b]) => a - b);
	const values = new Set<string>();
	let [end, count, shown] = [0, 0, ''];
	for (const [from, to] of spans) {
		if (from >= end) shown += plain.slice(end, from) + MASK;
		if (from >= end) count += 1;
		if (to - from >= LEAST_REPEATED && count <= MOST_REPEATED) values.add(plain.slice(from, to));
		end = Math.max(end, to);
	}
	shown += plain.slice(end);
	// Agents write a password again: "Shall I try … once more?"
	for (const value of values) shown = shown.replaceAll(value, MASK);
	return count === 0 ? { text, count } : { text: shown, count };
}

/** Shorter ones are words, and of a text only so many are looked for again. */
const LEAST_REPEATED = 6;
const MOST_REPEATED = 20;
/** Of a value; what follows without a space goes with it. */
const MOST_READ = 990;

const formsIn = (text: string): Span[] =>
	FORMS.flatMap((form) => Array.from(text.matchAll(form), ({ indices = [] }) => indices[1] ?? indices[0] ?? [0, 0]));

const keysIn = (text: string): Span[] =>
	Array.from(text.matchAll(KEY)).flatMap(({ index, 0: key, 1: beginning = '', 2: rest = '' }) => {
		const isKey = rest.replace(/[.=/]{1,3}$/, '').length >= Number(LEAST.get(beginning)) && /\d/.test(rest);
		return isKey ? [[index + beginning.length, index + key.length] as const] : [];
	});

const cardsIn = (text: string): Span[] =>
	Array.from(text.matchAll(DIGITS)).flatMap(({ index, 0: found }) => {
		const number = found.replace(/\D/g, '');
		const isCard = CARD.test(number) && GROUPS.test(found) && hasCheckDigit(number);
		return isCard && !ORDINARY.test(text.slice(Math.max(0, index - 60), index))
			? [[index, index + found.length] as const]
			: [];
	});

/** By Luhn. */
function hasCheckDigit(number: string): boolean {
	const doubled = (digit: number) => digit * 2 - (digit > 4 ? 9 : 0);
	const digits = Array.from(number, Number).reverse();
	return digits.reduce((sum, digit, place) => sum + (place % 2 === 0 ? digit : doubled(digit)), 0) % 10 === 0;
}

function at(sticky: RegExp, text: string, from: number): RegExpExecArray | null {
	sticky.lastIndex = from;
	return sticky.exec(text);
}

function namedIn(text: string): Span[] {
	const lower = text.toLowerCase();
	const read = lower.length === text.length ? lower : text;
	const spans: Span[] = [];
	NAME.lastIndex = 0;
	for (let found = NAME.exec(read); found !== null; found = NAME.exec(read)) {
		const { kind = '', isInside = false } = NAMES.get(found[0].replace(/[ _-]/g, '')) ?? {};
		const [before, after] = [read.slice(0, found.index).slice(-3), read.slice(NAME.lastIndex).slice(0, 2)];
		const isJoined = JOINED.test(found[0]);
		// "arn:aws:…:secret:…" and "opinion:" name none.
		const isPart = (!isInside && /\p{L}\p{M}*$/u.test(before)) || before.endsWith(':') || /^\d?\p{L}/u.test(after);
		const end = NAME.lastIndex + (!isJoined && /^\d/.test(after) ? 1 : 0);
		const mark = at(MARK, read, end);
		const between = mark ?? at(TOLD, read, end) ?? (isJoined ? at(JOINT, read, end) : null);
		const span =
			(isPart && !isJoined) || between === null ? null : valueIn(text, kind, end + between[0].length, mark?.[0]);
		if (span !== null) spans.push(span);
		NAME.lastIndex = span?.[1] ?? found.index + 1;
	}
	return spans;
}

/** The value that begins there, behind this mark. */
function valueIn(text: string, kind: string, from: number, mark = '\n'): Span | null {
	if (kind === 'code') return at(CODE, text, from)?.indices?.[0] ?? null;
	const quoted = at(QUOTED, text, from)
		?.indices?.slice(1)
		.find((found) => found !== undefined);
	const run = at(UNQUOTED, text, from)?.[0].replace(/[.,;:!?)\]}*_]{1,4}$/, '') ?? '';
	const span: Span = quoted ?? [from, from + run.length];
	const value = text.slice(...span);
	const words = value.toLowerCase().split(/[\s_-]+/);
	const isNoValue = (word: string) => NO_VALUES.has(word.replace(/[.,;:!?'’].*$/, ''));
	const isQuoted = quoted !== undefined;
	if (value === '' || (!isQuoted && JOINED.test(value)) || ELSEWHERE.test(value) || words.every(isNoValue)) return null;
	const rest = text.slice(span[1], span[1] + 60);
	const isMeant = /(?:bearer|basic|digest) $/.test(mark) || (kind === 'key' ? looksRandom(value) : isPassword(value));
	const isLonger = !isQuoted && run.length >= MOST_READ;
	return isMeant ? [span[0], isLonger ? span[1] + text.slice(span[1]).search(/\s|$/) : span[1]] : null;

	function isPassword(one: string): boolean {
		// On the next line of a form, only what is no word.
		const isNamed = !mark.includes('\n');
		if (/\s/.test(one)) return (isNamed || isQuoted) && !words.some(isNoValue);
		if (/^\d+$/.test(one)) return one.length >= 4 && (isNamed || isQuoted) && !/^ ?\p{L}/u.test(rest);
		if (/^\d+[-–+]\d*$/.test(one)) return false;
		if (isQuoted || (isNamed && MIXED.test(one))) return true;
		// A word at the end of its line or clause is meant; one in a sentence tells something.
		const isAlone = mark.endsWith('=') || /^[^\S\n]*(?:$|[\n,;.)|/\]}"'`*<])/.test(rest);
		if (isNamed) return isAlone && /^\p{L}[\p{L}-]+$/u.test(one);
		return one.length >= 5 && !one.includes('=') && MIXED.test(one) && !/^[\d.,:%]+\p{L}{0,3}$/u.test(one);
	}
}

/** Not a word, a name with hyphens, a path or a file. */
function looksRandom(value: string): boolean {
	if (value.length < 8 || PATH.test(value)) return false;
	if (/\p{L}/u.test(value) && /\d/.test(value)) return true;
	return (
		value.length >= 16 && ((/\p{Ll}/u.test(value) && /\p{Lu}/u.test(value)) || /^(?:\p{L}+|\d{20,})$/u.test(value))
	);
}
