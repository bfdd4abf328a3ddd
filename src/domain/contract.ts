import { says, saysInside, splitAtOr } from './asking-words.ts';

/*
 * Reads the contract of docs/asking.md: the forms by which an agent says exactly what it asks. Each function reads one
 * form. `options.ts` applies them in order, and adds guesses.
 */

/** A list of options in the lines of a text. */
export interface Listed {
	/** Two to 99 different texts exactly as the agent gives them, in its order. */
	readonly options: readonly string[];
	/** Boxes, or `(several)`: more than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** The index of its first line. */
	readonly from: number;
	/** The index after its last line. */
	readonly to: number;
	/** The text before the list in its first line. */
	readonly lead: string;
	/** The options are divided by commas, so the line may also be a statement. */
	readonly hasCommas?: boolean;
}

/** Why a text that looks like a list of the contract is none, in words for authors of agents. */
interface Unclear {
	readonly unclear: string;
}

export const MARKS = ['secret', 'number', 'date', 'email', 'url', 'lines', 'optional'] as const;
export type Mark = (typeof MARKS)[number];

/** Divides a title such as "Order number (number) (optional)" into its name and the marks at its end. */
export function markedTitle(title: string): { readonly name: string; readonly marks: ReadonlySet<Mark> } {
	const marks = new Set<Mark>();
	for (let name = title.trimEnd(); ; ) {
		const [whole = '', text = ''] = /[(（]([a-z]{3,8})[)）]$/i.exec(name.slice(-10)) ?? [];
		const mark = MARKS.find((one) => one === text.toLowerCase());
		if (mark === undefined) return { name: marks.size === 0 ? title : name, marks };
		marks.add(mark);
		name = name.slice(0, -whole.length).trimEnd();
	}
}

/** A line of an item. `isPlain`: outside fences, quotes and tables. Only plain lines can be contract or options. */
export interface Line {
	readonly text: string;
	readonly isPlain: boolean;
	/** Null: the line is no entry of a list. `kind`: equal for marks of one kind, such as "1." and "2.". */
	readonly entry: {
		readonly mark: string;
		readonly kind: string;
		readonly indent: number;
		readonly body: string;
	} | null;
}

const FENCE = /^\s*(`{3,}|~{3,})/;
const BOX = /^(?:[-–—*+•]\s+\[[ xX]?\]|[☐☑□])\s*/;
const BULLET = /^(?:[-–—*+•▪●○■►]|\p{Extended_Pictographic}\uFE0F?)(?=\s)|^・/u;
const NUMBER = /^\(?\d{1,3}[.)．）](?!\d)/;
const LETTER = /^(?:\(?\p{L}\)|\p{Lu}\.(?=\s))/u;

/** Whether a line closes a fence. A shorter fence, one of another kind, or one with words behind it does not. */
const closes = (line: string, fence: string) => line.trim().startsWith(fence) && /^([`~])\1*$/.test(line.trim());

export function linesOf(text: string): readonly Line[] {
	let open = '';
	return text.split(/\r?\n/).map((line) => {
		const [, fence = ''] = FENCE.exec(line) ?? [];
		const wasOpen = open !== '';
		if (!wasOpen) open = fence;
		else if (closes(line, open)) open = '';
		const isPlain = !wasOpen && fence === '' && !/^\s*[>|]/.test(line);
		return { text: line, isPlain, entry: isPlain ? entryOf(line) : null };
	});
}

function entryOf(line: string): Line['entry'] {
	const text = line.trimStart();
	const [mark] = [BOX, BULLET, NUMBER, LETTER].flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
	const body = mark === undefined ? '' : withoutEmphasis(text.slice(mark.length).trim());
	if (mark === undefined || body === '') return null;
	const kind = BOX.test(text) ? 'box' : mark.replace(/\d+/, '1').replace(/\p{L}/u, 'a');
	return { mark, kind, indent: line.length - text.length, body };
}

/** An entry without emphasis around all of it. Underscores stay, because `__init__` is a name. */
const withoutEmphasis = (entry: string) => entry.replace(/^(\*\*|`)((?:(?!\1).)+)\1$/, '$2');

/** The list whose first entry is in the line `from`. `isLoose`: allows empty lines between entries. */
export function listAt(lines: readonly Line[], from: number, isLoose = false): Listed | Unclear {
	const first = lines[from]?.entry;
	if (first == null) return { unclear: 'no list stands behind the words for it' };
	const options: string[] = [];
	let to = from;
	for (const [at, { entry, text }] of lines.entries()) {
		if (at < from || (isLoose && text.trim() === '')) continue;
		const indent = entry?.indent ?? text.length - text.trimStart().length;
		if (text.trim() === '' || (entry === null && indent <= first.indent)) break;
		if (indent !== first.indent) return { unclear: 'the list has lines at two depths' };
		if (entry?.kind !== first.kind) return { unclear: 'the list has two kinds of marks' };
		// Refuses "1. FC Köln" below "1. FC Union", where the number is part of the entry.
		if (/1|a\./.test(entry.kind) && placeOf(entry.mark) !== placeOf(first.mark) + options.length)
			return { unclear: 'the numbers or letters before the entries are no sequence' };
		options.push(entry.body);
		to = at + 1;
	}
	if (first.kind === '1.' && options.every((option) => MONTH.test(option)))
		return { unclear: 'the numbers may be a part of the entries' };
	return checked({ options, isSeveral: first.kind === 'box', from, to, lead: '' });
}

const placeOf = (mark: string) => Number(/\d+/.exec(mark)?.[0] ?? mark.charCodeAt(0));

/** Only the name of a month: in "1. Mai", the number is a day. */
const MONTH = /^(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\p{L}*$/iu;

/** Slack takes 100 options in a select; one of them offers another text. */
const MOST_OPTIONS = 99;

function checked(listed: Listed): Listed | Unclear {
	const { options } = listed;
	if (options.length > MOST_OPTIONS) return { unclear: `the list has more than ${MOST_OPTIONS} entries` };
	if (options.includes('')) return { unclear: 'an entry is empty' };
	if (options.some((option) => /[;；,，]$/.test(option) || says('or', option.split(' ').at(-1) ?? '', 'whole')))
		return { unclear: 'an entry ends like a part of a sentence' };
	if (options.length < 2) return { unclear: 'the list has only one entry' };
	return new Set(options).size < options.length ? { unclear: 'two entries are equal' } : listed;
}

/** The words before a list, at the start of a line or sentence: "Options:", "**One of**:", "Options (several):". */
const KEY =
	/(^|[.?!。？！]\s)\s{0,9}(?:\*\*|__)?(?!["'“„«`([])([^:：*_|.?!。？！]{2,40}?)(?:\*\*|__)?\s{0,9}[:：](?:\*\*|__)?(?!\/\/)/gu;
const SEVERAL = /\((?:several|multiple)\)\s?$/i;

/** Finds such words in a line, with the text before (`lead`) and after (`inline`) them. */
function keysIn({ text, isPlain, entry }: Line) {
	// An entry such as "- Options: leather, sunroof" states a fact.
	const found = isPlain && entry === null ? Array.from(text.matchAll(KEY)) : [];
	return found.flatMap(({ 0: whole, 1: before = '', 2: key = '', index }) => {
		const named = key.normalize('NFKC');
		const isList = says('lists', named.replace(SEVERAL, '').trim(), 'whole');
		if (!isList || isOpenIn(text.slice(0, index))) return [];
		const inline = text.slice(index + whole.length).trim();
		return [
			{
				lead: text.slice(0, index + before.length).trim(),
				inline,
				isSeveral: SEVERAL.test(named),
			},
		];
	});
}

/** Whether a quotation or code is open at the end of a text. */
const isOpenIn = (text: string) => ['"', '`'].some((sign) => text.split(sign).length % 2 === 0);

/** The list after words such as "Options:"; null: the text has no such words. */
export function keyedList(lines: readonly Line[]): Listed | Unclear | null {
	const keys = lines.flatMap((line, at) => keysIn(line).map((key) => ({ ...key, at })));
	const [key, another] = keys;
	if (key === undefined) return null;
	if (another !== undefined) return { unclear: TWO_LISTS };
	const { at, lead, inline, isSeveral } = key;
	const next = lines.findIndex((line, place) => place > at && line.text.trim() !== '');
	// "A | B", and "| C" in the next line.
	if (inline.includes('|') && lines[at + 1]?.entry === null && lines[at + 1]?.text.includes('|'))
		return { unclear: 'the options go on in the next line' };
	const found = inline === '' ? listAt(lines, next) : inlineList(inline, at);
	if ('unclear' in found) return found;
	return { ...found, from: at, lead, isSeveral: isSeveral || found.isSeveral };
}

export const TWO_LISTS = 'the item has two lists of options';

function inlineList(text: string, from: number): Listed | Unclear {
	const hasBars = /[|｜]/.test(text);
	const parts = hasBars ? text.split(/[|｜]/) : splitAtCommas(text);
	if (parts === null) return { unclear: 'a bracket or a quotation mark is not closed' };
	const options = parts.map((part) => withoutEmphasis(part.trim()));
	// The bar may stand in code: "`ps | grep x`".
	if (hasBars && parts.some(isOpenIn)) return { unclear: 'a bracket or a quotation mark is not closed' };
	const unclear = hasBars || options.length > MOST_OPTIONS ? null : doubtOf(options);
	return unclear === null
		? checked({ options, isSeveral: false, from, to: from + 1, lead: '', hasCommas: !hasBars })
		: { unclear };
}

/** Why options divided by commas may be a sentence instead; null: they are a list. The contract's separator is `|`. */
function doubtOf(options: readonly string[]): string | null {
	const has = (pattern: RegExp) => options.some((option) => pattern.test(option));
	if (has(/[;；]/)) return 'the line has a semicolon';
	const last = options.at(-1) ?? '';
	// "A, B, or C"
	const [first = '', ...rest] = last.split(/\s+/);
	const isLed = rest.length > 0 && (says('or', first, 'whole') || says('and', first, 'whole'));
	if (isLed || splitAtOr(last).length > 1 || saysInside('or', last)) return 'the last entry has an "or"';
	if (last.split(/\s+/).some((word, at) => at > 0 && says('and', word, 'whole'))) return 'the last entry has an "and"';
	if (has(/[.?!…؟।]$|[.?!]\s|[。？！]/)) return 'an entry ends like a sentence';
	if (options.some((option) => says('you', option))) return 'an entry speaks to the reader';
	// "Monday, March 3, Tuesday, March 4"
	const areInTurn = options.length > 3 && options.every((option, at) => /\p{N}/u.test(option) === (at % 2 === 1));
	const isState = (option: string, at: number) => /^[A-Z]{2}$/.test(option) && /\p{Ll}/u.test(options[at - 1] ?? '');
	return areInTurn || options.some(isState) ? 'two entries may be one with a comma' : null;
}

const OPENING = '([{（【「『“„«‘"`';
const CLOSING = ')]}）】」』”“»’"`';

/**
 * Divides a text at commas outside brackets and quotes. A comma counts before a space, or anywhere in scripts without
 * spaces. Null: a bracket or quote is open.
 */
function splitAtCommas(text: string): readonly string[] | null {
	const parts: string[] = [];
	const closing: string[] = [];
	let from = 0;
	for (const { 0: sign, index } of text.matchAll(/[^\p{L}\p{N}\s]/gu)) {
		const opened = CLOSING.charAt(OPENING.indexOf(sign));
		if (sign === closing.at(-1)) closing.pop();
		else if (OPENING.includes(sign) && !/["`“”»]/.test(closing.at(-1) ?? '')) closing.push(opened);
		else if (closing.length === 0 && /^(?:[,،](?!\S)|[，、])/.test(text.slice(index, index + 2))) {
			parts.push(text.slice(from, index));
			from = index + 1;
		}
	}
	return closing.length > 0 ? null : [...parts, text.slice(from)];
}

/** The list of `{"options": ["A", "B"], "multiple": false}` alone in a description; null: there is no such object. */
export function jsonList(description: string, from: number): Listed | Unclear | null {
	const text = description.trim();
	if (!text.startsWith('{') || !text.endsWith('}') || !text.includes('"options"')) return null;
	const unclear = { unclear: 'the JSON is not {"options": ["…", "…"], "multiple": false}' };
	try {
		const { options, multiple = false, ...others }: Record<string, unknown> = JSON.parse(text);
		const isPlain = Array.isArray(options) && options.every((option): option is string => typeof option === 'string');
		if (!isPlain || typeof multiple !== 'boolean' || Object.keys(others).length > 0) return unclear;
		return checked({ options, isSeveral: multiple, from, to: Number.MAX_SAFE_INTEGER, lead: '' });
	} catch {
		return unclear;
	}
}

/** Places for decisions at the end of a text: in brackets, as the last line, or after a comma. */
const AT_END = [
	/[([（]([^()[\]（）\n]{3,80})[)\]）][\s?？.!:]{0,3}$/,
	/(?:^|\n)([^()（）\n]{3,80}?)[?？.!]?$/,
	/[,，:：] ([^,，:：\n]{3,30})[?？]$/,
];

export const isDecision = (text: string) => says('decisions', text, 'whole') || says('yes-no', text, 'whole');

/** Two or three decisions at the end of a text, "(yes/no)" or "Approve or reject?", and the text without them. */
export function decisionsAtEnd(text: string) {
	const whole = text.trimEnd();
	for (const [place, pattern] of AT_END.entries()) {
		const [match = '', inside = ''] = pattern.exec(whole.slice(-100)) ?? [];
		const options = inside
			.split(place === 0 ? /[/／]/ : /[/／]|[,，、]\s?/)
			.flatMap(splitAtOr)
			.map((option) => withoutEmphasis(option.trim()));
		const areFew = options.length > 1 && options.length < 4 && new Set(options).size === options.length;
		if (areFew && options.every(isDecision))
			return { options, others: whole.slice(0, -match.length).trimEnd(), isInBrackets: place === 0 };
	}
	return null;
}

const DRAFT = /^\s*(?:\*\*|__)?draft(?:\*\*|__)?\s*[:：](?:\*\*|__)?(.*)$/i;

/** The text after "Draft:", up to the end or in one fence, and the description without it. */
export function draftIn(description: string): { readonly draft: string; readonly others: string } | null {
	const lines = linesOf(description);
	const texts = lines.map(({ text }) => text);
	const at = lines.findIndex(({ text, isPlain }) => isPlain && DRAFT.test(text));
	const [, inline = ''] = DRAFT.exec(texts[at] ?? '') ?? [];
	const opening = texts.findIndex((text, place) => place > at && text.trim() !== '');
	const [, fence = ''] = FENCE.exec(texts[opening] ?? '') ?? [];
	const closing = texts.findIndex((text, place) => place > opening && closes(text, fence));
	const isFenced = inline.trim() === '' && fence !== '' && closing !== -1;
	const draft = isFenced ? texts.slice(opening + 1, closing) : [inline.trimStart(), ...texts.slice(at + 1)];
	if (at === -1 || draft.join('').trim() === '') return null;
	const others = [...texts.slice(0, at), ...(isFenced ? texts.slice(closing + 1) : [])];
	return { draft: isFenced ? draft.join('\n') : draft.join('\n').trim(), others: others.join('\n').trim() };
}
