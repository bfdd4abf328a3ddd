/**
 * Characters that show nothing and change what the rest looks like: controls, soft hyphens, zero-width spaces, bidi
 * embeddings, overrides and isolates (U+202A-202E, U+2066-2069), a blank letter, byte order marks, tag characters.
 */
const INVISIBLE =
	/(?![\t\n])\p{Cc}|[\u00AD\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** Joiners and direction marks: emoji, Persian, Hebrew and Indic scripts need them; next to ASCII they only deceive. */
const JOINER_NEXT_TO_ASCII = /(?<![^\p{ASCII}])[\u200C-\u200F\u061C]|[\u200C-\u200F\u061C](?![^\p{ASCII}])/gu;
const JOINER_RUN = /[\u200C-\u200F\u061C]{2,}/g;
/** No script stacks more than a few; hundreds of them paint over the neighbouring lines. */
const MARK_RUN = /(\p{M}{8})\p{M}+/gu;

/** Nothing to do: true of most of what agents write, and much faster to see than to search for each kind. */
const PRINTABLE = /^[\t\n -~]*$/;

/** The same text without anything invisible or half: what remains is what people see. Newlines become `\n`, tabs stay. */
export function neutralise(text: string): string {
	if (PRINTABLE.test(text)) return text;
	return text
		.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
		.toWellFormed()
		.replace(INVISIBLE, '')
		.replace(JOINER_RUN, (run) => run.charAt(0))
		.replace(JOINER_NEXT_TO_ASCII, '')
		.replace(MARK_RUN, '$1');
}
