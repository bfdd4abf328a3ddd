/** Quotation marks of any script, what looks like one, and two single ones: a name could seem to end there. */
const MARKS =
	/["\u00AB\u00BB\u02BA\u02DD\u02EE\u05F4\u201C-\u201F\u2033\u2036\u2039\u203A\u275D\u275E\u2760\u3003\u301D-\u301F\uFF02]|['\u2018-\u201B\u2032\u2035`\u00B4]{2,}|`/g;

/**
 * Emoji, other symbols and `:names:` of emoji at the beginning: the place where our own messages have theirs. Signs of
 * currencies and of arithmetic may stay. Marks without a letter would change the quotation mark before them.
 */
const LEADING_SYMBOLS =
	/^(?:[\s\p{So}\p{Sk}\p{M}\p{Cf}\p{Extended_Pictographic}\p{Emoji_Modifier}]|:[\w+'-]{1,100}:)+/u;

/** What of a name may stand between quotation marks: one line, nothing in it that looks like the closing one. */
export function nameWithin(text: string): string {
	return text.replace(LEADING_SYMBOLS, '').replace(/\s+/g, ' ').replace(MARKS, "'").trim();
}
