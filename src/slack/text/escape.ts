/** Disarms everything that means something to Slack in mrkdwn and in the `text` of a message: `&`, then `<` and `>`. */
export function escapeMrkdwn(text: string): string {
	// Most pieces of most texts hold none of them.
	if (!/[&<>]/.test(text)) return text;
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
