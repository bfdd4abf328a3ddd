import { z } from 'zod';
import type {
	AgentAction,
	HumanInputItem,
	Message,
	RawTexts,
	Session,
	SessionFile,
	SessionVariable,
} from '../questions/session.ts';
import { asArray, asObject, asText, asTextOrNull, type JsonObject, jsonTextOf, TooManyPartsError } from './json.ts';

const DEFAULT_MAX_STEPS = 30;
const UNKNOWN = 'unknown';

/** Any value, or none at all. */
const anything = z.unknown().optional();
const text = anything.transform(asText);
const textOrNull = anything.transform(asTextOrNull);

/** ISO 8601 as the service sends it; a number is taken for milliseconds since the epoch. */
const dateTime = anything.transform((value) => {
	if (typeof value !== 'number') return asTextOrNull(value);
	const date = new Date(value);
	return Number.isNaN(date.getTime()) ? null : date.toISOString();
});

const maxSteps = anything.transform((value) => {
	const steps = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof steps === 'number' && Number.isSafeInteger(steps) && steps > 0 ? steps : DEFAULT_MAX_STEPS;
});

const files = anything.transform((value): readonly SessionFile[] =>
	asArray(value).flatMap((entry) => {
		const file = asObject(entry);
		if (file === null) return [];
		return [
			{
				filename: asText(file.filename),
				signedUrl: asTextOrNull(file.signedUrl),
				timestamp: asTextOrNull(file.timestamp),
			},
		];
	}),
);

const sessionVariables = anything.transform((value): readonly SessionVariable[] =>
	asArray(value).flatMap((entry) => {
		const variable = asObject(entry);
		return variable === null ? [] : [{ name: asText(variable.name), value: asText(variable.value) }];
	}),
);

/**
 * A session as the service sends it, read into ours. Only these fields are read: the answer carries others, some of
 * them secret, and they end here.
 *
 * Lenient about each field on its own, because one odd value must not hide a session from the people it waits for.
 * Strict where a lenient reading would be dangerous: `messages` that is null, absent or of a foreign type is no empty
 * list, since that would make an open question look as if it were gone.
 *
 * zod reads the envelope, the messages are read by hand (`readMessage`): for 600 messages in 0.5, 2.6 and 7.5 MB that
 * takes 0.21, 0.10 and 0.05 of what JSON.parse takes, with zod for each message it would be 0.56, 0.24 and 0.09 before
 * anything is made of the actions (`npm run bench:schema`).
 */
const sessionSchema = z
	.object({
		sessionId: text,
		status: anything.transform((value) => asText(value) || UNKNOWN),
		name: text,
		messages: z.array(z.unknown()).transform((values) => values.map(readMessage)),
		files,
		startTime: dateTime,
		endTime: dateTime,
		lastScreenshotUrl: textOrNull,
		lastScreenshotTimestamp: dateTime,
		sessionVariables,
		sessionDetails: text,
		maxSteps,
	})
	// An object with none of these is somebody else's, whatever its key.
	.refine((session) => session.sessionId !== '' || session.status !== UNKNOWN || session.messages.length > 0);

const sessionAnswer = z.object({ session: sessionSchema });

/** The PUT's success: a status text in practice, the updated message as well by the document. */
const putAnswer = z.union([z.object({ message: z.string() }), z.object({ updatedMessage: z.looseObject({}) })]);

/**
 * Reads the JSON value of a GET's answer.
 *
 * @param requestedId what the session was asked for by. It stays the session's id whatever the answer says: it is the
 * one that works in the path of the PUT, and the one under which answers and watches are kept
 * @returns null when there is no readable session in it
 * @throws TooManyPartsError, and nothing else for anything JSON.parse can return
 */
export function readSessionAnswer(value: unknown, requestedId: string): Session | null {
	if (elementsIn(value) > MOST_ELEMENTS) throw new TooManyPartsError(`more than ${MOST_ELEMENTS} elements`);
	const answer = sessionAnswer.safeParse(value);
	if (!answer.success) return null;
	const { session } = answer.data;
	return { ...session, sessionId: requestedId } satisfies Session;
}

/** Messages, items, actions, files and variables in all: each becomes an object of ours, though it may be `0,` in the body. */
const MOST_ELEMENTS = 100_000;

function elementsIn(value: unknown): number {
	const session = asObject(asObject(value)?.session);
	if (session === null) return 0;
	const messages = asArray(session.messages);
	let count = messages.length + asArray(session.files).length + asArray(session.sessionVariables).length;
	for (const one of messages) {
		const message = asObject(one);
		if (message === null) continue;
		count += asArray(message.human_input).length + asArray(message.content).length;
		count += asArray(asObject(message.agent_data)?.action).length;
	}
	return count;
}

/** Whether the JSON value of a PUT's answer says that the answers were saved. */
export function isPutSuccess(value: unknown): boolean {
	return putAnswer.safeParse(value).success;
}

/** Whether it is, to the letter, the service's answer to a message index out of range (with status 500). */
export function isMessageIndexRefusal(value: unknown): boolean {
	const answer = asObject(value);
	return answer?.error === 'Failed to update human input' && Object.keys(answer).length === 1;
}

/** Reads one message. Always gives one, because `messageIndex` counts whatever the service sent. */
function readMessage(value: unknown): Message {
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

/** Names of unknown actions are cut to this many characters: they are shown in one line of a card. */
const LONGEST_NAME = 64;

/** Reads `agent_data.action`: objects keyed by the action's name, one action for each key that carries something. */
function readActions(agentData: unknown): readonly AgentAction[] {
	const action = asObject(agentData)?.action;
	if (action === undefined || action === null) return [];
	const entries = Array.isArray(action) ? action : [action];
	const actions: AgentAction[] = [];
	for (const entry of entries) {
		const keyed = asObject(entry);
		if (keyed === null) continue;
		for (const name of namesIn(keyed)) actions.push(readAction(name, keyed[name]));
	}
	return actions;
}

/** Some serializers list every action that exists, all but one as null: those that are null did not happen. */
function namesIn(keyed: JsonObject): readonly string[] {
	const names = Object.keys(keyed);
	const done = names.filter((name) => keyed[name] !== null);
	return done.length > 0 ? done : names.slice(0, 1);
}

function readAction(name: string, value: unknown): AgentAction {
	switch (name) {
		case 'click':
			return { kind: 'click' };
		case 'go_to_url':
			return { kind: 'open', host: hostOf(asText(asObject(value)?.url ?? value)) };
		case 'done':
			return { kind: 'done', text: asText(asObject(value)?.text ?? value) };
		case 'save_to_file':
			return readSavedFile(asObject(value) ?? { filename: value });
		default:
			return { kind: 'other', name: cut(name) };
	}
}

function readSavedFile(file: JsonObject): AgentAction {
	const filename = asText(file.filename) || (asText(file.file_path).split(/[/\\]/).at(-1) ?? '');
	return { kind: 'saveFile', filename, deleted: file.status === 'deleted' };
}

/** The host is looked for in so many characters: hosts have 253 at most, user names before them a few more. */
const LONGEST_ADDRESS = 2_000;

/** Plain web addresses, which nearly all are: parsing each of hundreds as a URL costs more than the rest of reading. */
const PLAIN = /^https?:\/\/((?!xn--)[a-z\d-]+(?:\.(?!xn--)[a-z\d-]+)*\.[a-z]{2,})(?=[/?#]|$)/;

/** Nothing but the host (with its port) is kept: user names, paths and queries carry secrets. */
function hostOf(whole: string): string {
	const address = whole.slice(0, LONGEST_ADDRESS).trim();
	const plain = PLAIN.exec(address)?.[1];
	if (plain !== undefined) return plain;
	// "example.org:8080/path" is an address that people and agents write; "javascript:…" and "file:…" are not.
	const written = /^[\w.-]+\.[\w-]+(:\d+)?([/?#]|$)/.test(address) ? `https://${address}` : address;
	const url = URL.parse(written);
	return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : '';
}

function cut(name: string): string {
	if (name.length <= LONGEST_NAME) return name;
	const kept = name.slice(0, LONGEST_NAME - 1);
	// Never half of a surrogate pair.
	return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
