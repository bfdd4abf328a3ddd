import { gated, type ReadItem, type ReadMessage, type ReadSession } from '../../src/domain/gate.ts';
import * as hashes from '../../src/domain/hashes.ts';
import type { SentItem, Session } from '../../src/domain/session.ts';
import { runSync } from '../../src/kernel/slices.ts';
import { readSessionResponse } from '../../src/service/schema.ts';

/** A session as it was read: by default it waits for a person and has no messages. */
export function readSession(fields: Partial<ReadSession> = {}): ReadSession {
	return {
		sessionId: '3f9a2c1d',
		status: 'humanInput',
		name: '',
		messages: [],
		files: [],
		startTime: null,
		endTime: null,
		lastScreenshotUrl: null,
		sessionDetails: '',
		...fields,
	};
}

/** A session as the program knows it. */
export function throughGate(read: ReadSession): Session {
	return runSync(gated(read));
}

/** Reads what the service sends for this value. Null for what is no session. */
export function readResponse(value: unknown, sessionId: string): ReadSession | null {
	return runSync(readSessionResponse(value, JSON.stringify(value), sessionId));
}

/** Null for what is no session. */
export function gatedResponse(value: unknown, sessionId: string): Session | null {
	const read = readResponse(value, sessionId);
	return read && throughGate(read);
}

export function buildSession(fields: Partial<ReadSession> = {}): Session {
	return throughGate(readSession(fields));
}

export const fingerprintOf = (items: Parameters<typeof hashes.fingerprintOf>[0]) =>
	runSync(hashes.fingerprintOf(items));
export const hashOfTexts = (all: readonly string[]) => runSync(hashes.hashOfTexts(all));

export function shownHashOf({ content, humanInput }: Pick<ReadMessage, 'content' | 'humanInput'>): string {
	return runSync(hashes.shownHashOf(content, humanInput));
}

/** Items as the service sent them. */
export const sentItems = (items: readonly ReadItem[]) => items as unknown as readonly SentItem[];

/** A message without actions and questions. */
export function saying(content: string, role = 'assistant'): ReadMessage {
	return { role, content, actions: [], humanInput: [] };
}

/** An item without an answer. */
export function unanswered(title: string): ReadItem {
	return { title, description: '', value: '' };
}
