import { z } from 'zod';
import {
	type AgentAction,
	isWaiting,
	parseTime,
	type RawTexts,
	type ReadItem,
	type ReadMessage,
	type ReadSession,
} from '../domain/session.ts';
import { cutText } from '../domain/texts.ts';
import { eachIn } from '../kernel/lease-loop.ts';
import { isSessionId } from './service.ts';
import { endOfString, QUOTE } from './transport.ts';

const UNKNOWN = 'unknown';

const anything = z.unknown().optional();
const text = anything.transform(asText);
const textOrNull = anything.transform(asTextOrNull);

/** ISO 8601 as the service sends it; a number is milliseconds since the epoch. */
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
 * A session as the service sends it, read into ours. Other fields, some of them secret, are dropped. One odd value must
 * not hide a session from the people it waits for. Only `messages` is strict: null or a foreign type as an empty list
 * would make an open question look closed. For messages zod would take twice as long.
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
		sessionDetails: text,
	})
	// An object with none of these does not come from the service.
	.refine((session) => session.sessionId !== '' || session.status !== UNKNOWN || session.messages.length > 0);

const sessionResponse = z.object({ session: sessionSchema });

/** The PUT's success: in practice a status text, by the service's document the updated message too. */
const PUT_SUCCESS = z.union([z.object({ message: z.string() }), z.object({ updatedMessage: z.looseObject({}) })]);

/** Null for no readable session. Without an id it is the one of `requestedId`. `json`: the text of `value`. */
export function* readSessionResponse(value: unknown, json: string, requestedId: string) {
	const parsed = sessionResponse.safeParse(value);
	if (!parsed.success) return null;
	const { session } = parsed.data;
	const isOdd = session.messages.some((message) =>
		itemsIn(asObject(message)).some((item) => oddFields(item).length > 0),
	);
	const sources = asObject(asObject(isOdd ? (yield* sourcesIn(json)).session : null)?.messages);
	const messages = yield* eachIn([...session.messages.entries()], ([index, message]) =>
		readMessage(message, asObject(sources?.[index])),
	);
	return { ...session, messages, sessionId: session.sessionId || requestedId } satisfies ReadSession;
}

/** The id in a response to a read; null for no readable session. */
export function idIn(value: unknown, requestedId: string): string | null {
	const { data } = sessionResponse.safeParse(value);
	return data === undefined ? null : data.session.sessionId || requestedId;
}

export const isPutSuccess = (value: unknown) => PUT_SUCCESS.safeParse(value).success;

/** Always returns one, because `messageIndex` counts every element that the service sent. */
function* readMessage(value: unknown, source: JsonObject | null): Generator<void, ReadMessage> {
	const message = asObject(value);
	if (message === null) return { role: 'unknown', content: '', actions: [], humanInput: [] };
	const sources = asObject(source?.human_input);
	return {
		role: asText(message.role) || 'unknown',
		content: readContent(message.content),
		actions: yield* readActions(message.agent_data),
		humanInput: yield* eachIn([...itemsIn(message).entries()], ([position, item]) =>
			readItem(item, asObject(sources?.[position])),
		),
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

const itemsIn = (message: JsonObject | null) => asArray(message?.human_input);

const TEXTS = ['title', 'description', 'value'] as const satisfies readonly (keyof RawTexts)[];

/** Those that are no strings. */
function oddFields(item: unknown) {
	const fields = asObject(item) ?? {};
	return TEXTS.filter((name) => fields[name] !== undefined && typeof fields[name] !== 'string');
}

/** Always returns one, because items are known by their position. */
function* readItem(value: unknown, source: JsonObject | null): Generator<void, ReadItem> {
	const item = asObject(value);
	if (item === null) return { title: asText(value), description: '', value: '' };
	const raw: { -readonly [Name in keyof RawTexts]: RawTexts[Name] } = {};
	for (const name of oddFields(item)) {
		// Copied: a part of a string keeps the whole in memory.
		raw[name] = Buffer.from(asText(source?.[name])).toString();
		yield;
	}
	return {
		title: asText(item.title),
		description: asText(item.description),
		// Like the service's page: `0`, `false`, null are open. Other foreign values count, or they would be overwritten.
		value: item.value ? (raw.value ?? asText(item.value)) : '',
		...(Object.keys(raw).length > 0 && { raw }),
	};
}

/** Names of unknown actions are cut to this: a card shows them in one line. */
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

/** Some serializers list all possible actions: null ones did not happen. */
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

/** Strict where a mistake could come from another operation, lenient about what is only shown. */
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
 * Reads the JSON value of a list's response; null when there is any doubt that it is the page that was asked for. The
 * counts are no doubt: services count and find one after another. `sessions`: those that can be read; `itemCount`: of
 * this page, with those that cannot; `sessionCount`: of all pages.
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

const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const OPEN = { array: 0x5b, object: 0x7b } as const;
const CLOSE = { array: 0x5d, object: 0x7d } as const;
/** What stands between two values, with at most one mark. */
const BETWEEN = /[ \t\n\r]*[[{:,]?[ \t\n\r]*/y;
/** What is left of a number, `true`, `false` or `null` behind its first character. */
const SCALAR = /[^,:\]} \t\n\r]*/y;

/** Where the fields of items stand. Null: any element. */
const PATH = [['session'], ['messages'], null, ['human_input'], null, TEXTS] as const;

/**
 * The JSON of the fields of all items, at the end of `PATH`: a number loses digits when it is parsed. `json` was
 * parsed: of a repeated key the last counts. All else is passed over without recursion, however deep it is. Takes as
 * long as the parse did.
 */
export function* sourcesIn(json: string): Generator<void, JsonObject> {
	let at = json.search(/\S/);

	function pass(pattern: RegExp): void {
		pattern.lastIndex = at;
		pattern.test(json);
		at = pattern.lastIndex;
	}

	function passValue(): string {
		const start = at;
		let depth = 0;
		do {
			const code = json.charCodeAt(at);
			if (code === QUOTE) at = endOfString(json, at);
			else if (code === OPEN.array || code === OPEN.object) depth++;
			else if (code === CLOSE.array || code === CLOSE.object) depth--;
			at++;
		} while (depth > 0);
		pass(SCALAR);
		return json.slice(start, at);
	}

	function* read(level: number): Generator<void, JsonObject> {
		const found: Record<string, unknown> = {};
		const keys: readonly string[] | null | undefined = PATH[level];
		const kind = keys === null ? 'array' : 'object';
		if (json.charCodeAt(at) !== OPEN[kind]) {
			passValue();
			return found;
		}
		pass(BETWEEN);
		for (let index = 0; json.charCodeAt(at) !== CLOSE[kind]; index++) {
			const key = keys === null ? String(index) : (JSON.parse(passValue()) as string);
			if (keys !== null) pass(BETWEEN);
			if (keys?.includes(key) === false) passValue();
			else found[key] = level === PATH.length - 1 ? passValue() : yield* read(level + 1);
			pass(BETWEEN);
			yield;
		}
		at++;
		return found;
	}
	return yield* read(0);
}
