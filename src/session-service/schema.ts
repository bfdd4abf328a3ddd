import { z } from 'zod';
import { cutText } from '../core/cut.ts';
import { eachIn } from '../core/slices.ts';
import type { ReadItem, ReadMessage, ReadSession } from '../questions/gate.ts';
import { type AgentAction, isWaiting, parseTime, type RawTexts } from '../questions/session.ts';
import { isSessionId } from './address.ts';

const DEFAULT_MAX_STEPS = 30;
const UNKNOWN = 'unknown';

const anything = z.unknown().optional();
const text = anything.transform(asText);
const textOrNull = anything.transform(asTextOrNull);

/** ISO 8601 as the service sends it; a number is read as milliseconds since the epoch. */
const dateTime = anything.transform((value) => {
	if (typeof value !== 'number') return asTextOrNull(value);
	const date = new Date(value);
	return Number.isNaN(date.getTime()) ? null : date.toISOString();
});

const objectsIn = (value: unknown) =>
	asArray(value)
		.map(asObject)
		.filter((entry) => entry !== null);

/**
 * A session as the service sends it, read into ours. Other fields, some of them secret, are dropped. One odd value must not
 * hide a session from the people it waits for. Only `messages` is strict: reading null or a foreign type as an empty list would
 * make an open question look closed. For messages zod would take twice as long (`npm run bench -- schema`).
 */
const sessionSchema = z
	.object({
		sessionId: text,
		status: anything.transform((value) => asText(value) || UNKNOWN),
		name: text,
		messages: z.array(z.unknown()),
		files: anything.transform((value) =>
			objectsIn(value).map(({ filename, signedUrl }) => ({
				filename: asText(filename),
				signedUrl: asTextOrNull(signedUrl),
			})),
		),
		startTime: dateTime,
		endTime: dateTime,
		lastScreenshotUrl: textOrNull,
		sessionVariables: anything.transform((value) => objectsIn(value).map(({ name }) => asText(name))),
		sessionDetails: text,
		maxSteps: anything.transform((value) => {
			const steps = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
			return typeof steps === 'number' && Number.isSafeInteger(steps) && steps > 0 ? steps : DEFAULT_MAX_STEPS;
		}),
	})
	// An object with none of these does not come from the service.
	.refine((session) => session.sessionId !== '' || session.status !== UNKNOWN || session.messages.length > 0);

const sessionResponse = z.object({ session: sessionSchema });

/** The PUT's success: in practice a status text, by the service's document the updated message too. */
const putSuccess = z.union([z.object({ message: z.string() }), z.object({ updatedMessage: z.looseObject({}) })]);

/** Null without a readable session. Its id is `requestedId`, whatever the response says: all is stored under it. */
export function* readSessionResponse(value: unknown, requestedId: string): Generator<void, ReadSession | null> {
	const parsed = sessionResponse.safeParse(value);
	if (!parsed.success) return null;
	const { session } = parsed.data;
	return { ...session, messages: yield* eachIn(session.messages, readMessage), sessionId: requestedId };
}

export function isPutSuccess(value: unknown): boolean {
	return putSuccess.safeParse(value).success;
}

/** Always returns one, because `messageIndex` counts every element that the service sent. */
function* readMessage(value: unknown): Generator<void, ReadMessage> {
	const message = asObject(value);
	if (message === null) return { role: 'unknown', content: '', actions: [], humanInput: [] };
	return {
		role: asText(message.role) || 'unknown',
		content: readContent(message.content),
		actions: yield* readActions(message.agent_data),
		humanInput: yield* eachIn(asArray(message.human_input), readItem),
	};
}

/** A string in practice; also the form with parts that language models use (`[{type: 'text', text}]`). */
function readContent(content: unknown): string {
	if (!Array.isArray(content)) return asText(content);
	return content
		.map((part) => (typeof part === 'string' ? part : asText(asObject(part)?.text)))
		.filter((text) => text !== '')
		.join('\n');
}

/** Always returns one, because items are known by their position. */
function* readItem(value: unknown): Generator<void, ReadItem> {
	const item = asObject(value);
	if (item === null) return { title: asText(value), description: '', value: '' };
	const odd = TEXTS.filter((name) => item[name] !== undefined && typeof item[name] !== 'string');
	const raw: { -readonly [Name in keyof RawTexts]: RawTexts[Name] } = {};
	for (const name of odd) raw[name] = yield* jsonTextOf(item[name]);
	return {
		title: asText(item.title),
		description: asText(item.description),
		// Like the service's page: `0`, `false`, null are open. Other foreign values count, or they would be overwritten.
		value: item.value ? (raw.value ?? asText(item.value)) : '',
		...(odd.length > 0 && { raw }),
	};
}

const TEXTS = ['title', 'description', 'value'] as const satisfies readonly (keyof RawTexts)[];

/** Names of unknown actions are cut to this length: a card shows them in one line. */
const LONGEST_NAME = 64;
const LONGEST_LISTED_NAME = 1_000;

/** Reads `agent_data.action`: objects keyed by the action's name, one action for each key with a value. */
function* readActions(agentData: unknown): Generator<void, readonly AgentAction[]> {
	const action = asObject(agentData)?.action;
	const actions: AgentAction[] = [];
	for (const keyed of objectsIn(Array.isArray(action) ? action : [action])) {
		for (const name of namesIn(keyed)) {
			actions.push(readAction(name, keyed[name]));
			yield;
		}
	}
	return actions;
}

/** Some serializers list all possible actions: those that are null did not happen. */
function namesIn(keyed: JsonObject): readonly string[] {
	const names = Object.keys(keyed);
	const happened = names.filter((name) => keyed[name] !== null);
	return happened.length > 0 ? happened : names.slice(0, 1);
}

function readAction(name: string, value: unknown): AgentAction {
	switch (name) {
		case 'click':
			return { kind: 'click', text: '' };
		case 'go_to_url':
			return { kind: 'open', text: asText(asObject(value)?.url ?? value) };
		case 'done':
			return { kind: 'done', text: asText(asObject(value)?.text ?? value) };
		case 'save_to_file':
			return readSavedFile(asObject(value) ?? { filename: value });
		default:
			return { kind: 'other', text: cutText(name, LONGEST_NAME) };
	}
}

function readSavedFile(file: JsonObject): AgentAction {
	const path = asText(file.file_path);
	const text = asText(file.filename) || path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
	return { kind: file.status === 'deleted' ? 'deleteFile' : 'saveFile', text };
}

export const MAX_PAGE_BYTES = 10_000_000;

/** `page` counts from 1. */
interface AskedPage {
	readonly limit: number;
	readonly page: number;
}

export type ListPage = Readonly<NonNullable<ReturnType<typeof readListResponse>>>;

/** The query of a page of sessions that wait, of every source. */
export function listQuery({ limit, page }: AskedPage): string {
	return new URLSearchParams({ status: 'humanInput', source: '', page: String(page), limit: String(limit) }).toString();
}

const count = z.int().nonnegative().max(1_000_000);

/** Strict where a mistake could come from another operation, lenient about what people are only shown. */
const listSchema = z.object({
	sessions: z.array(
		z.object({
			sessionId: z.string().min(1),
			status: z.string(),
			name: text.transform((name) => cutText(name, LONGEST_LISTED_NAME)),
			updatedAt: dateTime.transform(parseTime),
		}),
	),
	totalSessions: count,
	totalPages: count,
});

/**
 * Reads the JSON value of a list's response; null when there is any doubt that it is the page that was asked for. The counts are
 * no doubt: services count and find one after another. `sessions`: those that can be read; `itemCount`: of this page, with those
 * that cannot; `sessionCount`: of all pages.
 */
export function readListResponse(value: unknown, asked: AskedPage) {
	const parsed = listSchema.safeParse(value);
	if (!parsed.success || Object.hasOwn(value as object, 'session')) return null;
	const { sessions, totalSessions, totalPages: pageCount } = parsed.data;
	const itemCount = sessions.length;
	if (itemCount > asked.limit || !sessions.every(({ status }) => isWaiting(status))) return null;
	// One odd id is no reason to do without the list.
	const readable = sessions.filter(({ sessionId }) => isSessionId(sessionId));
	return { sessions: readable, itemCount, sessionCount: Math.max(totalSessions, itemCount), pageCount };
}

/* Lenient readers for values from JSON.parse: they never throw. */

type JsonObject = Readonly<Record<string, unknown>>;

function asObject(value: unknown): JsonObject | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function asText(value: unknown): string {
	if (typeof value === 'string') return value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function asTextOrNull(value: unknown): string | null {
	return asText(value) || null;
}

function asArray(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** A container that is being written; `keys` is null for an array. */
interface Open {
	readonly keys: readonly string[] | null;
	readonly of: JsonObject;
	next: number;
}

/** The JSON, however deep: JSON.stringify throws a RangeError at some thousand levels. `1e400` stays a number. */
export function* jsonTextOf(value: unknown): Generator<void, string> {
	const parts: string[] = [];
	const stack: Open[] = [];
	function write(element: unknown): void {
		if (typeof element === 'object' && element !== null) {
			const keys = Array.isArray(element) ? null : Object.keys(element);
			stack.push({ keys, of: element as JsonObject, next: 0 });
			parts.push(keys === null ? '[' : '{');
		} else if (typeof element === 'number' && !Number.isFinite(element)) parts.push(element > 0 ? '1e400' : '-1e400');
		else parts.push(JSON.stringify(element));
	}
	write(value);
	for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
		const { keys, of, next } = open;
		if (next === (keys ?? of).length) {
			parts.push(keys === null ? ']' : '}');
			stack.pop();
			continue;
		}
		open.next++;
		yield;
		if (next > 0) parts.push(',');
		if (keys !== null) parts.push(JSON.stringify(keys[next]), ':');
		write(of[keys?.[next] ?? next]);
	}
	return parts.join('');
}
