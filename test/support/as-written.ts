import type { TrafficEntry } from '../../fake-slack/index.ts';

/** The calls that show a text to people. */
const TEXTS: ReadonlySet<string> = new Set(['chat.postMessage', 'chat.update', 'chat.postEphemeral', 'response_url']);

/**
 * Everything sent to Slack that lets bare names, channels and addresses become live: calls without the arguments
 * against it, and mrkdwn that is not verbatim, also in acknowledgements with a view. Empty when there is nothing of the
 * kind.
 */
export function notAsWritten(entries: readonly TrafficEntry[]): string[] {
	return entries.flatMap((entry) => {
		const { direction, name, request, answer } = entry;
		const sent = direction === 'delivery' ? answer : request;
		const isLoose =
			direction !== 'delivery' &&
			TEXTS.has(name) &&
			request.delete_original !== true &&
			!(request.parse === 'none' && (request.link_names === false || request.link_names === 'false'));
		return [
			...(isLoose ? [`${name} without parse none and link_names false: ${String(request.text)}`] : []),
			...[...looseTexts(sent)].map((text) => `${name} with mrkdwn that is not verbatim: ${text}`),
		];
	});
}

function* looseTexts(value: unknown): Generator<string> {
	if (typeof value === 'string') yield* looseTexts(parsed(value));
	if (typeof value !== 'object' || value === null) return;
	const { type, text, verbatim } = value as { type?: unknown; text?: unknown; verbatim?: unknown };
	if (type === 'mrkdwn' && verbatim !== true) yield String(text);
	for (const child of Object.values(value)) yield* looseTexts(child);
}

/** In a form, blocks and views are JSON text. */
export function parsed(value: string): unknown {
	try {
		return /^[[{]/.test(value) ? JSON.parse(value) : null;
	} catch {
		return null;
	}
}
