/** A session as Handraise sees it. `session-service/schema.ts` produces it from the service's JSON. */
export interface Session {
	readonly sessionId: string;
	/** `active`, `humanInput`, `inactive`, `paused`, `stopped`, `completed`, `failed`, or an unknown status. */
	readonly status: string;
	readonly name: string;
	readonly messages: readonly Message[];
	readonly files: readonly SessionFile[];
	/** As the service sent it; may not be ISO 8601. */
	readonly startTime: string | null;
	readonly endTime: string | null;
	/** Pre-signed: whoever has it has access for seven days. Never posted in a channel. */
	readonly lastScreenshotUrl: string | null;
	readonly lastScreenshotTimestamp: string | null;
	/** The values are often passwords and are never shown. */
	readonly sessionVariables: readonly { readonly name: string; readonly value: string }[];
	readonly sessionDetails: string;
	readonly maxSteps: number;
}

export interface Message {
	/** `assistant`, `user` or an unknown role. */
	readonly role: string;
	readonly content: string;
	readonly actions: readonly AgentAction[];
	/** Identified by position: titles can repeat and can be empty. */
	readonly humanInput: readonly HumanInputItem[];
}

export interface HumanInputItem {
	readonly title: string;
	readonly description: string;
	/** Empty until somebody answers. */
	readonly value: string;
	readonly raw?: RawTexts;
}

/** The JSON texts of an item's fields that are not strings: sent back unchanged and never shown, stored or hashed. */
export type RawTexts = { readonly [Text in 'title' | 'description' | 'value']?: string };

/** One thing the agent did, reduced to what may be shown. */
export type AgentAction =
	| { readonly kind: 'click' }
	/** Only the host is kept, because paths and queries carry tokens. Empty when the address cannot be parsed. */
	| { readonly kind: 'open'; readonly host: string }
	/** `text` is the session's result, in Markdown. */
	| { readonly kind: 'done'; readonly text: string }
	| { readonly kind: 'saveFile'; readonly filename: string; readonly deleted: boolean }
	/** Any other action; only its name is kept. */
	| { readonly kind: 'other'; readonly name: string };

export interface SessionFile {
	readonly filename: string;
	/** Pre-signed, see `lastScreenshotUrl`. */
	readonly signedUrl: string | null;
	readonly timestamp: string | null;
}

const KNOWN_STATUSES = ['active', 'humanInput', 'inactive', 'paused', 'stopped', 'completed', 'failed'] as const;

export type StatusKind = (typeof KNOWN_STATUSES)[number] | 'unknown';

/** A session as the service's list shows it. */
export interface ListedSession {
	readonly sessionId: string;
	readonly name: string;
	readonly status: string;
	/** When it was last saved through the service, by the service's clock; null: unknown. Agents may not change it. */
	readonly updatedAt: number | null;
}

/** Compares exactly, as the service does: `Active` is unknown. */
export function statusKind(status: string): StatusKind {
	return KNOWN_STATUSES.find((known) => known === status) ?? 'unknown';
}

/** The service still saves answers to such a session, but no agent reads them. */
export function isOver(status: string): boolean {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

/** The agent waits for a person. */
export function isWaiting(status: string): boolean {
	return status === 'humanInput';
}

export interface HistoryEntry {
	readonly messageIndex: number;
	/** 1 for the first assistant message; null for messages of other roles. */
	readonly step: number | null;
	readonly message: Message;
}

/** The step is the number of assistant messages so far. It can exceed `maxSteps`. */
export function stepOf(session: Pick<Session, 'messages' | 'maxSteps'>): { step: number; maxSteps: number } {
	return { step: assistantCountOf(session), maxSteps: session.maxSteps };
}

/** Grows when the agent goes on. */
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

/** The newest `limit` assistant messages, newest first. */
export function latestAssistantMessages(session: Pick<Session, 'messages'>, limit: number) {
	const steps = newestFirst(session).flatMap(({ step, message }) => (step === null ? [] : [{ step, message }]));
	return steps.slice(0, limit);
}

/** The newest `limit` messages after skipping `skip` of them, newest first, of any role. Without the task. */
export function latestHistory(session: Pick<Session, 'messages'>, limit: number, skip = 0): HistoryEntry[] {
	const taskIndex = session.messages.findIndex((message) => message.role === 'user');
	const entries = newestFirst(session).filter(({ messageIndex }) => messageIndex !== taskIndex);
	return entries.slice(skip, skip + limit);
}

/**
 * Milliseconds from the session's start to its end, or to `now` while it is not over; null when that is unknown. Never
 * negative, although clocks differ.
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
