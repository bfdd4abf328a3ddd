/**
 * Whether a stored text is the one that was sent. Services trim what they save and rewrite line ends; neither makes it the
 * text of somebody else. Linear in the length of both.
 */
export function sameText(stored: string, sent: string): boolean {
	return stored === sent || comparable(stored) === comparable(sent);
}

/**
 * Sorting the marks on one letter takes the square of their number, so a run of more than 30 is broken up as the
 * Stream-Safe Text Format does (Unicode Standard Annex 15); no language has as many.
 */
const LONG_MARK_RUN = /(\p{M}{30})(?=\p{M})/gu;

function comparable(text: string): string {
	return text.replaceAll('\r\n', '\n').trim().replace(LONG_MARK_RUN, '$1\u034f').normalize();
}
