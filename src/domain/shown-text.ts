import { boundaryBefore, cutText, NOTE_LENGTH, noteOf, type OnCut, withoutNote } from './texts.ts';

/*
 * Makes a text from outside safe to show: without characters that change how others look, cut to the limit of its
 * place. Limits are UTF-16 units. Each function reads at most a few times its limit.
 */

/** Controls, soft hyphens, zero-width spaces, bidi controls, blank letters, BOMs and tags. */
const INVISIBLE =
	/(?![\t\n])\p{Cc}|[\u00AD\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** Joiners and direction marks. Emoji, Persian, Hebrew and Indic scripts need them. Next to ASCII they only deceive. */
const JOINER_NEXT_TO_ASCII = /(?<![^\p{ASCII}])[\u200C-\u200F\u061C]|[\u200C-\u200F\u061C](?![^\p{ASCII}])/gu;
/** No script puts more than a few marks on a letter. Hundreds would cover the neighbouring lines. */
const MARK_RUN = /(\p{M}{8})\p{M}+/gu;

/** Most texts are only this, and the test is much faster than the replacements. */
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

/** Whether nothing of a text is visible. Some letters and the empty pattern of Braille look like nothing. */
export const isBlank = (text: string) =>
	!/[!-~]/.test(text) &&
	neutralise(text.slice(0, 10_000))
		.replace(/[\u115F\u1160\u2800]/g, '')
		.trim() === '';

/** Cuts between characters, without a note: for the initial value of an input. */
export const cutTo = (text: string, limit: number) => text.slice(0, boundaryBefore(text, limit));

/**
 * The start of a text that is read for a limit. Invisible characters count, so a text of them costs no more. It is cut
 * between code points, not characters: one character may have hundreds of marks.
 */
const windowOf = (text: string, limit: number) => {
	const start = text.slice(0, limit * 4);
	return start.length < text.length ? start.replace(/[\uD800-\uDBFF]$/, '') : start;
};

/**
 * A name, title, option or value in one line: line ends and tabs become spaces. A cut one ends with "…". Empty when
 * nothing of it is visible.
 */
export function oneLine(text: string, limit: number, onCut?: OnCut): string {
	const start = windowOf(text, limit);
	const line = neutralise(start).replace(/[\n\t]/g, ' ');
	if (isBlank(line) && isBlank(text)) return '';
	const isCut = line.length > limit || start.length < text.length;
	if (isCut) onCut?.();
	return isCut ? cutText(line.length > limit ? line : `${line}…`, limit) : line;
}

/** The beginning of a text, and a note that says how much is missing; `note` is '' when nothing is. */
export function shownPart(
	whole: string,
	limit: number,
	onCut?: OnCut,
): { readonly text: string; readonly note: string } {
	// The text may end with the note of an earlier cut, whose number is added.
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
