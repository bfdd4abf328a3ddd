import { type Build, readable, type Words } from './phrases.ts';

// An agent's list as text. Anything besides entries, separators and marks that a rule here places makes it no list.

/** Code units. Longer ones are paragraphs, not options. */
const MAX_LINE_OPTION_LENGTH = 300;
const MAX_OPTION_LENGTH = 60;
const MAX_OPTION_WORDS = 8;

/** Each opening mark with those that close it. */
const PAIRS = new Map(
	['()', '[]', '{}', '（）', '［］', '「」', '『』', '【】', '""', '“”', '„“”', '«»', '``', "''"].map((pair) => [
		pair.charAt(0),
		pair.slice(1),
	]),
);
const QUOTES = '"“„«`\'「『';
/** Stands for every character inside brackets or quotation marks. */
const INSIDE = '\uE000';
const QUOTED = /^["“„«`'「『]\uE000*$/;
const BRACKETED = /^[([]\uE000+$/;

/** A text with all in brackets or quotation marks, and what closes these, hidden. Null when one has no partner. */
export function masked(text: string): string | null {
	const open: string[] = [];
	let mask = '';
	// The apostrophe of a word is no quotation mark.
	for (const mark of text.replace(/(?<=\p{L})'(?=\p{L})/gu, '’').split('')) {
		const last = open.at(-1) ?? '';
		mask += last === '' ? mark : INSIDE;
		if (PAIRS.get(last)?.includes(mark) === true) open.pop();
		else if (last !== '' && QUOTES.includes(last)) continue;
		else if (PAIRS.has(mark)) open.push(mark);
		else if (')]}）］」』】”»'.includes(mark)) return null;
	}
	return open.length === 0 ? mask : null;
}

interface Part {
	readonly text: string;
	readonly mask: string;
}

/** The parts between the matches of a global pattern, without white space around them. */
function split({ text, mask }: Part, separator: RegExp): readonly Part[] {
	const marks = Array.from(mask.matchAll(separator));
	const bounds = [0, ...marks.flatMap(({ index, 0: mark }) => [index, index + mark.length]), mask.length];
	return Array.from({ length: marks.length + 1 }, (_, at) => {
		const [from, to] = [bounds[2 * at], bounds[2 * at + 1]];
		return { text: text.slice(from, to).trim(), mask: mask.slice(from, to).trim() };
	});
}

/** Null: the text is no list, or not certainly one. */
export type Options = readonly string[] | null;

export interface Form {
	/** "A and B" is a list too. */
	readonly joinsAnd?: boolean;
	/** So is "a/b", which may be a path. */
	readonly isTight?: boolean;
}

/**
 * The two or more entries of a list in one line, which has one kind of separator: "A, B or C", "A / B", "A; B",
 * `["A", "B"]`. Null unless every part of the text is one of them.
 */
export function inlineList(text: string, words: Words, form: Form = {}): Options {
	const list = listAlone(text.trim(), words);
	if (list === null) return null;
	if (BRACKETED.test(list.mask)) return inlineList(list.text.slice(1, -1), words, form);
	const parts = (markedParts(list) ?? partsOf(list, words, form))?.map((part) => part.text) ?? [];
	const numbered = parts.map(entryOf);
	const isNumbered = numbered.every((entry, at) => entry?.ordinal === at);
	return optionsOf(isNumbered ? numbered.map((entry) => entry?.body ?? '') : parts, words);
}

/** "1) A 2) B", "①A ②B", "[A] [B]": each entry has a mark of its own. */
function markedParts(list: Part): readonly Part[] | null {
	if (/^(?:[[「『“]\uE000+\s*){2,}$/.test(list.mask)) {
		const parts = split(list, /(?=[[「『“])/g).slice(1);
		return parts.map(({ text }) => ({ text: text.slice(1, -1), mask: '' }));
	}
	const parts = split(list, /(?<!\S)(?=\(?(?:\d{1,2}|[a-eA-E])\)\s|[A-E]\.\s|(?:\d{1,2}|[A-E])、)|(?=[①-⑳])/g).filter(
		({ text }) => text !== '',
	);
	const areNumbered = parts.every(({ text }, at) => entryOf(text)?.ordinal === at);
	return parts.length > 1 && areNumbered ? parts : null;
}

const lastWord = (text: string) => /(?<![^\s,;/|(])[^\s,;/|(]+$/u.exec(text)?.[0] ?? '';

const JOINED: Build = (entries) => `^(?:${entries('or', 'and')}) `;

/** The list without its final point and the sentences behind it. Null where a point may belong to a word. */
function listAlone(text: string, words: Words): Part | null {
	const mask = masked(text);
	if (mask === null) return null;
	const ends = Array.from(mask.matchAll(/[.?!](?= +["“¿]?\p{Lu})|[。？！।؟](?=.)/gu), ({ index }) => index);
	const end = ends.find((at) => mask.charAt(at) !== '.' || !words.is(lastWord(mask.slice(0, at)), 'short'));
	const behind = readable(end === undefined ? '' : text.slice(end + 1));
	if (words.pattern(JOINED).test(behind)) return null;
	// "On 3. May", "call Capt. Smith", "the Hague. Berlin": what stands behind is no sentence.
	const isSentence = /[。？！।؟]/.test(mask.charAt(end ?? 0)) || behind.split(' ').length > 2;
	const isWord = /(?:[\p{L}.]\d+|\p{L}{4}|\uE000)$/u.test(mask.slice(0, end));
	if (end !== undefined && (!isSentence || (mask.charAt(end) === '.' && !isWord))) return null;
	const bare = text.slice(0, end).replace(/(?<![?!؟。！？।,;:\s])[?!؟。！？।,;:\s]+$/u, '');
	const word = lastWord(bare);
	// "p.m." ends with its own point; "Inc." may, or the sentence does.
	const isOpen = bare.endsWith('.') && !/^(?:\p{L}{1,2}\.){2,}$/u.test(word);
	if (bare.endsWith('..') || (isOpen && words.is(word.slice(0, -1), 'short', 'suffix'))) return null;
	const length = bare.length - Number(isOpen);
	return { text: text.slice(0, length), mask: mask.slice(0, length) };
}

/** A word between two others with the space around it, or a word of a script without spaces. */
const joining =
	(...roles: Parameters<Parameters<Build>[0]>): Build =>
	(entries) => {
		const unspaced = entries(...roles).split('|');
		const inside = unspaced.filter((entry) => /[\p{Script=Han}\p{Script=Hiragana}]/u.test(entry));
		return [`(?<!\\S)(?:${entries(...roles)})(?!\\S)`, ...inside].join('|');
	};
const OR = joining('or', 'or here');
const AND = joining('and');

/** A separator that no sentence has, and the commas. */
const STRONG = [/[;；]/g, /\|/g, / \/ |／/g];
const COMMAS = [/,(?=\s)|[、，]/g, /(?<!\d),(?=\S)|,(?=[^\s\d])/g];

/** The entries, by the only kind of separator. Null without one, or with another that may be one. */
function partsOf(list: Part, words: Words, { joinsAnd = false, isTight = false }: Form): readonly Part[] | null {
	const [or, and] = [words.pattern(OR, 'giu'), words.pattern(AND, 'giu')];
	const lists = (separators: readonly RegExp[]) =>
		separators.map((separator) => split(list, separator)).filter((parts) => parts.length > 1);
	const [strong, commas] = [lists(STRONG), lists(COMMAS)];
	// "A, B, C; choose several", "A, B; A is the default", "--env=dev|prod, --all"
	const isPart = (part: string) => !words.is(part, 'suffix');
	const listedIn = strong.flat().map(({ mask }) => mask.split(/,\s/).filter(isPart).length);
	const isMixed =
		listedIn.some((count) => count > 2) ||
		(listedIn.length === 2 && listedIn[0] !== listedIn[1]) ||
		(commas.length > 0 && /\S[|]\S| \/ /.test(list.mask));
	if (strong.length > 1 || commas.length > 1 || isMixed) return null;
	const [listed] = [...strong, ...commas];
	if (listed === undefined) {
		const either = split(list, or);
		if (either.length > 1) return either;
		const both = joinsAnd ? split(list, and) : [];
		if (both.length === 2) return both;
		const paths = split(list, /\//g);
		// A path has such parts too, but not in capitals or single letters.
		const areShort = paths.every(({ text }) => isTight || /^(?:\p{Lu}\p{L}*|\p{L}|\p{N}{1,2})$/u.test(text));
		return paths.length > 1 && areShort ? paths : null;
	}
	const first = listed.slice(0, -1);
	// "A, B, or C", "A, B or C".
	const either = listed
		.slice(-1)
		.flatMap((last) => split(last, or))
		.filter(({ text }, at) => at > 0 || text !== '');
	if (first.some(({ mask }) => mask.search(or) !== -1) || either.length > (strong.length === 0 ? 2 : 1)) return null;
	const both = strong.length === 0 && either.length === 1 ? either.flatMap((last) => split(last, and)) : [];
	// "A, B and C": the last two may be one, unless "and" is a part of other options, or these two are options, too.
	const isOption = both.every(({ text }) => first.some((part) => part.text === text));
	if (both.length < 2 || isOption || first.some(({ mask }) => mask.search(and) !== -1)) return [...first, ...either];
	return joinsAnd && both.length === 2 ? [...first, ...both] : null;
}

/** The entries without marks of their own, if each can be one option. */
function optionsOf(parts: readonly string[], words: Words): Options {
	const entries = parts.map(plainEntry);
	const are = (pattern: RegExp) => entries.map((entry) => pattern.test(entry));
	if (entries.length < 2 || new Set(entries).size < entries.length || are(/\*\*|`|(?:^|\s)[*_]\S|^$/).includes(true))
		return null;
	const isOption = (entry: string) => {
		const points = Array.from(entry.matchAll(/[.?!] /g), ({ index }) => lastWord(entry.slice(0, index)));
		const isShort = entry.length <= MAX_OPTION_LENGTH && entry.split(' ').length <= MAX_OPTION_WORDS;
		// "one-", "L -", "no. Thanks for your help"
		const isCut = /(?<=\s)[-–]$|(?<=\p{L}{2})-$|\p{L}\. (?:\S+ ){2}\S/u.test(entry);
		return isShort && !isCut && !words.is(entry, 'suffix') && points.every((word) => words.is(word, 'short'));
	};
	const isQuoted = parts.some((part, at) => QUOTES.includes(part.charAt(0)) && part !== entries[at]);
	// "size: S, M" names the list.
	const named = are(/[:：]\s/);
	const isMixed = named.includes(true) && named.includes(false);
	// "3 May, 2026", "5 May, 10:00", "Washington, DC", "9, 10 or 11 am", "Baker, McKenzie & Co."
	const isJoined = entries.some((entry, at) => {
		const before = entries[at - 1] ?? '';
		const isNumber = /^\d+(?:[:.]\d\d)?(?:\s?[ap]\.?m\.?)?$/.test(entry);
		const isOfName = /^\p{Lu}{2}$/u.test(entry) && /\p{Ll}{3}/u.test(before);
		const isOfFirm = /\p{L} & \p{Lu}/u.test(entry) && !entries.some((one) => one.includes(','));
		const hasUnit = /^[\d:.]+$/.test(before) && /^[\d:.]+\s*\p{L}/u.test(entry);
		return before !== '' && ((isNumber && !/^\d/.test(before)) || isOfName || hasUnit || isOfFirm);
	});
	// "Pen, $1, Ink, $2"
	const shapes = entries.map((entry) => (/\d/.test(entry) ? 'number' : String(/^\p{Lu}{2,4}$/u.test(entry))));
	const areTwo = entries.length > 2 && entries.length % 2 === 0 && shapes[0] !== shapes[1];
	const alternates = areTwo && shapes.every((shape, at) => shape === shapes[at % 2]);
	if ((isQuoted && are(/["“”„«»]/).includes(true)) || isMixed || isJoined || alternates) return null;
	// "A, B (default A)": what is in the brackets is about the list.
	const notes = entries.flatMap(
		(entry) => /\S\s*[([（]([^()[\]（）]*)[)\]）]$/.exec(entry)?.[1]?.split(/[^\p{L}\p{N}]+/u) ?? [],
	);
	return entries.every((entry) => isOption(entry) && !notes.includes(entry)) ? entries : null;
}

/** An option without white space, emphasis and quotation marks around all of it. */
function plainEntry(text: string): string {
	const bare = text.trim().replace(/^(\*\*\*|\*\*|\*|___|__|_|`)([^*`]+)\1$/, '$2');
	return QUOTED.test(masked(bare) ?? '') && !/["“”„«»]/.test(bare.slice(1, -1)) ? bare.slice(1, -1).trim() : bare;
}

const quotedAt = (line: string) => Array.from((masked(line) ?? '').matchAll(/["“„«`'「『]\uE000+/g));

/** From the first quoted text of a line to the last one, if there are several. */
export function quotedRun(line: string): readonly string[] {
	const quoted = quotedAt(line);
	const [from, last] = [quoted[0]?.index ?? 0, quoted.at(-1)];
	return quoted.length < 2 || last === undefined ? [] : [line.slice(from, last.index + last[0].length)];
}

/** The quoted texts of a line. */
export function quotedParts(line: string): readonly string[] {
	return quotedAt(line).map(({ index, 0: mark }) => line.slice(index + 1, index + mark.length - 1));
}

export interface Entry {
	readonly body: string;
	/** Equal for the entries of one list. */
	readonly shape: string;
	/** From 0, also of letters; null behind a bullet. */
	readonly ordinal: number | null;
}

/** A box to tick, behind a bullet or alone. */
const BOX = /^\s*(?:[-*+•]\s+)?\[[ xX]?\]\s+(?=\S)/;
const BULLET = /^(\s*)(?:([-*+–—•▪◦‣●○■□·・→▸►➤]|\p{Extended_Pictographic}\uFE0F?)\s+|([•・·▪●])(?=\S))(\S.*)$/u;
/** Behind the number. */
const POINT = String.raw`[)．、]\s*|\.\s+|\s[-–—]\s+|:\s+|\uFE0F?\u20E3\s*|(?<=[①-⑳])\s*`;
const NUMBER = new RegExp(String.raw`^(\s*\(?)(?:\*\*)?(\d{1,3}|[a-zA-Z]|[①-⑳])(?:\*\*(?=\s))?(${POINT})(\S.*)$`, 'u');

/** Whether a line has a box to tick. */
export const hasBox = (line: string) => BOX.test(line);

/** What a line of a list says behind its mark; null for a line without one. */
export function entryOf(line: string): Entry | null {
	if (hasBox(line)) return { body: line.replace(BOX, '').trim(), shape: '[]', ordinal: null };
	const [, boxed] = /^\s*(?:\[([^[\]]+)\]|【([^【】]+)】)$/.exec(line)?.filter((part) => part !== undefined) ?? [];
	if (boxed !== undefined) return { body: boxed.trim(), shape: '【】', ordinal: null };
	const [, indent, mark = '', tight = '', body = ''] = BULLET.exec(line) ?? [];
	if (indent !== undefined) {
		const isPicture = /\p{Extended_Pictographic}/u.test(mark);
		return { body: body.trim(), shape: `${indent}${isPicture ? '☆' : mark}${tight}`, ordinal: null };
	}
	const [, open, number = '', close = '', text = ''] = NUMBER.exec(line) ?? [];
	// "1 – 2 pm", "1: 2", "1. – 3. May"
	const isRange = /^[-–—]/.test(text) || (/^\d/.test(text) && /[-–—:]/.test(close));
	if (open === undefined || isRange) return null;
	const isLetter = /[a-z]/i.test(number);
	return {
		body: text.trim(),
		shape: `${open}${isLetter ? 'a' : '1'}${close.trim()}`,
		ordinal: isLetter ? number.toLowerCase().charCodeAt(0) - 97 : Number(number.normalize('NFKC')) - 1,
	};
}

/** The options of lines that are the entries of one list; null when one is none, or has another list in it. */
export function lineOptions(lines: readonly string[], words: Words): Options {
	const marked = lines.map(entryOf);
	const isNext = (entry: Entry | null, at: number) =>
		entry?.shape === marked[0]?.shape && (entry?.ordinal ?? at) === at;
	const bodies = lines.map((line, at) => marked[at]?.body ?? line);
	// "Green; or", "Red or": the list goes on as a sentence. "1. Mai" is a date.
	const isNone = (body: string) =>
		(/ \S+$/.test(body) && words.is(lastWord(body), 'or', 'and')) || words.is(body, 'month');
	if (!marked.every(isNext) || bodies.some(isNone)) return null;
	// A mark behind each but the last one is the list's.
	const isMarked = bodies.slice(0, -1).every((body) => /[;,]$/.test(body));
	const entries = bodies.map((body) =>
		plainEntry(body.replace(isMarked ? /[;,.]$/ : /[;,]$/, '')).replace(/\*\*([^*]+)\*\*/g, '$1'),
	);
	return entries.every((entry) => entry.length <= MAX_LINE_OPTION_LENGTH && !/^$|[?:？：]$/.test(entry))
		? entries
		: null;
}

/** A name, number or amount, not a word of the sentence around it. */
const isProper = (word: string) => /^[^\p{Ll}]/u.test(word);

/**
 * The options of a sentence without the words before the first: it begins as the others do ("the Visa or the Amex"), or
 * with the first of its names ("Book it with Ibis or Novotel"). Null where nothing shows where it begins. `leads`: some
 * words do stand before it.
 */
export function aligned(options: Options, leads: boolean): Options {
	const [first = [], ...others] = options?.map((option) => option.split(' ')) ?? [];
	const last = others.at(-1);
	if (options === null || last === undefined) return null;
	const [begin = ''] = last;
	const same = first.findLastIndex((word) => word.toLowerCase() === begin.toLowerCase());
	const beginAlike = others.every(([word]) => word === begin);
	const names = others.every((option) => option.every(isProper))
		? first.findLastIndex((word) => !isProper(word)) + 1
		: 0;
	const from = same > 0 && beginAlike ? same : names;
	const longest = Math.max(first.length - from, ...others.slice(0, -1).map((option) => option.length));
	const isClear = from > 0 ? from < first.length && last.length <= longest : !leads && first.length <= last.length;
	return isClear ? [first.slice(from).join(' '), ...options.slice(1)] : null;
}
