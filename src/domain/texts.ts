import { createHash } from 'node:crypto';
import { atOnce, eachIn } from '../kernel/lease-loop.ts';
import { wordList } from './word-list.ts';

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** A longer cluster is no readable character: it is cut between code points. */
const LONGEST_CLUSTER = 200;

/** The last position up to `at` where a cut splits nothing that people see as one character. */
export function boundaryBefore(text: string, at: number): number {
	if (at >= text.length) return text.length;
	if (at <= 0) return 0;
	const before = text.charCodeAt(at - 1);
	const after = text.charCodeAt(at);
	if (before < 0x80 && after < 0x80 && !(before === 13 && after === 10)) return at;
	// The segmenter is slow on long texts.
	const cluster = GRAPHEMES.segment(text.slice(0, at + LONGEST_CLUSTER)).containing(at);
	if (cluster !== undefined && cluster.index > 0 && at - cluster.index <= LONGEST_CLUSTER) return cluster.index;
	if (cluster?.index === 0 && at <= LONGEST_CLUSTER) return 0;
	return after >= 0xdc00 && after <= 0xdfff ? at - 1 : at;
}

/** A part of a text is not shown. `isNote`: a note at its end says so, its writer's own if nothing cut it. */
export type OnCut = (isNote?: boolean) => void;

/** Keeps whether `onCut` was called. `countsNotes`: also for a note. */
export function createCutMark(countsNotes: boolean) {
	const mark = {
		isCut: false,
		onCut(isNote = false) {
			mark.isCut ||= countsNotes || !isNote;
		},
	};
	return mark;
}

export type CutMark = ReturnType<typeof createCutMark>;

/** Cuts to `limit` UTF-16 units, at a boundary; cut text ends with "…". */
export function cutText(text: string, limit: number): string {
	return text.length <= limit ? text : `${text.slice(0, boundaryBefore(text, limit - 1))}…`;
}

/** `… (1,234,567,890 more characters)` fits. */
export const NOTE_LENGTH = 36;
/** As `noteOf` writes it: one for 0 characters is a text's own. */
const NOTE = /… \(([1-9]\d{0,2}(?:,\d{3}){0,3}) more characters?\)$/;

/** The note at the end of a text from which this many characters were cut. */
export function noteOf(characters: number): string {
	return `… (${characters.toLocaleString('en-US')} more ${characters === 1 ? 'character' : 'characters'})`;
}

/** Cuts to `limit` UTF-16 units (more than `NOTE_LENGTH`) at a boundary; a note at the end says how much is missing. */
export function cutWithNote(whole: string, limit: number, onCut?: OnCut): string {
	if (whole.length <= limit) return whole;
	onCut?.();
	const { text, missing } = withoutNote(whole);
	const end = boundaryBefore(text, limit - NOTE_LENGTH);
	return `${text.slice(0, end)}${noteOf(text.length - end + missing)}`;
}

/** A text without its note at the end, and how many characters that stands for: 0 without one. */
export function withoutNote(text: string): { readonly text: string; readonly missing: number } {
	const note = NOTE.exec(text.slice(-NOTE_LENGTH));
	if (note === null) return { text, missing: 0 };
	return { text: text.slice(0, text.length - note[0].length), missing: Number(note[1]?.replaceAll(',', '')) };
}

declare const SENT: unique symbol;
declare const SHOWN: unique symbol;

/** What an agent wrote, as the service sent it, for the PUT. No string for the compiler, so that nothing shows it. */
export interface SentText {
	readonly [SENT]: true;
}

/** What people and rules see of a text from outside: `shown` made it. */
export type ShownText = string & { readonly [SHOWN]: true };

export const asSent = (text: string) => text as unknown as SentText;
/** For the PUT, and for comparing with what we sent. */
export const stringOf = (text: SentText) => text as unknown as string;

/** Marks on one letter are sorted in quadratic time, so a run of more than 30 is broken up (UAX #15). */
const LONG_MARK_RUN = /(\p{M}{30})(?=\p{M})/gu;
export const withBrokenRuns = (text: string) => text.replace(LONG_MARK_RUN, '$1\u034f');

/** The index after so many code points; the length of a text that has no more. */
function indexAfter(text: string, codePoints: number): number {
	if (text.length <= codePoints) return text.length;
	let at = 0;
	for (let count = 0; count < codePoints && at < text.length; count++)
		at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
	return at;
}

/** At most `most` code points of a text; its end says how many UTF-16 units are left out. */
export function shown(text: string, most: number): { readonly text: ShownText; readonly isCut: boolean } {
	const broken = indexAfter(text, most) < text.length ? null : withBrokenRuns(text);
	if (broken !== null && indexAfter(broken, most) === broken.length) return { text: broken as ShownText, isCut: false };
	// With 30 marks goes one character that breaks their run.
	const room = Math.floor(((most - NOTE_LENGTH) * 30) / 31);
	const start = text.slice(0, boundaryBefore(text, indexAfter(text, room)));
	// Copied: a part of a string keeps the whole in memory.
	const kept = Buffer.from(withBrokenRuns(start), 'utf16le').toString('utf16le');
	return { text: `${kept}${noteOf(text.length - start.length)}` as ShownText, isCut: true };
}

/** Whether a stored text is the one sent: a service may trim it and rewrite its line ends. */
export function sameText(stored: string, sent: string): boolean {
	// Composing makes a text up to four times shorter, other line ends up to twice as long.
	return stored === sent || (stored.trim().length <= 8 * sent.length && comparable(stored) === comparable(sent));
}

const comparable = (text: string) => withBrokenRuns(text.replaceAll('\r\n', '\n').trim()).normalize();

/** The option that a text is, whatever keyboards and emphasis make of it; else the text. */
export function optionOr(text: string, options: readonly string[]): string {
	const read = asRead(text);
	const [named, another] = options.filter((option) => asRead(option) === read);
	return named === undefined || another !== undefined ? text : named;
}

/** Without letter case, marks around it and what nobody sees, with the dashes and quotation marks of keyboards. */
function asRead(text: string): string {
	const visible = withBrokenRuns(text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')).normalize();
	const typed = visible
		.replace(/[‘’]/g, "'")
		.replace(/[“”„]/g, '"')
		.replace(/\p{Pd}/gu, '-')
		.replace(/\s+/g, ' ')
		.trim();
	return typed.replace(/^([*_~`"']{1,3})(.+)\1$/u, '$2').toLowerCase();
}

/* Hashes of whole texts. They are made once, where a session is read, and yield after each part of a long text. */

/** UTF-16 units. Work on so many takes a few milliseconds. */
const PART = 65_536;

/** 128 bits: no accidental collisions, and short enough for a view's private_metadata. */
const HEX_DIGITS = 32;

/**
 * A hash that only equal lists share: the length goes before each text, and UTF-16 is hashed because UTF-8 merges lone
 * surrogates. Not for values that may be secret: the hash of a four-digit code can be guessed.
 */
export function* hashOfTexts(texts: Iterable<string>): Generator<void, string> {
	const hash = createHash('sha256');
	for (const text of texts) {
		hash.update(`${text.length}:`);
		yield;
		for (let from = 0; from < text.length; from += PART) {
			hash.update(text.slice(from, from + PART), 'utf16le');
			yield;
		}
	}
	return hash.digest('hex').slice(0, HEX_DIGITS);
}

type Texts = Readonly<Record<'title' | 'description', string>>;

/** Identifies a question: a hash of its items' titles and descriptions in order. */
export function fingerprintOf(items: readonly Texts[]): Generator<void, string> {
	return hashOfTexts(items.flatMap(({ title, description }) => [title, description]));
}

/** A hash of all that an asking message shows but what changes by itself: white space, composition, link signatures. */
export function* shownHashOf(content: string, items: readonly Texts[]): Generator<void, string> {
	const texts = [content, ...items.flatMap(({ title, description }) => [title, description])];
	return yield* hashOfTexts(yield* eachIn(texts, lasting));
}

/** Never joins what stands before it: no mark, Hangul vowel or final, vowel sign of Kirat Rai, or half a character. */
const APART = /[^\p{M}\u1160-\u11ff\udc00-\udfff\u{16d63}-\u{16d6a}]/u;

/** One space for white space, NFC, and no signatures of links. */
function* lasting(whole: string): Generator<void, string> {
	const text = yield* unsigned(whole);
	const parts: string[] = [];
	for (let from = 0; from < text.length; ) {
		const to = apartBefore(text, from, Math.min(text.length, from + PART));
		// With a text instead of the function, V8 builds a chain of strings: ten times as much memory and time.
		parts.push(
			withBrokenRuns(text.slice(from, to))
				.normalize('NFC')
				.replace(/\s{2,}|[^\S ]/g, () => ' '),
		);
		from = to;
		yield;
	}
	const joined = parts.map((part, at) => (parts[at - 1]?.endsWith(' ') && part.startsWith(' ') ? part.slice(1) : part));
	return joined.join('').trim();
}

/** The last place up to `to` where the text can be divided: `to` only in a run of as many marks or vowel signs. */
function apartBefore(text: string, from: number, to: number): number {
	if (to === text.length) return to;
	for (let at = to; at > from; at--) {
		if (APART.test(String.fromCodePoint(text.codePointAt(at) ?? 0))) return at;
	}
	return to;
}

/** What ends a URL: the next character of prose, Markdown or Slack's markup. */
const URL_END = /[\s<>"'`|\\^{}[\]()]/g;

/** Parameters that sign a URL in S3 and compatible services, Google, CloudFront and Azure. */
const SIGNATURE =
	/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;
const LONGEST_SIGNATURE = 22;

/** In a signed URL: what the signing adds, and tokens and keys. Other parameters can hold words people must see. */
const SIGNS = [
	'X-[^=]*|AWSAccessKeyId|GoogleAccessId|Signature|Expires|Policy|Key-Pair-Id|Hash-Algorithm|sig|s[eiprstv]|spr|sip',
	'srt|sk(?:oid|tid|[estv])|(?:[a-z]+[_-]?)?token|api[_-]?key|secret|password',
];
const OF_SIGNING = new RegExp(`^(?:${SIGNS.join('|')})=`, 'i');

/** Removes signatures of links, which give access for days: `…/report.pdf?page=2&X-Amz-…`. */
export const withoutSignedLinks = (text: string) => atOnce(unsigned(text));

/** URLs are searched without a pattern, which takes 20 times as long in a long text. */
function* unsigned(text: string): Generator<void, string> {
	if (!text.includes('?')) return text;
	const parts: string[] = [];
	let from = 0;
	for (let colon = text.indexOf('://'); colon !== -1; colon = text.indexOf('://', Math.max(from, colon + 3))) {
		yield;
		const scheme = /https?$/i.exec(text.slice(Math.max(from, colon - 5), colon))?.[0];
		if (scheme === undefined) continue;
		URL_END.lastIndex = colon + 3;
		const end = URL_END.exec(text)?.index ?? text.length;
		if (end === colon + 3) continue;
		const start = colon - scheme.length;
		parts.push(text.slice(from, start), yield* withoutSignature(text.slice(start, end)));
		from = end;
	}
	return [...parts, text.slice(from)].join('');
}

function* withoutSignature(url: string): Generator<void, string> {
	let isSigned = false;
	for (let from = 0; from < url.length && !isSigned; from += PART) {
		isSigned = SIGNATURE.test(url.slice(from, from + PART + LONGEST_SIGNATURE));
		yield;
	}
	if (!isSigned) return url;
	const parts: string[] = [];
	let open = '';
	for (let from = 0; from < url.length; ) {
		// Up to the next parameter.
		const length = url.slice(from + PART).search(/[?&;#]/);
		const to = length === -1 ? url.length : from + PART + length;
		const replaced = url.slice(from, to).replace(/(?<=[?&;#])[^?&;#]+/g, (one) => (OF_SIGNING.test(one) ? '…' : one));
		const part = (open + replaced).replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
		// What the next part may go on with.
		open = /…(?:&(?:a(?:m(?:p;?)?)?)?|;)?$/.exec(part)?.[0] ?? '';
		parts.push(part.slice(0, part.length - open.length));
		from = to;
		yield;
	}
	return [...parts, open].join('');
}

/** Titles that say nothing of what is asked for. */
const GENERIC_TITLES = new Set(['', ...wordList('generic-titles').map(matchingText)]);

/**
 * A text as the rules match it: lower case, without accents, invisible characters and emphasis, one space between
 * words, also of `camelCase`, `snake_case` and `kebab-case`. Line ends stay.
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

/** Whether a title, as `matchingText`, says nothing of what is asked for: "Your answer:". */
export const isGeneric = (title: string) => GENERIC_TITLES.has(withoutFinalMarks(title));

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
