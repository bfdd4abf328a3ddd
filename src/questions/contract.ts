import { ends, isWhole, LANGUAGES, listKeys, says, splitAtOr } from './asking-words.ts';
import { wordList } from './word-list.ts';

/*
 * The contract of docs/asking.md: what an agent writes so that Handraise knows certainly what it asks for. Pure, and for one
 * item alone: `options.ts` has the guesses.
 */

/** What a person can choose from. */
export interface Listed {
	/** Two to 99 different texts exactly as the agent gives them, in its order. */
	readonly options: readonly string[];
	/** Boxes, or `(several)`: more than one of them may be the answer. */
	readonly isSeveral: boolean;
	/** The lines of the text that hold them: from, and the one behind. */
	readonly from: number;
	readonly to: number;
}

/** Why something that looks like a list is none: words for the authors of agents. */
export interface Unclear {
	readonly unclear: string;
}

const MARKS = ['secret', 'number', 'date', 'email', 'url', 'lines', 'optional'] as const;
export type Mark = (typeof MARKS)[number];
const isMark = (text: string): text is Mark => MARKS.some((mark) => mark === text);

/** The marks at the end of a title, "Order number (number) (optional)", and the title without them. */
export function markedTitle(title: string): { readonly name: string; readonly marks: ReadonlySet<Mark> } {
	const marks = new Set<Mark>();
	for (let name = title.trimEnd(); ; ) {
		const [whole, text = ''] = /[(（]([a-z]{3,8})[)）]$/i.exec(name.slice(-10)) ?? [];
		const mark = text.toLowerCase();
		if (whole === undefined || !isMark(mark)) return { name: marks.size === 0 ? title : name, marks };
		marks.add(mark);
		name = name.slice(0, -whole.length).trimEnd();
	}
}

/** A line of an item: what stands inside a fence, quotes and tables is never contract, nor an option. */
export interface Line {
	readonly text: string;
	readonly isPlain: boolean;
	/** The entry of a list. `kind`: equal for marks of one kind. */
	readonly entry: { readonly kind: string; readonly indent: string; readonly body: string } | null;
}

const FENCE = /^\s*(?:```|~~~)/;
const QUOTE_OR_TABLE = /^\s*[>|]/;
const ENTRY =
	/^(\s*)(?:([-–—*+•]\s+\[[ xX]?\]|[☐☑□])\s*|((?:[-–—*+•▪◦●○■►▸➤]|\p{Extended_Pictographic}\uFE0F?)(?=\s)|・)\s*|(\(?\d{1,3}[.)．）])\s*|(\(?\p{L}[.)）])\s+)(\S.*)$/u;

export function linesOf(text: string): readonly Line[] {
	let isFenced = false;
	return text.split(/\r?\n/).map((line) => {
		const isFence = FENCE.test(line);
		if (isFence) isFenced = !isFenced;
		const isPlain = !isFenced && !isFence && !QUOTE_OR_TABLE.test(line);
		const [, indent = '', box, bullet, number, letter, body] = (isPlain && ENTRY.exec(line)) || [];
		if (body === undefined) return { text: line, isPlain, entry: null };
		const sign = number?.replace(/\d+/, '1') ?? letter?.replace(/\p{L}/u, 'a') ?? bullet ?? '';
		return {
			text: line,
			isPlain,
			entry: { kind: box === undefined ? sign : BOX, indent, body: withoutEmphasis(body) },
		};
	});
}

const BOX = 'box';

/** Marks around all of an entry are not a part of it. */
const withoutEmphasis = (entry: string) => entry.trimEnd().replace(/^(\*\*|__|`)((?:(?!\1).)+)\1$/, '$2');

export type Run = Pick<Listed, 'from' | 'to'>;

/** The list that begins at a line: entries of one kind, at one indent. `isLoose`: also with empty lines between them. */
export function listAt(lines: readonly Line[], from: number, isLoose = false): Listed | Unclear {
	const first = lines[from]?.entry;
	if (first == null) return { unclear: 'no entry of a list stands behind the words for it' };
	const options: string[] = [];
	let to = from;
	for (let at = from; at < lines.length; at++) {
		const { entry, text = '' } = lines[at] ?? {};
		if (entry == null) {
			if (text.trim() === '' && isLoose) continue;
			if (text.trim() !== '' && indentOf(text) > first.indent.length)
				return { unclear: 'a line of the list is indented' };
			break;
		}
		if (entry.indent !== first.indent) return { unclear: 'the list has lines at two depths' };
		if (entry.kind !== first.kind) return { unclear: 'the list has two kinds of marks' };
		options.push(entry.body);
		to = at + 1;
	}
	if (first.kind === '1.' && options.every(isMonth)) return { unclear: 'the numbers are a part of the entries' };
	return checked({ options, isSeveral: first.kind === BOX, from, to });
}

/** The names of months, as they stand behind a day: "1. Mai". */
const MONTHS = new Set(
	LANGUAGES.flatMap((language) => {
		const format = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long' });
		return Array.from({ length: 12 }, (_, month) => format.formatToParts(new Date(2026, month, 1)));
	}).flatMap((parts) => parts.flatMap(({ type, value }) => (type === 'month' ? [value.toLowerCase()] : []))),
);
const isMonth = (option: string) => MONTHS.has(option.toLowerCase().replace(/[\s\d].*$/, ''));

const indentOf = (text: string) => text.length - text.trimStart().length;

/** The most options: Slack takes 100, and one is for another text. */
const MOST_OPTIONS = 99;

function checked(listed: Listed): Listed | Unclear {
	const { options } = listed;
	if (options.some((option) => option === '')) return { unclear: 'an entry of the list is empty' };
	if (options.some((option) => /[;；,，]$/.test(option) || ends('or', option)))
		return { unclear: 'an entry ends like a part of a sentence' };
	if (options.length < 2) return { unclear: 'the list has only one entry' };
	if (options.length > MOST_OPTIONS) return { unclear: `the list has more than ${MOST_OPTIONS} entries` };
	if (new Set(options).size < options.length) return { unclear: 'two entries of the list are equal' };
	return listed;
}

/** "Options: A | B", "**One of**: A, B", "Options (several):" */
const KEYED = /^(?:.*[.?!。？！]\s)?\s*(\*\*|__)?([^:：*_|]{2,40}?)(\*\*|__)?\s*[:：](\*\*|__)?(?!\/\/)(.*)$/u;
const SEVERAL = /\s*[(（](?:several|multiple)[)）]\s*$/;
const KEYS = listKeys(wordList('asking/lists'));

/** The words behind the key of a list; null for another line. */
function keyOf({ text, isPlain }: Line): { readonly isSeveral: boolean; readonly inline: string } | null {
	const [, , key, , , inline = ''] = (isPlain && KEYED.exec(text)) || [];
	if (key === undefined) return null;
	const named = key.normalize('NFKC').toLowerCase();
	return KEYS.has(named.replace(SEVERAL, '').trim()) ? { isSeveral: SEVERAL.test(named), inline: inline.trim() } : null;
}

/** The list behind a line such as "Options:". Null: the text has no such line. */
export function keyedList(lines: readonly Line[]): Listed | Unclear | null {
	const keys = lines.flatMap((line, at) => {
		const key = keyOf(line);
		return key === null ? [] : [{ ...key, at }];
	});
	const [key, another] = keys;
	if (key === undefined) return null;
	if (another !== undefined) return { unclear: 'the item has two lists of options' };
	const { at, isSeveral, inline } = key;
	const next = lines.findIndex((line, place) => place > at && line.text.trim() !== '');
	const found = inline === '' ? listAt(lines, next) : inlineList(inline, at);
	return 'unclear' in found ? found : { ...found, from: at, isSeveral: isSeveral || found.isSeveral };
}

function inlineList(text: string, at: number): Listed | Unclear {
	const hasBars = /[|｜]/.test(text);
	const parts = hasBars ? text.split(/[|｜]/) : splitAtCommas(text);
	if (parts === null) return { unclear: 'a bracket or a quotation mark is not closed' };
	const options = parts.map((part) => withoutEmphasis(part.trim()));
	const doubt = hasBars ? null : doubtOfCommas(text, options);
	return doubt === null ? checked({ options, isSeveral: false, from: at, to: at + 1 }) : { unclear: doubt };
}

/** With commas, a line may be a sentence. Agents that know the contract write `|`. */
function doubtOfCommas(text: string, options: readonly string[]): string | null {
	if (/[;；]/.test(text)) return 'the line has a semicolon';
	if (says('or', options.at(-1) ?? '')) return 'the last entry has an "or"';
	if (options.some((option) => /[.?!…。？！।؟]$|[.?!]\s|[。？！]/.test(option))) return 'an entry ends like a sentence';
	if (options.some((option) => says('you', option))) return 'an entry speaks to the reader';
	// "Monday, March 3, Tuesday, March 4", "Washington, DC"
	const kindAt = (start: number) => new Set(options.flatMap((one, at) => (at % 2 === start ? [/\d/.test(one)] : [])));
	const [even, odd] = [kindAt(0), kindAt(1)];
	const arePairs = options.length > 3 && even.size === 1 && odd.size === 1 && even.has(true) !== odd.has(true);
	const isPlace = (option: string, place: number) =>
		/^[A-Z]{2}$/.test(option) && /\p{Ll}/u.test(options[place - 1] ?? '');
	return arePairs || options.some(isPlace) ? 'two entries may be one, with a comma in it' : null;
}

const CLOSING: Readonly<Record<string, string>> = {
	'(': ')',
	'[': ']',
	'{': '}',
	'（': '）',
	'【': '】',
	'「': '」',
	'『': '』',
	'“': '”',
	'„': '“',
	'«': '»',
	'‘': '’',
	'"': '"',
	'`': '`',
};

/** Divides before a space, or at the commas of scripts without one, outside brackets and quotes; null: one is open. */
function splitAtCommas(text: string): readonly string[] | null {
	const parts: string[] = [];
	const open: string[] = [];
	let from = 0;
	for (let at = 0; at < text.length; at++) {
		const sign = text.charAt(at);
		if (sign === open.at(-1)) open.pop();
		else if (CLOSING[sign] !== undefined && !(open.length > 0 && /["`“«]/.test(sign))) open.push(CLOSING[sign] ?? '');
		else if (open.length === 0 && (/[，、]/.test(sign) || (/[,،]/.test(sign) && /\s|^$/.test(text.charAt(at + 1))))) {
			parts.push(text.slice(from, at));
			from = at + 1;
		}
	}
	return open.length > 0 ? null : [...parts, text.slice(from)];
}

/** `{"options": ["A", "B"], "multiple": false}`, alone in a description, from its line on. Null: it is no such object. */
export function jsonList(description: string, from: number): Listed | Unclear | null {
	const text = description.trim();
	if (!text.startsWith('{') || !text.endsWith('}') || !text.includes('"options"')) return null;
	const unclear = { unclear: 'the JSON is not {"options": […], "multiple": …}' };
	try {
		const { options, multiple = false, ...others }: Record<string, unknown> = JSON.parse(text);
		const isPlain = Array.isArray(options) && options.every((option): option is string => typeof option === 'string');
		if (!isPlain || typeof multiple !== 'boolean' || Object.keys(others).length > 0) return unclear;
		return checked({
			options: options.map((option) => option.trim()),
			isSeveral: multiple,
			from,
			to: Number.MAX_SAFE_INTEGER,
		});
	} catch {
		return unclear;
	}
}

/** At the end of a text, in brackets, as the last line, or behind a comma: "(yes/no)", "Approve or reject?" */
const AT_END = [
	/[(（]([^()（）\n]{3,80})[)）][\s?？.!:]{0,3}$/,
	/(?:^|\n)([^()（）\n]{3,80}?)[?？.!]?$/,
	/[,，] ([^,，\n]{3,30})[?？]$/,
];

/** What "(yes/no)" and other decisions at the end of a text offer, and the text without it. */
export function decisionsAtEnd(text: string): { readonly options: readonly string[]; readonly others: string } | null {
	const whole = text.trimEnd();
	const tail = whole.slice(-100);
	for (const pattern of AT_END) {
		const match = pattern.exec(tail);
		const options = (match?.[1] ?? '')
			.split(/[/／]/)
			.flatMap(splitAtOr)
			.map((option) => option.trim());
		const areDecisions = options.every((option) => isWhole('decisions', option) || isWhole('yes-no', option));
		const areFew = options.length > 1 && options.length < 4 && new Set(options).size === options.length;
		if (match !== null && areFew && areDecisions) return { options, others: whole.slice(0, -match[0].length) };
	}
	return null;
}

const DRAFT = /^\s*(?:\*\*|__)?draft(?:\*\*|__)?\s*[:：](?:\*\*|__)?(.*)$/i;

/** The text behind "Draft:", to the end or in one fence, and the description without it. */
export function draftIn(description: string): { readonly draft: string; readonly others: string } | null {
	const lines = linesOf(description);
	const at = lines.findIndex(({ text, isPlain }) => isPlain && DRAFT.test(text));
	if (at === -1) return null;
	const [, inline = ''] = DRAFT.exec(lines[at]?.text ?? '') ?? [];
	const texts = lines.map(({ text }) => text);
	const opening = texts.findIndex((text, place) => place > at && text.trim() !== '');
	const closing = texts.findIndex((text, place) => place > opening && FENCE.test(text));
	const isFenced = inline.trim() === '' && FENCE.test(texts[opening] ?? '') && closing !== -1;
	const draft = isFenced
		? texts.slice(opening + 1, closing).join('\n')
		: [inline.trimStart(), ...texts.slice(at + 1)].join('\n').trim();
	const others = [...texts.slice(0, at), ...(isFenced ? texts.slice(closing + 1) : [])].join('\n').trim();
	return draft === '' ? null : { draft, others };
}
