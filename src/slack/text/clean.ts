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

/** Quotation marks of any script, characters that look like them, and two single ones: a name could seem to end there. */
const QUOTATION_MARKS =
	/["\u00AB\u00BB\u02BA\u02DD\u02EE\u05F4\u201C-\u201F\u2033\u2036\u2039\u203A\u275D\u275E\u2760\u3003\u301D-\u301F\uFF02]|['\u2018-\u201B\u2032\u2035`\u00B4]{2,}|`/g;

/**
 * Emoji, other symbols and `:names:` of emoji at the beginning, where our own messages have theirs. Currency and
 * arithmetic signs stay. Marks go too: without a letter they would change the quotation mark before them.
 */
const LEADING_SYMBOLS =
	/^(?:[\s\p{So}\p{Sk}\p{M}\p{Cf}\p{Extended_Pictographic}\p{Emoji_Modifier}]|:[\w+'-]{1,100}:)+/u;

/** A name to put between quotation marks: one line, without anything that looks like a quotation mark. */
export function nameWithin(text: string): string {
	return text.replace(LEADING_SYMBOLS, '').replace(/\s+/g, ' ').replace(QUOTATION_MARKS, "'").trim();
}

/** Escapes for mrkdwn and for the `text` of a message. */
export function escapeMrkdwn(text: string): string {
	if (!/[&<>]/.test(text)) return text;
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
