import { z } from 'zod';
import { pick } from '../kernel/values.ts';
import type { SentText, ShownText } from './texts.ts';

export interface SessionKey {
	/** The service's base address. One database may hold sessions of several services. */
	readonly service: string;
	readonly sessionId: string;
}

/** A session as Handraise sees it: `service/schema.ts` reads its JSON, and `gate.ts` bounds its texts. */
export interface Session {
	readonly sessionId: string;
	/** `active`, `humanInput`, `inactive`, `paused`, `stopped`, `completed`, `failed`, or an unknown one. */
	readonly status: string;
	readonly name: string;
	readonly messages: readonly Message[];
	/** `signedUrl`: gives access, see `lastScreenshotUrl`. */
	readonly files: readonly { readonly filename: string; readonly signedUrl: string | null }[];
	/** As the service sent it; may not be ISO 8601. */
	readonly startTime: string | null;
	readonly endTime: string | null;
	/** A pre-signed URL: whoever has it has access for seven days. Never posted in a channel. */
	readonly lastScreenshotUrl: string | null;
	/** Free text about the session. */
	readonly sessionDetails: string;
	/** A hash of the whole result; null: there is none. */
	readonly resultHash: string | null;
	/** A hash of the file names in order. Links and times do not count, because the service renews them. */
	readonly filesHash: string;
}

/** The other fields of a session of which only the question is known. */
export const EMPTY_SESSION_FIELDS = {
	files: [],
	startTime: null,
	endTime: null,
	lastScreenshotUrl: null,
	sessionDetails: '',
} as const satisfies Partial<Session>;

export interface Message {
	/** `assistant`, `user` or an unknown role. */
	readonly role: string;
	readonly content: ShownText;
	/** `content` is cut. */
	readonly isCut: boolean;
	readonly actions: readonly AgentAction[];
	/** The items of the question. Position identifies an item: titles can repeat and can be empty. */
	readonly humanInput: readonly HumanInputItem[];
	/** The same items for the PUT. */
	readonly sent: readonly SentItem[];
	/** Identifies the question (`fingerprintOf`). Empty without items, like `shownHash`. */
	readonly fingerprint: string;
	readonly shownHash: string;
}

/** The texts of an item. Its value is empty until somebody answers. */
export type ItemOf<Text> = Readonly<Record<'title' | 'description' | 'value', Text>>;

/** `isCut`: title or description is cut, or the rules do not read them. Then the item counts as secret. */
export type HumanInputItem = ItemOf<ShownText> & { readonly isCut: boolean };

/** The texts of an item that rules read. `isCut`: see `HumanInputItem`; absent in stored items. */
export interface ItemTexts {
	readonly title: string;
	readonly description: string;
	readonly isCut?: boolean;
}

export type SentItem = ItemOf<SentText> & { readonly raw?: RawTexts };

/** The JSON of an item's fields that are not strings. It is sent back unchanged and never shown, stored or hashed. */
export type RawTexts = Partial<ItemOf<string>>;

export const agentAction = z
	.object({
		kind: z.enum(['click', 'open', 'done', 'saveFile', 'deleteFile', 'other']),
		/**
		 * `open`: the host, because paths and queries carry tokens; empty: the address cannot be parsed. `done`: the
		 * session's result in Markdown. `saveFile`, `deleteFile`: the file's name. `other`: the name of the action.
		 */
		text: z.string(),
	})
	.readonly();
/** One action of the agent, reduced to what may be shown. */
export type AgentAction = z.infer<typeof agentAction>;

export interface ListedSession {
	readonly sessionId: string;
	readonly name: string;
	readonly status: string;
	/** When the session was last saved, by the service's clock; null: unknown. Work of the agent may not change it. */
	readonly updatedAt: number | null;
}

/** The service still saves answers to such a session, but no agent reads them. */
export function isOver(status: string): status is 'completed' | 'failed' | 'stopped' {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

export const isWaiting = (status: string) => status === 'humanInput';

/** The number of the agent's messages, which people see as the step. */
export const assistantCountOf = (session: Pick<Session, 'messages'>) => stepsSince(session, -1);

/** How many messages the agent wrote after this one. A count of all would fall when a history is compacted. */
export function stepsSince({ messages }: Pick<Session, 'messages'>, messageIndex: number): number {
	return messages.slice(messageIndex + 1).filter((message) => message.role === 'assistant').length;
}

export function taskOf(session: Pick<Session, 'messages'>): string | null {
	return session.messages.find((message) => message.role === 'user')?.content || null;
}

/** The text of the newest `done` action, in Markdown; null: there is none, or it is empty. */
export function resultOf(session: { readonly messages: readonly Pick<Message, 'actions'>[] }): string | null {
	const actions = session.messages.flatMap((message) => message.actions);
	return actions.findLast((action) => action.kind === 'done')?.text || null;
}

export function latestAssistantMessages(session: Pick<Session, 'messages'>, limit: number) {
	const steps = newestFirst(session).flatMap(({ step, message }) => (step === null ? [] : [{ step, message }]));
	return steps.slice(0, limit);
}

/** Messages of any role without the task, newest first: `limit` of them after the first `skip`. */
export function latestHistory(session: Pick<Session, 'messages'>, limit: number, skip = 0) {
	const taskIndex = session.messages.findIndex((message) => message.role === 'user');
	const entries = newestFirst(session).filter(({ messageIndex }) => messageIndex !== taskIndex);
	return entries.slice(skip, skip + limit);
}

/** Milliseconds from a session's start to its end or `now`; null: unknown. Never negative, although clocks differ. */
export function ageOf(session: Pick<Session, 'status' | 'startTime' | 'endTime'>, now: number): number | null {
	const start = parseTime(session.startTime);
	if (start === null) return null;
	// A continued session may still have the end of its first run.
	const end = isOver(session.status) ? parseTime(session.endTime) : now;
	return end === null ? null : Math.max(0, end - start);
}

/** Milliseconds since the epoch of an ISO 8601 time, else null. `Date.parse` alone takes `1` for the year 2001. */
export function parseTime(text: string | null): number | null {
	if (text === null || !/^\d{4}-\d{2}-\d{2}/.test(text)) return null;
	const time = Date.parse(text);
	return Number.isNaN(time) ? null : time;
}

/** `step`: 1 for the first assistant message; null for messages of other roles. */
function newestFirst({ messages }: Pick<Session, 'messages'>) {
	let steps = 0;
	const entries = messages.map((message, messageIndex) => {
		return { messageIndex, step: message.role === 'assistant' ? ++steps : null, message };
	});
	return entries.reverse();
}

export interface Question extends Pick<Message, 'sent' | 'fingerprint' | 'shownHash' | 'isCut'> {
	readonly messageIndex: number;
	readonly items: readonly HumanInputItem[];
	/** The positions that still need a value, ascending. */
	readonly openItems: readonly number[];
	/** The agent wrote a newer message. The question can still be answered. */
	readonly goneOn: boolean;
	readonly stepsSince: number;
	/** The text of the asking message. `isCut`: it is not complete. */
	readonly context: ShownText;
}

export const positions = z.array(z.int()).readonly();

export const questionDigest = z
	.object({
		messageIndex: z.int(),
		fingerprint: z.string(),
		shownHash: z.string(),
		/** Positions that have a value. No hashes of values are stored: the hash of a code can be guessed. */
		answered: positions,
		open: positions,
	})
	.readonly();
export type QuestionDigest = z.infer<typeof questionDigest>;

/** The positions of a question that are not open although empty. `occurrencesIn` knows what arrived there. */
export type ClosedItems = (messageIndex: number) => ReadonlySet<number>;

/** Whether any of these items has a value. White space is a value. */
export const isAnswered = (items: readonly { readonly value: string }[]) => items.some((item) => item.value !== '');

/** The index of the newest message that asks, answered or not; null when none asks. */
export function askingMessageIndex(session: Pick<Session, 'messages'>): number | null {
	const index = session.messages.findLastIndex(asks);
	return index === -1 ? null : index;
}

/**
 * The question that waits for a person; null: nothing is open, or the session is over. Only the newest asking message
 * counts. Its empty items are open, except those in `closedItems`. Without `closedItems`, no item is open once one has
 * a value, unless the status is `humanInput`.
 */
export function openQuestion(session: Session, closedItems?: ClosedItems): Question | null {
	const question = questionAt(session, askingMessageIndex(session) ?? -1, closedItems);
	return question !== null && question.openItems.length > 0 ? question : null;
}

/** The question of a message, even if a newer one asks; null: it asks nothing. A session that is over opens no item. */
export function questionAt(session: Session, messageIndex: number, closedItems?: ClosedItems): Question | null {
	const message = session.messages[messageIndex];
	if (message === undefined || !asks(message)) return null;
	const items = message.humanInput;
	const closed = closedItems?.(messageIndex);
	// Without knowledge of earlier reads, the values and the status decide.
	const isTaken = closedItems === undefined && isAnswered(items) && !isWaiting(session.status);
	const isClosed = isOver(session.status) || isTaken;
	const open = [...items.keys()].filter((at) => items[at]?.value === '' && closed?.has(at) !== true);
	const steps = stepsSince(session, messageIndex);
	return {
		...pick(message, 'sent', 'fingerprint', 'shownHash', 'isCut'),
		messageIndex,
		items,
		openItems: isClosed ? [] : open,
		goneOn: steps > 0,
		stepsSince: steps,
		context: message.content,
	};
}

/** The positions of a message's items that have a value, ascending. */
export function filledAt({ messages }: Pick<Session, 'messages'>, messageIndex: number): number[] {
	const items = messages[messageIndex]?.humanInput ?? [];
	return items.flatMap(({ value }, position) => (value === '' ? [] : [position]));
}

/** Items on a message of any role but `user` are a question, as on the dashboard. */
export function asks(message: Pick<Message, 'role' | 'humanInput'>): boolean {
	return message.role !== 'user' && message.humanInput.length > 0;
}

/** Whether two hashes are of different texts. Null is unknown. */
export function isReworded(before: string | null, after: string | null): boolean {
	return before !== null && after !== null && before !== after;
}

/** A question as somebody saw it. `fingerprint` null: no question; `shownHash` null: not known. */
export interface QuestionVersion {
	readonly fingerprint: string | null;
	readonly shownHash: string | null;
}

/** Whether two versions are the same question with the same texts. The index of the message does not count. */
export function isSameQuestion(shown: QuestionVersion, question: QuestionVersion): boolean {
	return shown.fingerprint === question.fingerprint && !isReworded(shown.shownHash, question.shownHash);
}

export type QuestionOutcome = 'answered' | 'changed' | 'moved' | 'ended';

/** What became of a question that was shown; null: it is still open. */
export function questionOutcomeOf(
	session: Session,
	shown: QuestionVersion & { readonly messageIndex: number },
): QuestionOutcome | null {
	const open = openQuestion(session);
	const isSame = open !== null && isSameQuestion(shown, open);
	if (isSame && open.messageIndex === shown.messageIndex) return null;
	if (isOver(session.status)) return 'ended';
	const asked = questionAt(session, shown.messageIndex);
	if (asked?.fingerprint === shown.fingerprint && isAnswered(asked.items)) return 'answered';
	return isSame ? 'moved' : 'changed';
}

export interface QuestionKey extends SessionKey {
	readonly messageIndex: number;
}
