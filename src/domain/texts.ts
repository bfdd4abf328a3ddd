const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** UTF-16 units. A longer cluster is no readable character, so it is cut between code points. */
const LONGEST_CLUSTER = 200;

/** The last position up to `at` where a cut splits no character that people see. */
export function boundaryBefore(text: string, at: number): number {
	if (at >= text.length) return text.length;
	if (at <= 0) return 0;
	const before = text.charCodeAt(at - 1);
	const after = text.charCodeAt(at);
	if (before < 0x80 && after < 0x80 && !(before === 13 && after === 10)) return at;
	// Only a part of the text, because the segmenter is slow on long texts.
	const cluster = GRAPHEMES.segment(text.slice(0, at + LONGEST_CLUSTER)).containing(at);
	if (cluster !== undefined && cluster.index > 0 && at - cluster.index <= LONGEST_CLUSTER) return cluster.index;
	if (cluster?.index === 0 && at <= LONGEST_CLUSTER) return 0;
	return after >= 0xdc00 && after <= 0xdfff ? at - 1 : at;
}

/** Called when a part of a text is not shown. `isNote`: only a note at the end of the text itself says so. */
export type OnCut = (isNote?: boolean) => void;

/** Remembers whether `onCut` was called. `countsNotes`: calls with `isNote` count too. */
export function createCutCheck(countsNotes: boolean) {
	const check = {
		isCut: false,
		onCut(isNote = false) {
			check.isCut ||= countsNotes || !isNote;
		},
	};
	return check;
}

export type CutCheck = ReturnType<typeof createCutCheck>;

/** Cuts to `limit` UTF-16 units at a boundary. A cut text ends with "…". */
export function cutText(text: string, limit: number): string {
	return text.length <= limit ? text : `${text.slice(0, boundaryBefore(text, limit - 1))}…`;
}

/** UTF-16 units; `… (1,234,567,890 more characters)` fits. */
export const NOTE_LENGTH = 36;
/** A note as `noteOf` writes it. `noteOf` never writes one for 0 characters. */
const NOTE = /… \(([1-9]\d{0,2}(?:,\d{3}){0,3}) more characters?\)$/;

/** The note for the end of a text from which this many characters were cut. */
export function noteOf(characters: number): string {
	return `… (${characters.toLocaleString('en-US')} more ${characters === 1 ? 'character' : 'characters'})`;
}

/** Cuts to `limit` UTF-16 units (more than `NOTE_LENGTH`) at a boundary. A note at the end says how much is missing. */
export function cutWithNote(whole: string, limit: number, onCut?: OnCut): string {
	if (whole.length <= limit) return whole;
	onCut?.();
	const { text, missing } = withoutNote(whole);
	const end = boundaryBefore(text, limit - NOTE_LENGTH);
	return `${text.slice(0, end)}${noteOf(text.length - end + missing)}`;
}

/** Divides a text into the text before its note and the number of that note; `missing` is 0 without a note. */
export function withoutNote(text: string): { readonly text: string; readonly missing: number } {
	const note = NOTE.exec(text.slice(-NOTE_LENGTH));
	if (note === null) return { text, missing: 0 };
	return { text: text.slice(0, text.length - note[0].length), missing: Number(note[1]?.replaceAll(',', '')) };
}

declare const SENT: unique symbol;
declare const SHOWN: unique symbol;

/** An agent's text as the service sent it, for the PUT. For the compiler it is no string, so that nothing shows it. */
export interface SentText {
	readonly [SENT]: true;
}

/** What people and rules see of a text from outside. `toShownText` makes it. */
export type ShownText = string & { readonly [SHOWN]: true };

export const toSentText = (text: string) => text as unknown as SentText;
/** The string of a sent text, only for the PUT and for comparing with what we sent. */
export const stringOf = (text: SentText) => text as unknown as string;

/** V8 sorts the marks on one letter in quadratic time, so a run of more than 30 is broken up (UAX #15). */
const LONG_MARK_RUN = /(\p{M}{30})(?=\p{M})/gu;
export const withBrokenRuns = (text: string) => text.replace(LONG_MARK_RUN, '$1\u034f');

/** The index after this many code points, or the length of a shorter text. */
function indexAfter(text: string, codePoints: number): number {
	if (text.length <= codePoints) return text.length;
	let at = 0;
	for (let count = 0; count < codePoints && at < text.length; count++)
		at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
	return at;
}

/** At most `most` code points of a text. If it is cut, a note at its end has the number of missing UTF-16 units. */
export function toShownText(text: string, most: number): { readonly text: ShownText; readonly isCut: boolean } {
	const broken = indexAfter(text, most) < text.length ? null : withBrokenRuns(text);
	if (broken !== null && indexAfter(broken, most) === broken.length) return { text: broken as ShownText, isCut: false };
	// Each 30 marks may get one more character, which breaks their run.
	const room = Math.floor(((most - NOTE_LENGTH) * 30) / 31);
	const start = text.slice(0, boundaryBefore(text, indexAfter(text, room)));
	// Copied, because V8 keeps the whole string in memory for a slice of it.
	const kept = Buffer.from(withBrokenRuns(start), 'utf16le').toString('utf16le');
	return { text: `${kept}${noteOf(text.length - start.length)}` as ShownText, isCut: true };
}

/** Whether a stored text is the one that was sent. A service may trim it, compose it and rewrite its line ends. */
export function sameText(stored: string, sent: string): boolean {
	// A limit for the comparison: NFC makes a text up to four times shorter, other line ends up to twice as long.
	return stored === sent || (stored.trim().length <= 8 * sent.length && comparable(stored) === comparable(sent));
}

const comparable = (text: string) => withBrokenRuns(text.replaceAll('\r\n', '\n').trim()).normalize();

/** The only option that equals a text apart from letter case, emphasis and typographic characters; else the text. */
export function optionOr(text: string, options: readonly string[]): string {
	const read = asRead(text);
	const [named, another] = options.filter((option) => asRead(option) === read);
	return named === undefined || another !== undefined ? text : named;
}

/** A text in lower case with ASCII dashes and quotation marks, without emphasis around it and invisible characters. */
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
