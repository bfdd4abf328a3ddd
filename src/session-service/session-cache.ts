import type { Message, Session } from '../questions/session.ts';

/** A session as the service last sent it. */
export interface KeptSession {
	readonly session: Session;
	/** For the next conditional read; null when the service sent none that can be sent back. */
	readonly etag: string | null;
	/** When the newest read that showed this state began, clock milliseconds. */
	readonly readAt: number;
	/** When the read that brought `session` began, clock milliseconds: later reads found it unchanged. */
	readonly since: number;
	/** `readAt` on the clock's uptime. */
	readonly beganAt: number;
}

export type SessionCache = ReturnType<typeof createSessionCache>;

/**
 * The only place that keeps whole sessions: for conditional reads, and for windows whose pages are turned. Keeps the most
 * recently used ones within `maxBytes` of memory, because a session takes from a kilobyte to 64 MB. A larger one is not
 * kept.
 */
export function createSessionCache(maxBytes: number) {
	// A Map keeps the order of insertion: its first key is the least recently used one.
	const entries = new Map<string, { readonly kept: KeptSession; readonly weight: number }>();
	let bytes = 0;

	function drop(sessionId: string): void {
		bytes -= entries.get(sessionId)?.weight ?? 0;
		entries.delete(sessionId);
	}

	return {
		get(sessionId: string): KeptSession | undefined {
			const entry = entries.get(sessionId);
			if (entry !== undefined) {
				entries.delete(sessionId);
				entries.set(sessionId, entry);
			}
			return entry?.kept;
		},
		/** Keeps a session unless a later reading of it is kept. */
		set(sessionId: string, kept: KeptSession): void {
			const before = entries.get(sessionId);
			if (before !== undefined && before.kept.beganAt > kept.beganAt) return;
			const weight = before?.kept.session === kept.session ? before.weight : weightOf(kept.session);
			drop(sessionId);
			entries.set(sessionId, { kept, weight });
			bytes += weight;
			for (const oldest of entries.keys()) {
				if (bytes <= maxBytes) break;
				drop(oldest);
			}
		},
	};
}

/** V8 takes two bytes for each character of a text with any character beyond Latin-1, else one. */
const CHARACTER_BYTES = 2;
/** One object with the headers of its strings; 130 to 165 were measured. */
const OBJECT_BYTES = 200;
const SESSION_BYTES = 2_000;

/**
 * The most memory that a session can take, in bytes. Measured in multiples of its body: 0.01 (fields that nobody reads),
 * 1.0 (English), 2.0 (English with one € in each text), 65 (`[0,0,0,…]`).
 */
function weightOf(session: Session): number {
	let characters = session.name.length + session.status.length + session.sessionDetails.length;
	characters += session.lastScreenshotUrl?.length ?? 0;
	let objects = session.messages.length + session.files.length + session.sessionVariables.length;
	for (const message of session.messages) {
		objects += message.actions.length + message.humanInput.length;
		characters += charactersOf(message);
	}
	for (const { filename, signedUrl } of session.files) characters += filename.length + (signedUrl?.length ?? 0);
	for (const { name, value } of session.sessionVariables) characters += name.length + value.length;
	return SESSION_BYTES + OBJECT_BYTES * objects + CHARACTER_BYTES * characters;
}

function charactersOf({ role, content, actions, humanInput }: Message): number {
	let characters = role.length + content.length;
	for (const action of actions) {
		for (const value of Object.values(action)) if (typeof value === 'string') characters += value.length;
	}
	for (const { title, description, value, raw } of humanInput) {
		characters += title.length + description.length + value.length;
		for (const json of Object.values(raw ?? {})) characters += json.length;
	}
	return characters;
}
