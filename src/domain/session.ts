import { z } from 'zod';
import { each, eachIn } from '../kernel/lease-loop.ts';
import { parseAddress, pick } from '../kernel/values.ts';
import { fingerprintOf, hashOfTexts, type SentText, type ShownText, shown, shownHashOf } from './texts.ts';

export interface SessionKey {
	/** The service's base address: one database may hold the sessions of several. */
	readonly service: string;
	readonly sessionId: string;
}

/** A session as Handraise sees it: `service/schema.ts` reads it from JSON, and `gated` bounds its texts. */
export interface Session {
	readonly sessionId: string;
	/** `active`, `humanInput`, `inactive`, `paused`, `stopped`, `completed`, `failed`, or an unknown one, as `Active`. */
	readonly status: string;
	readonly name: string;
	readonly messages: readonly Message[];
	/** `signedUrl`: pre-signed, see `lastScreenshotUrl`. */
	readonly files: readonly { readonly filename: string; readonly signedUrl: string | null }[];
	/** As the service sent it; may not be ISO 8601. */
	readonly startTime: string | null;
	readonly endTime: string | null;
	/** Pre-signed: whoever has it has access for seven days. Never posted in a channel. */
	readonly lastScreenshotUrl: string | null;
	/** Their names. The values are often passwords and are not kept. */
	readonly sessionDetails: string;
	/** Of the whole result; null while there is none. */
	readonly resultHash: string | null;
	/** Of the file names in order, without links and times, which the service renews by itself. */
	readonly filesHash: string;
}

/** Of a session of which only the question is known. */
export const NOTHING_ELSE = {
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
	/** `content` is not all of the text. */
	readonly isCut: boolean;
	readonly actions: readonly AgentAction[];
	/** Identified by position: titles can repeat and can be empty. */
	readonly humanInput: readonly HumanInputItem[];
	/** The same items for the PUT. */
	readonly sent: readonly SentItem[];
	/** Identifies the question (`fingerprintOf`); empty without items, like `shownHash`. */
	readonly fingerprint: string;
	readonly shownHash: string;
}

/** The texts of an item. Its value is empty until somebody answers. */
export type ItemOf<Text> = Readonly<Record<'title' | 'description' | 'value', Text>>;

/** `isCut`: title and description are cut, or the rules do not read them. Then it counts as secret. */
export type HumanInputItem = ItemOf<ShownText> & { readonly isCut: boolean };

/** What rules look at. `isCut`: see `HumanInputItem`; left out of what is stored, which has a mark of its own. */
export interface ItemTexts {
	readonly title: string;
	readonly description: string;
	readonly isCut?: boolean;
}

export type SentItem = ItemOf<SentText> & { readonly raw?: RawTexts };

/** The JSON texts of an item's fields that are not strings: sent back unchanged and never shown, stored or hashed. */
export type RawTexts = Partial<ItemOf<string>>;

export const agentAction = z
	.object({
		kind: z.enum(['click', 'open', 'done', 'saveFile', 'deleteFile', 'other']),
		/**
		 * Of `open`: the host, because paths and queries carry tokens; empty when the address cannot be parsed. Of `done`:
		 * the session's result, in Markdown. Of a file: its name. Of any other action: its name, which is all that is kept.
		 */
		text: z.string(),
	})
	.readonly();
/** One thing the agent did, reduced to what may be shown. */
export type AgentAction = z.infer<typeof agentAction>;

export interface ListedSession {
	readonly sessionId: string;
	readonly name: string;
	readonly status: string;
	/** When it was last saved through the service, by the service's clock; null: unknown. Agents may not change it. */
	readonly updatedAt: number | null;
}

/** The service still saves answers to such a session, but no agent reads them. */
export function isOver(status: string): status is 'completed' | 'failed' | 'stopped' {
	return status === 'completed' || status === 'failed' || status === 'stopped';
}

export const isWaiting = (status: string) => status === 'humanInput';

/** The step: grows when the agent goes on. */
export const assistantCountOf = (session: Pick<Session, 'messages'>) => stepsSince(session, -1);

/** How many messages the agent has written after this one. A count of all falls with a compacted history. */
export function stepsSince({ messages }: Pick<Session, 'messages'>, messageIndex: number): number {
	return messages.slice(messageIndex + 1).filter((message) => message.role === 'assistant').length;
}

export function taskOf(session: Pick<Session, 'messages'>): string | null {
	return session.messages.find((message) => message.role === 'user')?.content || null;
}

/** The text of the newest `done` action, in Markdown; null when there is none or it is empty. */
export function resultOf(session: { readonly messages: readonly Pick<Message, 'actions'>[] }): string | null {
	const actions = session.messages.flatMap((message) => message.actions);
	return actions.findLast((action) => action.kind === 'done')?.text || null;
}

export function latestAssistantMessages(session: Pick<Session, 'messages'>, limit: number) {
	const steps = newestFirst(session).flatMap(({ step, message }) => (step === null ? [] : [{ step, message }]));
	return steps.slice(0, limit);
}

/** The newest `limit` messages after skipping `skip` of them, newest first, of any role. Without the task. */
export function latestHistory(session: Pick<Session, 'messages'>, limit: number, skip = 0) {
	const taskIndex = session.messages.findIndex((message) => message.role === 'user');
	const entries = newestFirst(session).filter(({ messageIndex }) => messageIndex !== taskIndex);
	return entries.slice(skip, skip + limit);
}

/** Milliseconds from its start to its end or to `now`; null: unknown. Never negative, although clocks differ. */
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
	/** A newer assistant message exists. The question can still be answered. */
	readonly goneOn: boolean;
	readonly stepsSince: number;
	/** What the agent wrote in the message that asks; `isCut`: not all of it. */
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

/** The positions of a question that are not open although empty: `occurrencesIn` knows what arrived there. */
export type ClosedItems = (messageIndex: number) => ReadonlySet<number>;

/** Whether any of these items has a value. White space is a value. */
export const isAnswered = (items: readonly { readonly value: string }[]) => items.some((item) => item.value !== '');

/** The index of the newest message that asks, answered or not; null when none asks. */
export function askingMessageIndex(session: Pick<Session, 'messages'>): number | null {
	const index = session.messages.findLastIndex(asks);
	return index === -1 ? null : index;
}

/**
 * The question that waits for a person now; null when nothing is open or the session is over. Only the newest message
 * that asks counts. Its empty items are open but those in `closedItems`. Without these, none is open once an item has a
 * value, unless the status is `humanInput`.
 */
export function openQuestion(session: Session, closedItems?: ClosedItems): Question | null {
	const question = questionAt(session, askingMessageIndex(session) ?? -1, closedItems);
	return question !== null && question.openItems.length > 0 ? question : null;
}

/** A message's question, even if a newer one asks; null: it asks nothing. Nothing is open once the session is over. */
export function questionAt(session: Session, messageIndex: number, closedItems?: ClosedItems): Question | null {
	const message = session.messages[messageIndex];
	if (message === undefined || !asks(message)) return null;
	const items = message.humanInput;
	const closed = closedItems?.(messageIndex);
	// Where nothing is known of earlier reads, the values and the status decide.
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

/** A question as somebody saw it. `fingerprint` null: none; `shownHash` null: not known. */
export interface Shown {
	readonly fingerprint: string | null;
	readonly shownHash: string | null;
}

/** Whether the question is the one that was shown, wherever it stands now. */
export function isSameQuestion(shown: Shown, question: Shown): boolean {
	return shown.fingerprint === question.fingerprint && !isReworded(shown.shownHash, question.shownHash);
}

export type Became = 'answered' | 'changed' | 'moved' | 'ended';

/** What became of a question that was shown; null while it is open. */
export function becameOf(session: Session, shown: Shown & { readonly messageIndex: number }): Became | null {
	const open = openQuestion(session);
	const isSame = open !== null && isSameQuestion(shown, open);
	if (isSame && open.messageIndex === shown.messageIndex) return null;
	if (isOver(session.status)) return 'ended';
	const asked = questionAt(session, shown.messageIndex);
	if (asked?.fingerprint === shown.fingerprint && isAnswered(asked.items)) return 'answered';
	return isSame ? 'moved' : 'changed';
}

/** A session as it was read, with whole texts. Only the gate takes it. */
export interface ReadSession extends Omit<Session, 'messages' | 'resultHash' | 'filesHash'> {
	readonly messages: readonly ReadMessage[];
}

/** `actions`: `open` with the whole address. */
export interface ReadMessage extends Pick<Message, 'role' | 'actions'> {
	readonly content: string;
	readonly humanInput: readonly ReadItem[];
}

export type ReadItem = ItemOf<string> & Pick<SentItem, 'raw'>;

/** Code points of an item's title, description and value, and of any other text. */
const MOST_OF_ITEM = 8_000;
const MOST_OF_TEXT = 20_000;
/** Items of a message that the rules read. A form in Slack holds as many. */
const MOST_ITEMS = 90;
/** UTF-16 units of all these items. The service takes no answer to a longer question: its PUT would be too large. */
const MOST_EXAMINED = 100_000;

/**
 * The only way of a session into the program. It bounds all that people and rules see, keeps what the PUT sends back,
 * makes the hashes, and yields every few milliseconds.
 */
export function* gated(read: ReadSession): Generator<void, Session> {
	const result = resultOf(read);
	return {
		...read,
		status: textOf(read.status),
		name: textOf(read.name),
		sessionDetails: textOf(read.sessionDetails),
		messages: yield* eachIn(read.messages, gatedMessage),
		files: yield* each(read.files, (file) => ({ ...file, filename: textOf(file.filename) })),
		resultHash: result === null ? null : yield* hashOfTexts([result]),
		filesHash: yield* hashOfTexts(read.files.map(({ filename }) => filename)),
	};
}

const textOf = (text: string) => shown(text, MOST_OF_TEXT).text;

function* gatedMessage({ role, content, actions, humanInput }: ReadMessage): Generator<void, Message> {
	const { text, isCut } = shown(content, MOST_OF_TEXT);
	const hasItems = humanInput.length > 0;
	let room = MOST_EXAMINED;
	let left = MOST_ITEMS;
	return {
		role: textOf(role),
		content: text,
		isCut,
		actions: yield* each(actions, (one) => ({ ...one, text: (one.kind === 'open' ? hostOf : textOf)(one.text) })),
		humanInput: yield* each(humanInput, ({ title, description, value, raw = {} }) => {
			// A number as the agent wrote it. Version 1.0.0 made the fingerprint of the parsed one, so it stays.
			const named = shown(title && (raw.title ?? title), MOST_OF_ITEM);
			const described = shown(description && (raw.description ?? description), MOST_OF_ITEM);
			room -= title.length + description.length;
			left--;
			const isRead = left >= 0 && room >= 0 && !named.isCut && !described.isCut;
			return { title: named.text, description: described.text, value: shown(value, MOST_OF_ITEM).text, isCut: !isRead };
		}),
		sent: humanInput as readonly unknown[] as readonly SentItem[],
		fingerprint: hasItems ? yield* fingerprintOf(humanInput) : '',
		shownHash: hasItems ? yield* shownHashOf(content, humanInput) : '',
	};
}

/** Only the host and port are kept: user names, paths and queries contain secrets. */
function hostOf(whole: string): string {
	const address = whole.trim();
	// People and agents write "example.org:8080/path" for an address; "javascript:…" and "file:…" are none.
	const url = parseAddress(/^[\w.-]+\.[\w-]+(:\d+)?([/?#]|$)/.test(address) ? `https://${address}` : address);
	return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.host : '';
}

export interface QuestionKey extends SessionKey {
	readonly messageIndex: number;
}
