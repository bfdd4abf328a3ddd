import { z } from 'zod';
import type { ReadItem, ReadMessage, ReadSession } from '../domain/gate.ts';
import { type AgentAction, isWaiting, parseTime, type RawTexts } from '../domain/session.ts';
import { cutText } from '../domain/texts.ts';
import { mapWorkInSteps } from '../kernel/slices.ts';
import { endOfString, QUOTE } from './response-body.ts';
import { isSessionId } from './service.ts';

const UNKNOWN = 'unknown';

const anything = z.unknown().optional();
const text = anything.transform(asText);
const textOrNull = anything.transform(asTextOrNull);

/** ISO 8601 as the service sends it. A number counts as milliseconds since the epoch. */
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
 * Reads a session as the service sends it. Other fields, some of them secret, are dropped. It is lenient: one odd value
 * must not hide a session from the people it waits for. Only `messages` must be a list, because without it an open
 * question would look closed. Messages are read by hand below, in half the time of zod.
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

/** The PUT's success: in practice a status text; by the service's document, the updated message. */
const PUT_SUCCESS = z.union([z.object({ message: z.string() }), z.object({ updatedMessage: z.looseObject({}) })]);

/** Reads the response to a read; null: it has no readable session. `json`: the text of `value`. */
export function* readSessionResponse(value: unknown, json: string, requestedId: string) {
	const parsed = sessionResponse.safeParse(value);
	if (!parsed.success) return null;
	const { session } = parsed.data;
	const isOdd = session.messages.some((message) =>
		itemsIn(asObject(message)).some((item) => oddFields(item).length > 0),
	);
	const sources = asObject(asObject(isOdd ? (yield* sourcesIn(json)).session : null)?.messages);
	const messages = yield* mapWorkInSteps([...session.messages.entries()], ([index, message]) =>
		readMessage(message, asObject(sources?.[index])),
	);
	return { ...session, messages, sessionId: session.sessionId || requestedId } satisfies ReadSession;
}

export const isPutSuccess = (value: unknown) => PUT_SUCCESS.safeParse(value).success;

/** Returns a message for any value, because `messageIndex` counts every element that the service sent. */
function* readMessage(value: unknown, source: JsonObject | null): Generator<void, ReadMessage> {
	const message = asObject(value);
	if (message === null) return { role: 'unknown', content: '', actions: [], humanInput: [] };
	const sources = asObject(source?.human_input);
	return {
		role: asText(message.role) || 'unknown',
		content: readContent(message.content),
		actions: yield* readActions(message.agent_data),
		humanInput: yield* mapWorkInSteps([...itemsIn(message).entries()], ([position, item]) =>
			readItem(item, asObject(sources?.[position])),
		),
	};
}

/** The content is a string in practice. The form of language models is read too: `[{type: 'text', text}]`. */
function readContent(content: unknown): string {
	if (!Array.isArray(content)) return asText(content);
	return content
		.map((part) => (typeof part === 'string' ? part : asText(asObject(part)?.text)))
		.filter((text) => text !== '')
		.join('\n');
}

const itemsIn = (message: JsonObject | null) => asArray(message?.human_input);

const TEXTS = ['title', 'description', 'value'] as const satisfies readonly (keyof RawTexts)[];

/** The names of an item's fields that are no strings. */
function oddFields(item: unknown) {
	const fields = asObject(item) ?? {};
	return TEXTS.filter((name) => fields[name] !== undefined && typeof fields[name] !== 'string');
}

/** Returns an item for any value, because position identifies an item. */
function* readItem(value: unknown, source: JsonObject | null): Generator<void, ReadItem> {
	const item = asObject(value);
	if (item === null) return { title: asText(value), description: '', value: '' };
	const raw: { -readonly [Name in keyof RawTexts]: RawTexts[Name] } = {};
	for (const name of oddFields(item)) {
		// Copied, because V8 keeps the whole string in memory for a slice of it.
		raw[name] = Buffer.from(asText(source?.[name])).toString();
		yield;
	}
	return {
		title: asText(item.title),
		description: asText(item.description),
		// As on the service's page, `0`, `false` and null are open. Other values count, so that no PUT overwrites them.
		value: item.value ? (raw.value ?? asText(item.value)) : '',
		...(Object.keys(raw).length > 0 && { raw }),
	};
}

/** UTF-16 units of an unknown action's name, which a card shows in one line. */
const LONGEST_NAME = 64;
const LONGEST_LISTED_NAME = 1_000;

/** Reads `agent_data.action`: objects keyed by the action's name. Each key with a value is one action. */
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

/** Some serializers list all possible actions with null for those that did not happen. */
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

/** The query string for a page of waiting sessions of every source. */
export function listQuery({ limit, page }: AskedPage): string {
	return new URLSearchParams({ status: 'humanInput', source: '', page: String(page), limit: String(limit) }).toString();
}

const count = z.int().nonnegative().max(1_000_000);

/** Strict in what distinguishes a list from another response, lenient in what is only shown. */
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
 * Reads the response of the list operation; null: it may not be the page that was asked for. Counts may disagree,
 * because services count and find one after the other. `sessions`: those with a usable id. `itemCount`: all of this
 * page. `sessionCount`: of all pages.
 */
export function readListResponse(value: unknown, asked: AskedPage) {
	const parsed = listSchema.safeParse(value);
	if (!parsed.success || Object.hasOwn(value as object, 'session')) return null;
	const { sessions, totalSessions, totalPages: pageCount } = parsed.data;
	const itemCount = sessions.length;
	if (itemCount > asked.limit || !sessions.every(({ status }) => isWaiting(status))) return null;
	// One odd id does not make the list unusable.
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
/** White space between two values, with at most one mark. */
const BETWEEN = /[ \t\n\r]*[[{:,]?[ \t\n\r]*/y;
/** A number, `true`, `false` or `null` after its first character. */
const SCALAR = /[^,:\]} \t\n\r]*/y;

/** The path to the fields of items. Null: any element of an array. */
const PATH = [['session'], ['messages'], null, ['human_input'], null, TEXTS] as const;

/**
 * The JSON text of each field at the end of `PATH`, because a number loses digits when it is parsed. `json` must be
 * valid. Of a repeated key, the last counts. Everything else is skipped without recursion, at any depth. It takes as
 * long as the parse.
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
