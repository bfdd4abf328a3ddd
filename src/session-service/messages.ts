import type { HumanInputItem, Message, RawTexts } from '../questions/session.ts';
import { readActions } from './agent-actions.ts';
import { asArray, asObject, asText, type JsonObject, jsonTextOf } from './json-values.ts';

/** Reads one message. Always gives one, because `messageIndex` counts whatever the service sent. */
export function readMessage(value: unknown): Message {
	const message = asObject(value);
	if (message === null) return { role: 'unknown', content: '', actions: [], humanInput: [] };
	return {
		role: asText(message.role) || 'unknown',
		content: readContent(message.content),
		actions: readActions(message.agent_data),
		humanInput: asArray(message.human_input).map(readItem),
	};
}

/** A string in practice; the parts form that language models use (`[{type: 'text', text}]`) reads the same. */
function readContent(content: unknown): string {
	if (!Array.isArray(content)) return asText(content);
	return content
		.map((part) => (typeof part === 'string' ? part : asText(asObject(part)?.text)))
		.filter((text) => text !== '')
		.join('\n');
}

/** Reads one question. Always gives one: questions are known by their position. */
function readItem(value: unknown): HumanInputItem {
	const item = asObject(value);
	if (item === null) return { title: asText(value), description: '', value: '' };
	const raw = rawOf(item);
	return {
		title: asText(item.title),
		description: asText(item.description),
		value: readAnswer(item.value),
		...(raw !== null && { raw }),
	};
}

const TEXTS = ['title', 'description', 'value'] as const satisfies readonly (keyof RawTexts)[];

/** The fields that are there and no strings; null when there are none, which is nearly always so. */
function rawOf(item: JsonObject): RawTexts | null {
	const odd = TEXTS.filter((name) => item[name] !== undefined && typeof item[name] !== 'string');
	return odd.length === 0 ? null : Object.fromEntries(odd.map((name) => [name, jsonTextOf(item[name])]));
}

/** A value of a foreign type is an answer all the same: reading it as "nobody has answered" would overwrite it. */
function readAnswer(value: unknown): string {
	if (typeof value !== 'object' || value === null) return asText(value);
	return jsonTextOf(value);
}
