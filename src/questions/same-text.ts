/**
 * Whether a stored text is the one that was sent. Services trim what they save and rewrite line ends; neither makes it the
 * text of somebody else.
 */
export function sameText(stored: string, sent: string): boolean {
	return stored === sent || comparable(stored) === comparable(sent);
}

function comparable(text: string): string {
	return text.replaceAll('\r\n', '\n').trim().normalize();
}
