import { fingerprintOf, shownHashOf } from './fingerprint.ts';
import { type HumanInputItem, isOver, isWaiting, type Message, type Session } from './session.ts';

/** What one message asks, and which items are still open. */
export interface Question {
	readonly messageIndex: number;
	/** All items of the message, in order. */
	readonly items: readonly HumanInputItem[];
	/** The positions that still need a value, ascending. */
	readonly openItems: readonly number[];
	/** See `fingerprintOf`. */
	readonly fingerprint: string;
	readonly shownHash: string;
	/** A newer assistant message exists. The question can still be answered. */
	readonly goneOn: boolean;
	/** What the agent wrote in the message that asks. */
	readonly context: string;
}

/** The positions that delivered answers of ours left empty on purpose. They count as answered. */
export type LeftEmpty = (messageIndex: number) => ReadonlySet<number>;

const NO_POSITIONS: ReadonlySet<number> = new Set();
const LEFT_NOTHING_EMPTY: LeftEmpty = () => NO_POSITIONS;

/** Whether any of these items has a value. White space is a value. */
export function isAnswered(items: readonly Pick<HumanInputItem, 'value'>[]): boolean {
	return items.some((item) => item.value !== '');
}

/** The index of the newest message that asks, answered or not; null when none asks. */
export function askingMessageIndex(session: Pick<Session, 'messages'>): number | null {
	const index = session.messages.findLastIndex(asks);
	return index === -1 ? null : index;
}

/**
 * The question that waits for a person now; null when nothing is open or the session is over. Only the newest message
 * that asks counts. While none of its items has a value, all are open. Once one has a value, the empty ones are open only
 * while the status is `humanInput`, except those in `leftEmpty`.
 */
export function openQuestion(session: Session, leftEmpty: LeftEmpty = LEFT_NOTHING_EMPTY): Question | null {
	const index = askingMessageIndex(session);
	if (index === null) return null;
	const question = questionAt(session, index, leftEmpty);
	return question !== null && question.openItems.length > 0 ? question : null;
}

/**
 * The question of one message, open or not, even when a newer message asks; null when the message does not exist or
 * does not ask. `openItems` is empty once the session is over.
 */
export function questionAt(
	session: Session,
	messageIndex: number,
	leftEmpty: LeftEmpty = LEFT_NOTHING_EMPTY,
): Question | null {
	const message = session.messages[messageIndex];
	if (message === undefined || !asks(message)) return null;
	const items = message.humanInput;
	return {
		messageIndex,
		items,
		openItems: openItemsOf(session.status, items, () => leftEmpty(messageIndex)),
		fingerprint: fingerprintOf(items),
		shownHash: shownHashOf(message),
		goneOn: session.messages.findLastIndex((other) => other.role === 'assistant') > messageIndex,
		context: message.content,
	};
}

/** The open positions of `items`, by the rule of `openQuestion`. */
function openItemsOf(status: string, items: readonly HumanInputItem[], leftEmpty: () => ReadonlySet<number>): number[] {
	const answered = isAnswered(items);
	if (isOver(status) || (answered && !isWaiting(status))) return [];
	const left = answered ? leftEmpty() : NO_POSITIONS;
	return items.flatMap((item, position) => (item.value === '' && !left.has(position) ? [position] : []));
}

/** Items on a message of any role but `user` are a question, as on the service's own page. */
export function asks(message: Pick<Message, 'role' | 'humanInput'>): boolean {
	return message.role !== 'user' && message.humanInput.length > 0;
}
