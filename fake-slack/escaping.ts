import { isRecord, type Json } from './json.ts';

/** Escapes every character that is markup in Slack's texts (docs.slack.dev, "Formatting message text"). */
export function escaped(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes what an app left as it is, and keeps markup and what is escaped already. */
function escapedRest(text: string): string {
	return text
		.split(/(<[^<>]+>)/)
		.map((part, at) => (at % 2 === 1 ? part : escaped(part.replace(/&(amp|lt|gt);/g, unescapedOne))))
		.join('');
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };
const unescapedOne = (_: string, name: string) => CHARACTERS[name] ?? '';

/** The text of a message as Slack gives it back. */
export const textForApp = escapedRest;

/**
 * Blocks, actions and values as Slack gives them back: it escapes text objects (slackapi/bolt-python #513 for buttons of
 * messages; views and options: no source). Elements of rich text stay as they are.
 */
export function escapedTexts<Value>(value: Value): Value {
	if (Array.isArray(value)) return value.map(escapedTexts) as Value;
	if (!isRecord(value)) return value;
	const copy: Json = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escapedTexts(inner)]));
	const { type, text } = copy;
	if (typeof text !== 'string') return copy as Value;
	if (type === 'plain_text') copy.text = escaped(text.replace(/&(amp|lt|gt);/g, unescapedOne));
	if (type === 'mrkdwn') copy.text = escapedRest(text);
	return copy as Value;
}
