import { isOver, type Message, type Session } from './session.ts';

/** What the service takes when a session names no maximum. */
const DEFAULT_MAX_STEPS = 30;

/** One message of the history, with the numbers a person knows it by. */
export interface HistoryEntry {
	readonly messageIndex: number;
	/** The step number (1 for the first assistant message); null for messages of other roles. */
	readonly step: number | null;
	readonly message: Message;
}

/** The step a person knows is the count of assistant messages so far; it may exceed `maxSteps`. */
export function stepOf(session: Pick<Session, 'messages' | 'maxSteps'>): { step: number; maxSteps: number } {
	const { maxSteps } = session;
	return {
		step: assistantCountOf(session),
		maxSteps: Number.isSafeInteger(maxSteps) && maxSteps > 0 ? maxSteps : DEFAULT_MAX_STEPS,
	};
}

/** How many assistant messages there are: what grows when the agent goes on. */
export function assistantCountOf(session: Pick<Session, 'messages'>): number {
	let count = 0;
	for (const message of session.messages) if (message.role === 'assistant') count += 1;
	return count;
}

/** The task is what the first user message says; null when there is none or it says nothing. */
export function taskOf(session: Pick<Session, 'messages'>): string | null {
	return session.messages.find((message) => message.role === 'user')?.content || null;
}

/** The text of the newest `done` action, in Markdown; null when there is none or it says nothing. */
export function resultOf(session: Pick<Session, 'messages'>): string | null {
	for (let index = session.messages.length - 1; index >= 0; index -= 1) {
		const done = session.messages[index]?.actions.findLast((action) => action.kind === 'done');
		if (done !== undefined) return done.text || null;
	}
	return null;
}

/** The newest `limit` assistant messages after skipping `skip` of them, newest first. */
export function latestAssistantMessages(
	session: Pick<Session, 'messages'>,
	limit: number,
	skip = 0,
): (HistoryEntry & { readonly step: number })[] {
	const entries: (HistoryEntry & { readonly step: number })[] = [];
	for (const entry of newestFirst(session)) {
		if (entry.step === null) continue;
		if (entries.length >= limit) break;
		if (skip > 0) skip -= 1;
		else entries.push({ ...entry, step: entry.step });
	}
	return entries;
}

/**
 * The newest `limit` messages of any role after skipping `skip` of them, newest first, without the task's: what people
 * said later and roles nobody has seen yet belong to the history.
 */
export function latestHistory(session: Pick<Session, 'messages'>, limit: number, skip = 0): HistoryEntry[] {
	const taskIndex = session.messages.findIndex((message) => message.role === 'user');
	const entries: HistoryEntry[] = [];
	for (const entry of newestFirst(session)) {
		if (entries.length >= limit) break;
		if (entry.messageIndex === taskIndex) continue;
		if (skip > 0) skip -= 1;
		else entries.push(entry);
	}
	return entries;
}

/**
 * Milliseconds from the session's start to its end, or to `now` (milliseconds since the epoch) while it goes on; null
 * when the service gave no readable start, or no end of a session that is over. Never negative: clocks differ.
 */
export function ageOf(session: Pick<Session, 'status' | 'startTime' | 'endTime'>, now: number): number | null {
	const start = parseTime(session.startTime);
	if (start === null) return null;
	// A session that was taken up again may still carry the end of its first run.
	const end = isOver(session.status) ? parseTime(session.endTime) : now;
	return end === null ? null : Math.max(0, end - start);
}

/** Milliseconds since the epoch of an ISO 8601 time; null when it is not one (`Date.parse` alone takes `1` for 2001). */
export function parseTime(text: string | null): number | null {
	if (text === null || !/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
	const time = Date.parse(text);
	return Number.isNaN(time) ? null : time;
}

function* newestFirst(session: Pick<Session, 'messages'>): Generator<HistoryEntry> {
	let step = assistantCountOf(session);
	for (let messageIndex = session.messages.length - 1; messageIndex >= 0; messageIndex -= 1) {
		const message = session.messages[messageIndex] as Message;
		const isStep = message.role === 'assistant';
		yield { messageIndex, step: isStep ? step : null, message };
		if (isStep) step -= 1;
	}
}
