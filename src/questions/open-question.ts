import { fingerprintOf } from './fingerprint.ts';
import { type HumanInputItem, isOver, isWaiting, type Message, type Session } from './session.ts';

/** What one message asks, and how much of it is still open. */
export interface Question {
	readonly messageIndex: number;
	/** All items of the message, in order; known by their positions, since titles repeat. */
	readonly items: readonly HumanInputItem[];
	/** The positions that still wait for a value, ascending. */
	readonly openItems: readonly number[];
	/** See `fingerprintOf`. */
	readonly fingerprint: string;
	/** A newer assistant message exists: the agent has gone on since, the question may still be answered. */
	readonly goneOn: boolean;
	/** What the agent wrote in the message that asks. */
	readonly context: string;
}

/** The positions that earlier answers of ours left empty on purpose; they count as answered. */
export type LeftEmpty = (messageIndex: number) => ReadonlySet<number>;

const NOTHING: ReadonlySet<number> = new Set();
const LEFT_NOTHING_EMPTY: LeftEmpty = () => NOTHING;

/** Whether anybody has given any of these items a value; white space is a value. */
export function isAnswered(items: readonly Pick<HumanInputItem, 'value'>[]): boolean {
	return items.some((item) => item.value !== '');
}

/** The index of the newest message that asks, answered or not; null when the agent never did. */
export function askingMessageIndex(session: Pick<Session, 'messages'>): number | null {
	const index = session.messages.findLastIndex(asks);
	return index === -1 ? null : index;
}

/**
 * The question that waits for a person now. The newest message that asks is open as a whole while none of its items has
 * a value. Once one has, the items still empty are open only while the status is `humanInput`, except
 * those that an answer of ours left empty. Null when nothing is open and when the session is over.
 */
export function openQuestion(session: Session, leftEmpty: LeftEmpty = LEFT_NOTHING_EMPTY): Question | null {
	const index = askingMessageIndex(session);
	if (index === null) return null;
	const question = questionAt(session, index, leftEmpty);
	return question !== null && question.openItems.length > 0 ? question : null;
}

/**
 * The question of one message, open or not (`openItems` is empty when nothing waits, and always once the session is
 * over); null when there is no such message or it asks nothing. Whether a newer message asks is not its concern.
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
		openItems: openItemsOf(session, items, messageIndex, leftEmpty),
		fingerprint: fingerprintOf(items),
		goneOn: session.messages.findLastIndex((other) => other.role === 'assistant') > messageIndex,
		context: message.content,
	};
}

/** The positions of `items` that still wait for a value, by the rule of `openQuestion`. */
export function openItemsOf(
	session: Pick<Session, 'status'>,
	items: readonly Pick<HumanInputItem, 'value'>[],
	messageIndex: number,
	leftEmpty: LeftEmpty = LEFT_NOTHING_EMPTY,
): number[] {
	if (isOver(session.status)) return [];
	const answered = isAnswered(items);
	if (answered && !isWaiting(session.status)) return [];
	const left = answered ? leftEmpty(messageIndex) : NOTHING;
	const open: number[] = [];
	items.forEach((item, position) => {
		if (item.value === '' && !left.has(position)) open.push(position);
	});
	return open;
}

/** Items on a message of any role but `user` are a question: the service's own page shows them all. */
export function asks(message: Pick<Message, 'role' | 'humanInput'>): boolean {
	return message.role !== 'user' && message.humanInput.length > 0;
}
