/**
 * What stands between angle brackets in a message's text. Slack writes `<` of people as an entity, so the next one begins
 * something else: looking no further keeps the work linear.
 */
const MARKED = /<([^<>]*)>/g;

/**
 * What a person meant with a message, out of the form in which Slack hands it over: links and addresses as they were
 * typed, named mentions as `@name`, entities as characters. `without` (a user id) is left out: the mention of ourselves.
 * Linear in the length of the text.
 */
export function typedText(text: string, without: string | null = null): string {
	return text
		.replace(MARKED, (whole, inside: string) => typed(inside, without) ?? whole)
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&')
		.trim();
}

/** What stands for one pair of brackets; null where it stays as it is. */
function typed(inside: string, without: string | null): string | null {
	const bar = inside.indexOf('|');
	const target = bar === -1 ? inside : inside.slice(0, bar);
	const label = bar === -1 ? null : inside.slice(bar + 1);
	const user = /^@([UW][A-Z0-9]+)$/.exec(target)?.[1];
	if (user !== undefined) return user === without ? '' : label === null ? null : `@${label}`;
	if (/^#[CG][A-Z0-9]+$/.test(target)) return label === null || label === '' ? null : `#${label}`;
	return (
		/^(?:mailto:(.+)|((?:https?|tel):.+))$/s
			.exec(target)
			?.slice(1)
			.find((part) => part !== undefined) ?? null
	);
}
