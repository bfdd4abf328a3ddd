import { LIKE_APOSTROPHES, LIKE_QUOTATION_MARKS } from '../../questions/confusables.ts';

/**
 * Invisible characters, some of which change how their neighbours look: controls, soft hyphens, zero-width spaces, bidi
 * embeddings, overrides and isolates (U+202A-202E, U+2066-2069), blank letters, byte order marks, tag characters.
 */
const INVISIBLE =
	/(?![\t\n])\p{Cc}|[\u00AD\u180E\u200B\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB\u{E0000}-\u{E007F}]/gu;
/** Joiners and direction marks: emoji, Persian, Hebrew and Indic scripts need them. Next to ASCII they can only deceive. */
const JOINER_NEXT_TO_ASCII = /(?<![^\p{ASCII}])[\u200C-\u200F\u061C]|[\u200C-\u200F\u061C](?![^\p{ASCII}])/gu;
const JOINER_RUN = /[\u200C-\u200F\u061C]{2,}/g;
/** No script puts more than a few marks on a letter; hundreds of them cover the neighbouring lines. */
const MARK_RUN = /(\p{M}{8})\p{M}+/gu;

/** Agents write mostly such text, and this test is much faster than the replacements. */
const PRINTABLE = /^[\t\n -~]*$/;

/** The text without invisible characters and lone surrogates. Line ends become `\n`, tabs stay. */
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

const MARK = `[\\p{Quotation_Mark}${LIKE_QUOTATION_MARKS}${LIKE_APOSTROPHES}]`;
const DRAWN_OVER = '[\\p{M}\\p{Cf}]*';
/** What only looks like an apostrophe; no mark of code. */
const LIKE_ONE = LIKE_APOSTROPHES.replace(/[`\u1fef]/g, '');
/** Where a name could seem to end. Group 1 is one alone that ends nothing, such as in "D’Angelo". */
const QUOTATION_MARKS = new RegExp(
	`((?:(?<=\\p{L}\\p{M}*)’(?=\\p{L})|[${LIKE_ONE}])(?!${DRAWN_OVER}${MARK}))|(?:${MARK}${DRAWN_OVER})+`,
	'gu',
);
/** The beginning of an emoji's `:name:`. The minutes in 10:30:15 are none. */
const EMOJI_CODE = /(?!(?<=\d):\d+:\d):(?=[\p{L}\p{M}\p{N}_+'-]{1,100}:)/gu;

/**
 * Emoji, other symbols and `:names:` of emoji at the beginning, where our own messages have theirs. Currency and
 * arithmetic signs stay. Marks go too: without a letter they would change the quotation mark before them.
 */
const LEADING_SYMBOLS =
	/^(?:[\s\p{So}\p{Sk}\p{M}\p{Cf}\p{Extended_Pictographic}\p{Emoji_Modifier}]|:[\w+'-]{1,100}:)+/u;
const LEADING_MARKS = /^[\s\p{M}\p{Cf}]+/u;

/** A name to put between quotation marks: one line, without anything that looks like a quotation mark. */
export function nameWithin(text: string): string {
	return titleWithin(text.replace(LEADING_SYMBOLS, ''));
}

/** A title, option or value to put between quotation marks. Symbols at its beginning stay: 🚫 can turn it into its opposite. */
export function titleWithin(text: string): string {
	return text
		.replace(LEADING_MARKS, '')
		.replace(EMOJI_CODE, '∶')
		.replace(/\s+/g, ' ')
		.replace(QUOTATION_MARKS, (_, apostrophe?: string) => apostrophe ?? "'")
		.trim();
}

/** Escapes for mrkdwn and for the `text` of a message. */
export function escapeMrkdwn(text: string): string {
	if (!/[&<>]/.test(text)) return text;
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
