import { boundaryBefore, cutText, NOTE_LENGTH, noteOf, type OnCut, withoutNote } from './texts.ts';

/*
 * What is shown of a text from outside: the text itself, without characters that change how others look, up to the
 * limit of its place. Limits count UTF-16 units. Each function reads at most a few times its limit.
 */

/** Some change how others look: controls, soft hyphens, zero-width spaces, bidi controls, blank letters, BOMs, tags. */
const INVISIBLE =
	/(?![\t\n])\p{Cc}|[\u00AD\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** Joiners and direction marks: emoji, Persian, Hebrew and Indic scripts need them. Next to ASCII they only deceive. */
const JOINER_NEXT_TO_ASCII = /(?<![^\p{ASCII}])[\u200C-\u200F\u061C]|[\u200C-\u200F\u061C](?![^\p{ASCII}])/gu;
/** No script puts more than a few marks on a letter; hundreds cover the neighbouring lines. */
const MARK_RUN = /(\p{M}{8})\p{M}+/gu;

/** Agents mostly write such text, and this test is much faster than the replacements. */
const PRINTABLE = /^[\t\n -~]*$/;

/** The text without invisible characters and lone surrogates. Line ends become `\n`, tabs stay. */
export function neutralise(text: string): string {
	if (PRINTABLE.test(text)) return text;
	return text
		.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
		.toWellFormed()
		.replace(INVISIBLE, '')
		.replace(/[\u200C-\u200F\u061C]{2,}/g, (run) => run.charAt(0))
		.replace(JOINER_NEXT_TO_ASCII, '')
		.replace(MARK_RUN, '$1');
}

/** Some letters and an empty pattern of Braille look like nothing, too. */
export const isBlank = (text: string) =>
	!/[!-~]/.test(text) &&
	neutralise(text.slice(0, 10_000))
		.replace(/[\u115F\u1160\u2800]/g, '')
		.trim() === '';

/** Cuts between characters, without a note: for the initial value of an input. */
export const cutTo = (text: string, limit: number) => text.slice(0, boundaryBefore(text, limit));

/**
 * Invisible characters count as they stand, so that a text of them alone costs no more. Not cut between characters: one
 * of hundreds of marks would leave nothing.
 */
const windowOf = (text: string, limit: number) => {
	const start = text.slice(0, limit * 4);
	return start.length < text.length ? start.replace(/[\uD800-\uDBFF]$/, '') : start;
};

/**
 * A name, title, option or value for a place of one line: each line end and tab is a space, all else stands as it is.
 * A longer one ends with "…". Empty when nothing of it is visible.
 */
export function oneLine(text: string, limit: number, onCut?: OnCut): string {
	const start = windowOf(text, limit);
	const line = neutralise(start).replace(/[\n\t]/g, ' ');
	if (isBlank(line) && isBlank(text)) return '';
	const isCut = line.length > limit || start.length < text.length;
	if (isCut) onCut?.();
	return isCut ? cutText(line.length > limit ? line : `${line}…`, limit) : line;
}

/** The beginning of a longer text, and a note of what is missing behind it; '' when nothing is. */
export function shownPart(
	whole: string,
	limit: number,
	onCut?: OnCut,
): { readonly text: string; readonly note: string } {
	// A note of an earlier cut, at its end, counts in full.
	const { text: source, missing } = withoutNote(whole);
	if (missing > 0) onCut?.(true);
	const start = windowOf(source, limit);
	const text = neutralise(start).trimEnd();
	const beyond = source.length - start.length + missing;
	if (text.length <= limit && start.length === source.length) return { text, note: missing > 0 ? noteOf(missing) : '' };
	onCut?.();
	const end = boundaryBefore(text, Math.min(text.length, limit - NOTE_LENGTH));
	return { text: text.slice(0, end).trimEnd(), note: noteOf(text.length - end + beyond) };
}
