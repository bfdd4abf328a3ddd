export const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** A longer cluster is not a readable character, so it is cut between code points. */
export const LONGEST_CLUSTER = 200;

/** The last position up to `at` where `text` can be cut without splitting what people see as one character. */
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

/** Called when a part of a text is not shown. `isNote`: a note at its end says so, its writer's own if nothing cut it. */
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

/** Cuts to `limit` UTF-16 units (more than `NOTE_LENGTH`), at a boundary; a note at the end of what is cut says how much is missing. */
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
