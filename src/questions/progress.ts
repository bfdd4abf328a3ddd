import { isOver, type Message, type Session } from './session.ts';

/** The service's default. */
const DEFAULT_MAX_STEPS = 30;

/** One message of the history, with its numbers. */
export interface HistoryEntry {
	readonly messageIndex: number;
	/** 1 for the first assistant message; null for messages of other roles. */
	readonly step: number | null;
	readonly message: Message;
}

/** The step is the number of assistant messages so far. It can exceed `maxSteps`. */
export function stepOf(session: Pick<Session, 'messages' | 'maxSteps'>): { step: number; maxSteps: number } {
	const { maxSteps } = session;
	return {
		step: assistantCountOf(session),
		maxSteps: Number.isSafeInteger(maxSteps) && maxSteps > 0 ? maxSteps : DEFAULT_MAX_STEPS,
	};
}

/** The number of assistant messages. It grows when the agent goes on. */
export function assistantCountOf(session: Pick<Session, 'messages'>): number {
	return session.messages.filter((message) => message.role === 'assistant').length;
}

/** The text of the first user message; null when there is none or it is empty. */
export function taskOf(session: Pick<Session, 'messages'>): string | null {
	return session.messages.find((message) => message.role === 'user')?.content || null;
}

/** The text of the newest `done` action, in Markdown; null when there is none or it is empty. */
export function resultOf(session: Pick<Session, 'messages'>): string | null {
	const actions = session.messages.flatMap((message) => message.actions);
	return actions.findLast((action) => action.kind === 'done')?.text || null;
}

/** The newest `limit` assistant messages after skipping `skip` of them, newest first. */
export function latestAssistantMessages(
	session: Pick<Session, 'messages'>,
	limit: number,
	skip = 0,
): (HistoryEntry & { readonly step: number })[] {
	const steps = newestFirst(session).flatMap((entry) => (entry.step === null ? [] : [{ ...entry, step: entry.step }]));
	return steps.slice(skip, skip + limit);
}

/**
 * The newest `limit` messages after skipping `skip` of them, newest first. Messages of any role belong to the history,
 * except the task.
 */
export function latestHistory(session: Pick<Session, 'messages'>, limit: number, skip = 0): HistoryEntry[] {
	const taskIndex = session.messages.findIndex((message) => message.role === 'user');
	const entries = newestFirst(session).filter(({ messageIndex }) => messageIndex !== taskIndex);
	return entries.slice(skip, skip + limit);
}

/**
 * Milliseconds from the session's start to its end, or to `now` (milliseconds since the epoch) while it is not over. Null
 * when the start, or the end of a session that is over, is missing or unreadable. Never negative, although clocks differ.
 */
export function ageOf(session: Pick<Session, 'status' | 'startTime' | 'endTime'>, now: number): number | null {
	const start = parseTime(session.startTime);
	if (start === null) return null;
	// A session that was continued may still have the end of its first run.
	const end = isOver(session.status) ? parseTime(session.endTime) : now;
	return end === null ? null : Math.max(0, end - start);
}

/** Milliseconds since the epoch of an ISO 8601 time, else null. `Date.parse` alone takes `1` for the year 2001. */
export function parseTime(text: string | null): number | null {
	if (text === null || !/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
	const time = Date.parse(text);
	return Number.isNaN(time) ? null : time;
}

function newestFirst({ messages }: Pick<Session, 'messages'>): HistoryEntry[] {
	let steps = 0;
	const entries = messages.map((message, messageIndex) => {
		if (message.role !== 'assistant') return { messageIndex, step: null, message };
		steps += 1;
		return { messageIndex, step: steps, message };
	});
	return entries.reverse();
}
