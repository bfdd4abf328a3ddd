import { fingerprintOf } from './fingerprint.ts';
import {
	askingMessageIndex,
	isAnswered,
	type LeftEmpty,
	openQuestion,
	type Question,
	questionAt,
} from './open-question.ts';
import { sameText } from './same-text.ts';
import type { AnsweredItem, HumanInputItem, Session } from './session.ts';
import { isOver, isWaiting } from './status.ts';

/**
 * An answer by position: a text for each item it fills, `''` for an item the person left empty on purpose, and null (or
 * nothing, when the list is shorter) for an item it does not touch because it was answered when the person saw it.
 */
export type OurValues = readonly (string | null)[];

/** What a read just before the PUT says about an answer that is to be sent. */
export type DeliveryComparison =
	/** Send it: `mergeForPut` overwrites nothing of anybody's. */
	| { readonly kind: 'clear' }
	/** The stored values are ours already (an earlier PUT of unknown outcome landed): do not send again. */
	| { readonly kind: 'alreadyOurs' }
	/** Somebody else's values stand there; `values` are those stored now, by position. */
	| { readonly kind: 'answeredByOther'; readonly values: readonly string[] }
	/** The question is another now, or gone; `question` is the one that is open instead, if any. */
	| { readonly kind: 'changed'; readonly question: Question | null }
	/** Nobody would read the answer. */
	| { readonly kind: 'over'; readonly status: string };

export interface DeliveryInput {
	/** The read just made. */
	readonly session: Session;
	readonly messageIndex: number;
	/** Of the question that the person saw. */
	readonly fingerprint: string;
	readonly values: OurValues;
	/** Only decides what of another question is open. */
	readonly leftEmpty?: LeftEmpty;
}

/**
 * Decides whether an answer may be sent now. In this order:
 *
 * 1. The message is there with the same fingerprint and every item we fill holds our text (`sameText`): `alreadyOurs`, even
 *    when the session is over or asks something newer by now, because our answer arrived. Items we left empty do not
 *    count, since a value of somebody else's may have been sent back there with our PUT. An answer that fills nothing
 *    is never found to be there.
 * 2. The session is over: `over`.
 * 3. The message is gone, no longer asks, or its fingerprint differs: `changed`.
 * 4. An item that we want to fill holds another text: `answeredByOther`, even if the person saw that text and even if a
 *    newer question came since: it is the fate of what the person wrote.
 * 5. An item that we left empty on purpose (`''`) holds a text now. While the status is `humanInput` the agent waits for
 *    the rest, so both answers stand; otherwise the message counts as answered as a whole: `answeredByOther`. An item
 *    with null is never a conflict: it had a value when the person saw it, and its value as it is now is sent back.
 * 6. A newer message asks: `changed`, though this one is as it was, since the agent no longer waits for it. `question` is
 *    the newer one if it is open; when it has the same fingerprint the agent has repeated itself.
 * 7. Otherwise `clear`. That includes a message answered in part before the person saw it, one of which a part equals
 *    ours, one whose agent has gone on without asking again, and `inactive`, `paused` and unknown statuses.
 */
export function compareForDelivery(input: DeliveryInput): DeliveryComparison {
	const { session, messageIndex, values, leftEmpty } = input;
	const there = questionAt(session, messageIndex);
	const items = there !== null && there.fingerprint === input.fingerprint ? there.items : null;
	if (items !== null && isAlreadyOurs(items, values)) return { kind: 'alreadyOurs' };
	if (isOver(session.status)) return { kind: 'over', status: session.status };
	if (items === null) return { kind: 'changed', question: openQuestion(session, leftEmpty) };
	if (isAnswered(items) && isTakenByOther(items, values, isWaiting(session.status))) {
		return { kind: 'answeredByOther', values: items.map((item) => item.value) };
	}
	if (askingMessageIndex(session) !== messageIndex) {
		return { kind: 'changed', question: openQuestion(session, leftEmpty) };
	}
	return { kind: 'clear' };
}

/**
 * The whole array that the PUT carries: every item in order, an item that has a value with that value (so not even a
 * mistake of the caller overwrites one), an empty one with ours, or still empty. What is not ours keeps the JSON value
 * that the service has, text or not.
 */
export function mergeForPut(items: readonly HumanInputItem[], values: OurValues): AnsweredItem[] {
	return items.map((item, position) => {
		const ours = values[position] ?? null;
		if (item.value !== '' || ours === null) return item;
		const { value: _empty, ...names } = item.raw ?? {};
		return { title: item.title, description: item.description, value: ours, ...(item.raw && { raw: names }) };
	});
}

/** How many messages ask what `fingerprint` stands for and hold what `values` say, wherever they stand in the session. */
export function countSame(session: Session, fingerprint: string, values: OurValues): number {
	return session.messages.filter(
		({ humanInput }) =>
			humanInput.length > 0 && isAlreadyOurs(humanInput, values) && fingerprintOf(humanInput) === fingerprint,
	).length;
}

function isAlreadyOurs(items: readonly HumanInputItem[], values: OurValues): boolean {
	let fills = false;
	for (const [position, item] of items.entries()) {
		const ours = values[position] ?? '';
		if (ours === '') continue;
		if (item.value === '' || !sameText(item.value, ours)) return false;
		fills = true;
	}
	return fills;
}

function isTakenByOther(items: readonly HumanInputItem[], values: OurValues, waiting: boolean): boolean {
	return items.some(({ value }, position) => {
		const ours = values[position] ?? null;
		if (value === '' || ours === null) return false;
		return ours === '' ? !waiting : !sameText(value, ours);
	});
}
