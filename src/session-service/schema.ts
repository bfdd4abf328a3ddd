import { z } from 'zod';
import type { Session, SessionFile, SessionVariable } from '../questions/session.ts';
import { TooManyPartsError } from './json-parts.ts';
import { asArray, asObject, asText, asTextOrNull } from './json-values.ts';
import { readMessage } from './messages.ts';

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
 * zod reads the envelope, the messages are read by hand (`messages.ts`): for 600 messages in 0.5, 2.6 and 7.5 MB that
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
