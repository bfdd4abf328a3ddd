import type { Session } from './session.ts';
import { withBrokenRuns } from './texts.ts';
import { oneOf, wordList } from './word-list.ts';

/** Stands for what is hidden. */
export const MASK = '••••';

type Span = readonly [from: number, to: number];

const ROWS = Map.groupBy(wordList('credential-patterns'), (line) => line.split(':')[0]);
const rowsOf = (name: string) => (ROWS.get(name) ?? []).map((row) => row.slice(name.length + 2));
const sourcesOf = (name: string): string[] =>
	rowsOf(name).map((row) => row.replace(/\{([a-z]+)\}/g, (_, other: string) => sourcesOf(other).join('|')));
const pattern = (name: string, flags = '') => new RegExp(sourcesOf(name).join('|'), flags);

/** Keys are known by how they begin. */
const KEY = `(?<![A-Za-z\\d])(?:${oneOf(wordList('credentials'), {})})((?=[\\w.+/=~-]{0,60}\\d)[\\w.+/=~-]{16,})`;
const FORMS = [...sourcesOf('form').map((source) => new RegExp(source, 'dgiu')), new RegExp(KEY, 'dg')];
const [DIGITS, CARD] = [pattern('digits', 'gu'), pattern('card')];
const [GROUPS, ORDINARY] = [pattern('groups'), pattern('ordinary', 'i')];
const BETWEEN = pattern('between', 'uy');
const [LISTS, PAIRS] = [pattern('list', 'dgiu'), pattern('pair', 'dgu')];
const [MARK, TOLD, JOINT] = [pattern('mark', 'y'), pattern('told', 'y'), pattern('joined', 'y')];
const [QUOTED, UNQUOTED, CODE] = [pattern('quoted', 'dy'), pattern('unquoted', 'dy'), pattern('code', 'duy')];
const [ELSEWHERE, MIXED, RANDOM] = [pattern('elsewhere'), pattern('mixed', 'u'), pattern('random', 'u')];

const NAMES = new Map(
	wordList('credential-names').map((line) => {
		const [, kind = '', inside = '', name = ''] = /^(\w+): (\*?)(.*)/.exec(line) ?? [];
		return [name.replace(/[ _-]/g, ''), { kind, name, isInside: inside !== '' }] as const;
	}),
);
const ALL_NAMES = Array.from(NAMES.values(), ({ name }) => name);
const NAME = new RegExp(oneOf(ALL_NAMES, { ' ': '[ _-]?', '.': '\\.' }), 'g');
const NO_VALUES = new Set(wordList('no-credentials'));

/** Scripts without spaces between words. */
const JOINED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
const WIDE = /[\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;
/** Where they stand again: shorter values are words, and only so many are looked for. */
const LEAST_REPEATED = 6;
const MOST_REPEATED = 100;
/** Of a value without a space; the rest goes with it. */
const MOST_READ = 990;

/** `plain`: without characters that nobody sees. `read`: as long, with ASCII in place of wide letters and digits. */
function readable(text: string) {
	const plain = withBrokenRuns(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')).normalize();
	return { plain, read: plain.replace(WIDE, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0)) };
}

/**
 * An agent's text without what looks like a credential, and how many places of it are hidden. One that has none comes
 * back as it was, with characters that nobody sees. It takes time in proportion to the length. `known`: values that are
 * hidden too; those found are added. Agents write a password again: "Shall I try … once more?"
 */
export function masked(text: string, known = new Set<string>()): { readonly text: string; readonly count: number } {
	if (known.has(text)) return { text: MASK, count: 1 };
	const { plain, read } = readable(text);
	const spans = [...formsIn(read), ...listedIn(read), ...columnsIn(read), ...cardsIn(read), ...namedIn(read)].toSorted(
		([a], [b]) => a - b,
	);
	let [end, count, shown] = [0, 0, ''];
	for (const [from, to] of spans) {
		if (from >= end) shown += plain.slice(end, from) + MASK;
		if (from >= end) count += 1;
		if (to > from && known.size < MOST_REPEATED) known.add(plain.slice(from, to));
		end = Math.max(end, to);
	}
	shown += plain.slice(end);
	// The longest first: another may be part of it.
	for (const value of [...known].toSorted((one, other) => other.length - one.length)) {
		if (value.length < LEAST_REPEATED || !shown.includes(value)) continue;
		shown = shown.replaceAll(value, MASK);
		count += 1;
	}
	return count === 0 ? { text, count } : { text: shown, count };
}

/** Which of these credentials stand in the texts, so that `masked` hides them there. */
export function repeatedIn(texts: readonly string[], known: ReadonlySet<string>): string[] {
	const read = texts.map((text) => ({ text, plain: readable(text).plain }));
	const isIn = (value: string) => (one: (typeof read)[number]) =>
		one.text === value || (value.length >= LEAST_REPEATED && one.plain.includes(value));
	return [...known].filter((value) => read.some(isIn(value)));
}

/** How much of a session is searched for the credentials that it names, in UTF-16 units. */
const MOST_SEARCHED = 300_000;

/** Several screens and questions of one read ask, and a long session takes milliseconds. */
const namedInSessions = new WeakMap<Session, ReadonlySet<string>>();

/** What a session's texts name as a password or the like, the newest first: all screens hide it, whatever they show. */
export function credentialsOf(session: Session): Set<string> {
	const known = namedInSessions.get(session) ?? searched(session);
	namedInSessions.set(session, known);
	// A screen adds what it finds itself.
	return new Set(known);
}

function searched({ name, sessionDetails, files, messages }: Session): ReadonlySet<string> {
	const texts = messages.toReversed().flatMap(({ content, actions, humanInput }) => {
		const items = humanInput.flatMap(({ title, description }) => [title, description]);
		return [content, ...items, ...actions.map(({ text }) => text)];
	});
	const known = new Set<string>();
	let room = MOST_SEARCHED;
	for (const text of [name, sessionDetails, ...files.map(({ filename }) => filename), ...texts]) {
		if (room <= 0 || known.size === MOST_REPEATED) break;
		const { plain, read } = readable(text.slice(0, room));
		for (const [from, to] of namedIn(read))
			if (to > from && known.size < MOST_REPEATED) known.add(plain.slice(from, to));
		room -= text.length;
	}
	return known;
}

/** Reads the texts of one screen: masked unless it `shows` all. `hides`: it has hidden something. */
export function createMask(shows = false, known = new Set<string>()) {
	const mask = {
		known,
		hides: false,
		read(text: string): string {
			const found = shows ? { text, count: 0 } : masked(text, known);
			mask.hides ||= found.count > 0;
			return found.text;
		},
		/** Whether others read this text masked. */
		covers: (text: string) => masked(text, known).count > 0,
	};
	return mask;
}

export type Mask = ReturnType<typeof createMask>;

/** Draws a screen; once more if a text of it names other credentials, which then are hidden in all its texts. */
export function drawMasked<Drawn>(known: Set<string>, draw: (mask: Mask) => Drawn): Drawn {
	const count = known.size;
	const first = draw(createMask(false, known));
	return known.size === count ? first : draw(createMask(false, known));
}

/** Sessions as a list names them. */
export const maskedNames = <Named extends { readonly name: string }>(sessions: readonly Named[]): Named[] =>
	sessions.map((one) => ({ ...one, name: masked(one.name).text }));

const formsIn = (text: string): Span[] =>
	// `matchAll` compiles a form anew, which takes longer than to read a name.
	FORMS.filter((form) => text.search(form) !== -1).flatMap((form) =>
		Array.from(text.matchAll(form), ({ indices = [] }) => indices.slice(1).find(Boolean) ?? indices[0] ?? [0, 0]),
	);

/** "Passwords: alice = …, bob: …", also one a line. */
const listedIn = (text: string): Span[] =>
	groupsOf(text, LISTS).flatMap(([start, end]) =>
		groupsOf(text.slice(start, end), PAIRS).map(([from, to]): Span => [start + from, start + to]),
	);

/** Where the first group of each match stands. `pattern` has the flag `d`. */
const groupsOf = (text: string, pattern: RegExp): Span[] =>
	Array.from(text.matchAll(pattern), ({ indices }): Span => indices?.slice(1).find(Boolean) ?? [0, 0]);

/** The cells of a table's columns that a head names: "| user | password |". */
function columnsIn(text: string): Span[] {
	const spans: Span[] = [];
	let columns: readonly number[] | null = null;
	let from = 0;
	for (const line of text.split('\n')) {
		const bounds = [-1, ...Array.from(line.matchAll(/\|/g), ({ index }) => index), line.length];
		const cells = bounds.slice(1).map((to, at): Span => [from + (bounds[at] ?? 0) + 1, from + to]);
		const texts = cells.map((cell) => text.slice(...cell).trim());
		if (cells.length < 3) columns = null;
		else if (columns === null) columns = [...texts.keys()].filter((column) => isSecretName(texts[column] ?? ''));
		else
			for (const column of columns) {
				const cell = texts[column] ?? '';
				const start = (cells[column]?.[0] ?? 0) + text.slice(...(cells[column] ?? [0, 0])).indexOf(cell);
				if (/[\p{L}\d]/u.test(cell) && !NO_VALUES.has(cell.toLowerCase())) spans.push([start, start + cell.length]);
			}
		from += line.length + 1;
	}
	return spans;
}

const isSecretName = (text: string) => NAMES.has(text.toLowerCase().replace(/[ _*`-]/g, ''));

const cardsIn = (text: string): Span[] =>
	Array.from(text.matchAll(DIGITS), ({ index, 0: found }): Span => [index, index + found.length]).filter(
		([from, to]) => {
			const number = text.slice(from, to).replace(/\D/g, '');
			const isPrinted = CARD.test(number) && GROUPS.test(text.slice(from, to));
			return isPrinted && hasCheckDigit(number) && !ORDINARY.test(text.slice(Math.max(0, from - 60), from));
		},
	);

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
		const span = spanAfter(text, read, found.index, found[0]);
		if (span !== null) spans.push(span);
		NAME.lastIndex = span?.[1] ?? found.index + 1;
	}
	return spans;
}

/** Where the value stands that this name names. `read`: the text in lower case. */
function spanAfter(text: string, read: string, index: number, name: string): Span | null {
	const { kind, isInside } = NAMES.get(name.replace(/[ _-]/g, '')) ?? { kind: '', isInside: false };
	const [before, after] = [read.slice(Math.max(0, index - 3), index), read.slice(index + name.length).slice(0, 2)];
	const isJoined = JOINED.test(name);
	// "opinion:" and "arn:aws:…:secret:…" name none.
	const isPart = (!isInside && /\p{L}\p{M}*$/u.test(before)) || before.endsWith(':') || /^\d?\p{L}/u.test(after);
	const end = index + name.length + (!isJoined && /^\d/.test(after) ? 1 : 0);
	const mark = at(MARK, read, end)?.[0];
	const between = mark ?? at(TOLD, read, end)?.[0] ?? (isJoined ? at(JOINT, read, end)?.[0] : undefined);
	if ((isPart && !isJoined) || between === undefined) return null;
	const from = end + between.length;
	if (kind === 'code') return at(CODE, text, from)?.indices?.[0] ?? null;
	const value = valueAt(text, from, kind, mark);
	return value !== null || kind !== 'password' ? value : farValue(text, end, at(BETWEEN, read, end)?.[0].length);
}

/** "The password of the new account is …": with words between, only what is quoted or no word. */
function farValue(text: string, end: number, length: number | undefined): Span | null {
	const value = length === undefined ? null : valueAt(text, end + length, 'password', ' ');
	const isQuoted = value !== null && value[0] > end + (length ?? 0);
	return value !== null && (isQuoted || MIXED.test(text.slice(...value))) ? value : null;
}

/** The value that begins there, behind this mark. */
function valueAt(text: string, from: number, kind: string, mark = '\n'): Span | null {
	const quoted = at(QUOTED, text, from)
		?.indices?.slice(1)
		.find((found) => found !== undefined);
	const run = at(UNQUOTED, text, from)?.[0].replace(/[.,;:!?)\]}*_]{1,4}$/, '') ?? '';
	const [start, end] = quoted ?? [from, from + run.length];
	const value = text.slice(start, end);
	const words = value.toLowerCase().split(/[\s_-]+/);
	const isNoValue = (word: string) => NO_VALUES.has(word.replace(/[.,;:!?'’].*$/, ''));
	if (value === '' || ELSEWHERE.test(value) || words.every(isNoValue)) return null;
	if (quoted === undefined && JOINED.test(value)) return null;
	const isRandom = kind === 'key' && value.length >= 8 && RANDOM.test(value);
	const isMeant = isRandom || /(?:bearer|basic|digest) $/.test(mark);
	const isSentence = quoted === undefined && /\s/.test(value) && words.some(isNoValue);
	const isPassword = kind === 'password' && !isSentence;
	if (!isMeant && !(isPassword && looksMeant(value, text.slice(end, end + 60), mark, quoted !== undefined)))
		return null;
	return [start, quoted === undefined && run.length >= MOST_READ ? end + text.slice(end).search(/\s|$/) : end];
}

/** Whether a password's value is one. A word at the end of its line is; one in a sentence tells something. */
function looksMeant(value: string, rest: string, mark: string, isQuoted: boolean): boolean {
	// On the next line of a form, only what is no word.
	const isNamed = !mark.includes('\n');
	if (/\s/.test(value)) return isNamed || isQuoted;
	if (/^\d+$/.test(value)) return value.length >= 4 && (isNamed || isQuoted) && !/^ ?\p{L}/u.test(rest);
	if (/^\d+[-–+]\d*$/.test(value)) return false;
	if (isQuoted || (isNamed && MIXED.test(value))) return true;
	const isAlone = mark.endsWith('=') || /^[^\S\n]*(?:$|[\n,;.)|/\]}"'“”»`*<])/.test(rest);
	if (isNamed) return isAlone && /^\p{L}[\p{L}-]+$/u.test(value);
	return value.length >= 5 && !value.includes('=') && MIXED.test(value) && !/^[\d.,:%]+\p{L}{0,3}$/u.test(value);
}
