import { oneOf, wordList } from './word-list.ts';

export type Span = readonly [from: number, to: number];

const ROWS = Map.groupBy(wordList('credential-patterns'), (line) => line.split(':')[0]);
const rowsOf = (name: string) => (ROWS.get(name) ?? []).map((row) => row.slice(name.length + 2));
const sourcesOf = (name: string): string[] =>
	rowsOf(name).map((row) => row.replace(/\{([a-z]+)\}/g, (_, other: string) => sourcesOf(other).join('|')));

/** The flags of each named pattern in the word list. */
const FLAGS = {
	field: 'y',
	mark: 'y',
	told: 'y',
	verbal: 'y',
	joined: 'y',
	digits: 'gu',
	card: 'iu',
	groups: 'iu',
	ordinary: 'iu',
	wifi: 'iu',
	once: 'iu',
	quoted: 'duy',
	digital: 'uy',
	unquoted: 'duy',
	file: 'u',
	elsewhere: 'u',
	id: 'u',
	plain: 'u',
	mixed: 'u',
	strange: 'u',
	strong: 'u',
	word: 'u',
	long: 'u',
	random: 'u',
	wordy: 'u',
	numbered: 'u',
	near: 'dgu',
	typed: 'iu',
	put: 'iu',
	ended: 'u',
	count: 'iu',
	unit: 'iu',
	user: 'iu',
} as const;
const compiled = ([name, flags]: readonly [string, string]) => [name, new RegExp(sourcesOf(name).join('|'), flags)];
const PATTERN: Readonly<Record<keyof typeof FLAGS, RegExp>> = Object.fromEntries(Object.entries(FLAGS).map(compiled));

/** A key is recognized by its beginning, and has a digit or changes case. */
const BEGINNING = `(?<![A-Za-z\\d])(?:${oneOf(wordList('credentials'), {})})`;
const KEY = `${BEGINNING}((?=[\\w.+/=~-]{0,60}\\d|[a-z]*(?:[A-Z]+[a-z]+){3})[\\w.+/=~-]{16,})`;
const FORMS = [...sourcesOf('form').map((source) => new RegExp(source, 'dgiu')), new RegExp(KEY, 'dg')];
/** A pattern that has to match a whole text. */
const whole = (name: string, flags = 'iu') => new RegExp(`^(?:${sourcesOf(name).join('|')})$`, flags);
const [INTO, NEXT, LISTED, CODE] = [whole('into'), whole('next'), whole('listed'), whole('code', 'u')];

/**
 * The kind of secret that a name stands for; values of each kind look different. `once` counts as a code where the
 * sentence says that it is used once. `wifi` counts as a password near words about Wi-Fi, `pass` only before a mark.
 * `none` merely begins like a name.
 */
type Kind = 'none' | 'password' | 'answer' | 'key' | 'code' | 'once' | 'wifi' | 'pass' | 'login';
/** A name or a value of this kind, from `from` to `to` in the text. */
interface Found {
	readonly kind: Kind;
	readonly from: number;
	readonly to: number;
}

const NAMES = new Map(
	wordList('credential-names').map((line) => {
		const [, kind = '', inside = '', name = ''] = /^(\w+): (\*?)(.*)/.exec(line) ?? [];
		return [name.replace(/[ _-]/g, ''), { kind: kind as Kind, name, isInside: inside !== '' }] as const;
	}),
);
const ALL_NAMES = Array.from(NAMES.values(), ({ name }) => name);
const NAME = new RegExp(oneOf(ALL_NAMES, { ' ': '[ _-]?', '.': '\\.' }), 'g');
/** A one-time code, but no year. */
const DIGITS_ONCE = /^(?!(?:19|20)\d\d$)(?:[A-Z]{1,2}-)?\d(?:[ -]?\d){3,7}$/;
/** Inflected endings of names: "Lösenordet är …". */
const INFLECTED = /^(?:s|e[nt]s?|a|em|u|n|ni?[iı]z|un|s[iı]|[ьяюи]|ем)(?!\p{L})/u;
const NO_VALUES = new Set(wordList('no-credentials'));

/** Scripts without spaces between words. */
const JOINED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]/;
/** The longest value that the patterns read. The rest of a longer one, up to a space, is hidden with it. */
const MOST_READ = 240;
const MOST_COLUMNS = 50;
/** Between a name and a value that stands near it, in UTF-16 units. */
const REACH = 160;

/**
 * A value is hidden when the sum of its looks and its link reaches this. The link says how closely a name belongs to
 * the value. Looks: 1 a word, 2 a quoted word or digits, 3 letters and digits, 4 those in both cases, 5 like no word.
 */
const ENOUGH = 5;
const LINK = { mark: 4, told: 3, typed: 2, sentence: 1, near: 0 } as const;

/** The places of a text that look like credentials. Spans may overlap. The time is linear in the length. */
export function credentialsIn(text: string): Span[] {
	return [...formsIn(text), ...columnsIn(text), ...cardsIn(text), ...namedIn(text)];
}

const formsIn = (text: string): Span[] =>
	// `search` first: `matchAll` compiles the pattern anew, which takes longer than to read a short text.
	FORMS.filter((form) => text.search(form) !== -1).flatMap((form) =>
		Array.from(text.matchAll(form), ({ indices = [] }) => indices.slice(1).find(Boolean) ?? indices[0] ?? [0, 0]),
	);

/** Cells below a table's head such as "| user | password |", also in CSV files. */
function columnsIn(text: string): Span[] {
	const spans: Span[] = [];
	let kinds: readonly (Kind | null)[] = [];
	let divider = /\|/g;
	let from = 0;
	for (const line of text.split('\n')) {
		if (kinds.length === 0) divider = isCsvHead(line) ? /[,;\t]/g : /\|/g;
		const bounds = [-1, ...Array.from(line.matchAll(divider), ({ index }) => index), line.length];
		const cells = bounds.slice(1).map((to, at): Span => [from + (bounds[at] ?? 0) + 1, from + to]);
		if (cells.length < 2 || cells.length > MOST_COLUMNS) kinds = [];
		else if (cells.length !== kinds.length) kinds = cells.map((cell) => kindOf(text.slice(...cell)));
		else spans.push(...cells.flatMap((cell, column) => cellIn(text, cell, kinds[column] ?? null)));
		from += line.length + 1;
	}
	return spans;
}

function cellIn(text: string, [from, to]: Span, kind: Kind | null): Span[] {
	const cell = text.slice(from, to);
	const value = cell.trim().replace(/^(["'`])(.*)\1$/, '$2');
	const start = from + cell.indexOf(value);
	if (kind === null || !/[\p{L}\d]/u.test(value) || isNoValue(value)) return [];
	const looks = looksOf(kind, value, false);
	return looks > 0 && looks + LINK.mark >= ENOUGH ? [[start, start + value.length]] : [];
}

/** A CSV head has names without a space after the divider. */
const isCsvHead = (line: string) => /^[\w".-]+(?:[,;\t][\w".-]+)+$/.test(line);

/** The kind of secret that a column's head ends with: "temp_password"; null: none. */
function kindOf(head: string): Kind | null {
	const read = head.toLowerCase().replace(/^[\s*_`"]+|[\s*_`"]+$/g, '');
	const last = [...read.matchAll(NAME)].at(-1);
	const name = last && last.index + last[0].length === read.length ? nameAt(read, last.index, last[0]) : null;
	return name === null || name.kind === 'login' || read.length > 40 ? null : name.kind;
}

const cardsIn = (text: string): Span[] =>
	Array.from(text.matchAll(PATTERN.digits), ({ index, 0: found }): Span => [index, index + found.length]).filter(
		([from, to]) => {
			const number = text.slice(from, to).replace(/\D/g, '');
			const isPrinted = PATTERN.card.test(number) && PATTERN.groups.test(text.slice(from, to));
			return isPrinted && hasCheckDigit(number) && !PATTERN.ordinary.test(text.slice(Math.max(0, from - 60), from));
		},
	);

/** The Luhn algorithm of card numbers. */
function hasCheckDigit(number: string): boolean {
	const doubled = (digit: number) => digit * 2 - (digit > 4 ? 9 : 0);
	const digits = Array.from(number, Number).reverse();
	return digits.reduce((sum, digit, place) => sum + (place % 2 === 0 ? digit : doubled(digit)), 0) % 10 === 0;
}

/** The values that a text names as a password, a code or a key. A value stands behind its name or near it. */
export function namedIn(text: string): Span[] {
	const lower = text.toLowerCase();
	const read = lower.length === text.length ? lower : text;
	const names: Found[] = [];
	const linked: Found[] = [];
	NAME.lastIndex = 0;
	for (let found = NAME.exec(read); found !== null; found = NAME.exec(read)) {
		const name = nameAt(read, found.index, found[0]);
		const span = name && linkedTo(text, read, name);
		if (name !== null && name.kind !== 'pass') names.push(name);
		if (name && span) linked.push({ kind: name.kind, from: span[0], to: span[1] });
		NAME.lastIndex =
			span?.[1] ?? found.index + (name === null && entryOf(found[0])?.kind !== 'none' ? 1 : found[0].length);
	}
	const near = names.length === 0 ? [] : nearIn(text, names, linked);
	return [...linked, ...near].map(({ from, to }): Span => [from, to]);
}

const entryOf = (name: string) => NAMES.get(name.replace(/[ _-]/g, ''));

/** `read`: the text in lower case. */
function nameAt(read: string, from: number, name: string): Found | null {
	const { kind = 'key', isInside = false } = entryOf(name) ?? {};
	const [before, after] = [read.slice(Math.max(0, from - 3), from), read.slice(from + name.length).slice(0, 5)];
	const isJoined = JOINED.test(name);
	// "opinion:" contains "pin", and "arn:aws:…:secret:…" is an address: neither names a secret.
	const isPart =
		(!isInside && /\p{L}\p{M}*$/u.test(before)) ||
		(before.endsWith(':') && /^[:/]/.test(after)) ||
		(/^\d?\p{L}/u.test(after) && !(name.length > 3 && INFLECTED.test(after)));
	if (isPart && !isJoined) return null;
	const to = from + name.length + (!isJoined ? (/^\d/.exec(after)?.[0] ?? INFLECTED.exec(after)?.[0] ?? '').length : 0);
	if (kind === 'none') return null;
	const around = kind === 'once' || kind === 'wifi' ? read.slice(Math.max(0, from - 80), to + 80) : '';
	if (kind === 'wifi') return PATTERN.wifi.test(around) ? { kind: 'password', from, to } : null;
	if (kind === 'once') return PATTERN.once.test(around) ? { kind: 'code', from, to } : null;
	return { kind, from, to };
}

function at(sticky: RegExp, text: string, from: number): RegExpExecArray | null {
	sticky.lastIndex = from;
	return sticky.exec(text);
}

/** The links between a name and a value behind it, the closest first. */
const LINKS = ['field', 'mark', 'told', 'verbal', 'joined'] as const;

/** The value that this name names, behind a mark, a verb or nothing; null: there is none. */
function linkedTo(text: string, read: string, { kind, from, to }: Found): Span | null {
	if (kind === 'login') return null;
	for (const link of LINKS) {
		if (link === 'joined' && !JOINED.test(read.slice(from, to))) continue;
		const between = at(PATTERN[link], read, to)?.[0];
		if (between === undefined) continue;
		const isMark =
			link === 'field' || (link === 'mark' && !isBar(read, from, between)) || (link === 'told' && isFlag(read, from));
		const span = kind === 'pass' && !isMark ? null : valueAt(text, to + between.length, kind, isMark ? between : null);
		if (span !== null) return span;
	}
	return null;
}

/** "Options: Password | Passkey" has bars between options; "| Password | hunter |" and "Password | hunter" are rows. */
function isBar(read: string, from: number, between: string): boolean {
	if (!between.includes('|')) return false;
	const [before = ''] = /[^\n]*$/.exec(read.slice(Math.max(0, from - REACH), from)) ?? [];
	const [behind = ''] = /^[^\n]*/.exec(read.slice(from, from + REACH)) ?? [];
	const isRow = /^\s*\|/.test(before) || (before.trim() === '' && behind.split('|').length === 2);
	return !isRow;
}

/** `--password x` */
const isFlag = (read: string, from: number) => /(?:^|\s)--?[\w-]*$/.test(read.slice(Math.max(0, from - 30), from));

/** The value that begins at `from`. `mark`: the text between name and value; null: it is no mark. */
function valueAt(text: string, from: number, kind: Kind, mark: string | null): Span | null {
	const quoted = at(PATTERN.quoted, text, from)
		?.indices?.slice(1)
		.find((found) => found !== undefined);
	const digits = kind === 'code' ? at(PATTERN.digital, text, from)?.[0] : undefined;
	const run = digits ?? at(PATTERN.unquoted, text, from)?.[0].replace(/[.,;:!?)\]}*_]{1,4}$/, '') ?? '';
	const [start, end] = quoted ?? [from, from + run.length];
	const value = text.slice(start, end);
	if (!/[\p{L}\d]/u.test(value) || isNoValue(value)) return null;
	if (mark === null && PATTERN.file.test(value)) return null;
	// "PASSWORD=" may be empty: then the next line belongs to another name.
	if (mark?.includes('\n') === true && /^[A-Za-z_.-]+=[^=]/.test(value)) return null;
	if (quoted === undefined && JOINED.test(value)) return null;
	const isMeant = mark !== null && /(?:bearer|basic|digest) $/.test(mark);
	const looks = looksOf(kind, value, quoted !== undefined || (kind === 'key' && mark === '='));
	const isLong = quoted === undefined && run.length >= MOST_READ;
	const isWord =
		looks === 1 &&
		!isLong &&
		!(mark?.endsWith('=') || /^[^\S\n]*(?:$|[\n,;.)|/\]}"'“”»`*<])/.test(text.slice(end, end + 9)));
	const isEnough = !isWord && looks > 0 && looks + (mark === null ? LINK.told : LINK.mark) >= ENOUGH;
	if (!isMeant && !isEnough) return null;
	return [start, isLong ? end + text.slice(end).search(/\s|$/) : end];
}

/** Whether a text is a placeholder or a statement about a value: "none", "in the vault". */
const isNoValue = (value: string) =>
	PATTERN.elsewhere.test(value) ||
	value
		.toLowerCase()
		.split(/[\s_-]+/)
		.every((word) => NO_VALUES.has(word.replace(/(?<![.,;:!?'’)])[.,;:!?'’)]+$/, '')));

/** How much a value looks like a credential of this kind, from 0 (not at all) to 5; see `ENOUGH`. */
function looksOf(kind: Kind, value: string, isQuoted: boolean): number {
	if (kind === 'code' && CODE.test(value)) return DIGITS_ONCE.test(value) ? 4 : 3;
	if (kind === 'code' && (PATTERN.id.test(value) || /\s/.test(value))) return 0;
	if (kind === 'key') return keyLooks(value, isQuoted);
	if (/^\d+$/.test(value)) return Number(value.length >= 4) + Number(value.length >= 6);
	if (PATTERN.plain.test(value)) return 0;
	const isAnswer = kind === 'answer' && /^\p{Lu}/u.test(value);
	if (/\s/.test(value)) return isQuoted ? 2 + Number(isAnswer) : 0;
	const isMixed = PATTERN.mixed.test(value);
	if (PATTERN.strange.test(value)) return 5;
	const isStrong = PATTERN.strong.test(value) || (isMixed && isQuoted && kind !== 'login');
	// A product name is a word and a number, and often stands near "code" or "PIN".
	if (isStrong && !PATTERN.word.test(value)) return kind === 'code' ? 3 : 4;
	if (isMixed) return kind === 'code' ? 1 : 3;
	if (kind === 'code') return 0;
	return isQuoted || isAnswer ? 2 + Number(isQuoted && isAnswer) : 1;
}

function keyLooks(value: string, isQuoted: boolean): number {
	if (value.length < 8) return 0;
	if (PATTERN.long.test(value)) return 4;
	const isRandom = PATTERN.random.test(value) || (isQuoted && PATTERN.wordy.test(value));
	return isRandom ? 3 : Number(PATTERN.numbered.test(value));
}

/** Values that stand near a name, in the order of the text. `linked`: values that are hidden already. */
function nearIn(text: string, names: readonly Found[], linked: readonly Found[]): Found[] {
	const found: Found[] = [];
	let [next, linkedNext] = [0, 0];
	let last: Found | undefined;
	const near = PATTERN.near;
	near.lastIndex = 0;
	for (let one = near.exec(text); one !== null; one = near.exec(text)) {
		const { index, 0: whole, indices } = one;
		const [from, end] = indices?.slice(1).find(Boolean) ?? [index, index + whole.length];
		const value = text.slice(from, end).replace(/[.,;:?)*]{1,4}$|\\[rn]$/, '');
		while ((linked[linkedNext]?.from ?? Number.POSITIVE_INFINITY) < index + whole.length) last = linked[linkedNext++];
		while ((names[next]?.from ?? Number.POSITIVE_INFINITY) < index) next += 1;
		if (last !== undefined && last.to > from) continue;
		// A name itself is no value: "the 'Password' field".
		if ((names[next]?.from ?? Number.POSITIVE_INFINITY) < end) {
			if (from > index) near.lastIndex = from;
			continue;
		}
		const around: Around = { text, value, from: index, to: index + whole.length, isQuoted: from > index };
		const name = names.slice(Math.max(0, next - 3), next + 3).find((one) => isNamed(around, one));
		const kind = name?.kind ?? (last !== undefined && isNext(around, last) ? last.kind : null);
		// A quotation that is no value may contain values.
		if (kind === null && from > index) near.lastIndex = from;
		if (kind === null) continue;
		last = { kind, from, to: from + value.length };
		found.push(last);
	}
	return found;
}

interface Around {
	readonly text: string;
	readonly value: string;
	/** The span of the value with its quotation marks. */
	readonly from: number;
	readonly to: number;
	readonly isQuoted: boolean;
}

/** Whether a name near the value is linked with it closely enough. */
function isNamed(around: Around, name: Found): boolean {
	const between = betweenThem(around, name);
	const looks = looksOf(name.kind, around.value, around.isQuoted);
	if (between === null || looks < 2 || isOtherThan(name.kind, around)) return false;
	return looks + linkOf(around, name, between) >= ENOUGH;
}

/** The text between a name and a value; null: they overlap, or are too far from each other. */
function betweenThem({ text, from, to }: Around, name: Found): string | null {
	const [start, end] = name.to <= from ? [name.to, from] : [to, name.from];
	return start > end || end - start > REACH ? null : text.slice(start, end);
}

/** Whether a value near a name is certainly no secret of this kind. */
const isOtherThan = (kind: Kind, { text, value, from, to }: Around) =>
	(kind !== 'code' && (PATTERN.id.test(value) || PATTERN.file.test(value))) ||
	isNoValue(value) ||
	isCounted(text, from, to, kind);

/** How closely a name is linked with a value near it. */
function linkOf({ text, from, to, isQuoted }: Around, name: Found, between: string): number {
	const isBefore = name.to <= from;
	const line = text.slice(Math.max(0, Math.min(name.from, from) - 40), from);
	const isTyped = PATTERN.typed.test(line.slice(line.lastIndexOf('\n') + 1));
	if (!isBefore && isTyped && INTO.test(between)) return LINK.told;
	if (isBefore && name.kind !== 'key' && LISTED.test(between))
		return name.kind !== 'login' || isTyped ? LINK.typed : LINK.sentence;
	if (!PATTERN.ended.test(between)) return isTyped && name.kind !== 'key' ? LINK.typed : LINK.sentence;
	const isAlone =
		/(?:^|\n)[^\S\n]*$/.test(text.slice(Math.max(0, from - 20), from)) &&
		/^[^\S\n]*(?:\n|$)/.test(text.slice(to, to + 20));
	if (isAlone) return LINK.typed;
	const isPut = PATTERN.put.test(text.slice(Math.max(0, from - 20), from + Number(isQuoted)));
	return isPut ? LINK.sentence : LINK.near;
}

/** Whether a value follows a hidden one in "A or B" or in a list. */
const isNext = ({ text, value, from, to, isQuoted }: Around, { kind, to: end }: Found) =>
	from - end < 60 &&
	NEXT.test(text.slice(end, from)) &&
	looksOf(kind, value, isQuoted) > (kind === 'key' ? 3 : 2) &&
	!isCounted(text, from, to, kind);

/** Whether a value is part of a link, the number of something else, or a user's name. */
const isCounted = (text: string, from: number, to: number, kind: Kind) =>
	/:\/\/\S*$|[/+=]$(?<=[\w+/-]{16}[/+=])/.test(text.slice(Math.max(0, from - 200), from)) ||
	(kind === 'code'
		? PATTERN.count.test(text.slice(Math.max(0, from - 20), from)) || PATTERN.unit.test(text.slice(to, to + 14))
		: PATTERN.user.test(text.slice(Math.max(0, from - 30), from)));
