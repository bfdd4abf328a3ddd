/**
 * What a person meant with a message, out of the form in which Slack hands it over: links and addresses as they were
 * typed, named mentions as `@name`, entities as characters. `without` (a user id) is left out: the mention of ourselves.
 */
export function typedText(text: string, without: string | null = null): string {
	return text
		.replace(/<@([UW][A-Z0-9]+)(?:\|([^>]*))?>/g, (mention, id: string, name: string | undefined) =>
			id === without ? '' : name === undefined ? mention : `@${name}`,
		)
		.replace(/<#[CG][A-Z0-9]+\|([^>]+)>/g, '#$1')
		.replace(/<mailto:([^|>]+)(?:\|[^>]*)?>/g, '$1')
		.replace(/<((?:https?|tel):[^|>]+)(?:\|[^>]*)?>/g, '$1')
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&')
		.trim();
}
