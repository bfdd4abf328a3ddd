import { runInSlices } from '../kernel/slices.ts';
import {
	askingMessageIndex,
	assistantCountOf,
	filledAt,
	isOver,
	isReworded,
	isSameQuestion,
	isWaiting,
	type QuestionVersion,
	questionAt,
	type SentItem,
	type Session,
	stepsSince,
} from './session.ts';
import { type SentText, sameText, stringOf, toSentText } from './texts.ts';

/** By position: our text; `''`: left empty on purpose; null or absent: the item had a value when the author saw it. */
export type OurValues = readonly (string | null)[];

export interface DeliveryInput extends QuestionVersion {
	readonly session: Session;
	readonly messageIndex: number;
	readonly values: OurValues;
}

/**
 * Decides by the read just before the PUT whether an answer may be sent now. `values`: the service's as people see
 * them, by position. The first rule that applies decides:
 *
 * 1. The fingerprint is the same and every item that we fill holds our text (`sameText`): `alreadyOurs`, even when the
 *    session is over, asks something newer or shows another text. Items that we left empty do not count, because our
 *    PUT may have sent somebody else's value back there. An answer that fills nothing is never `alreadyOurs`.
 * 2. The session is over: `over`. No agent would read the answer.
 * 3. The message is gone, does not ask, or has another fingerprint: `changed`; `moved` if the newest question is it.
 * 4. An item that we want to fill holds another text: `answeredByOther`, even if the person saw that text, and even if
 *    a newer message asks.
 * 5. An item that we left empty on purpose (`''`) holds a text, and the status is not `humanInput`: `answeredByOther`,
 *    because the message counts as answered as a whole. While the status is `humanInput`, the agent waits for the other
 *    items and both answers stand. An item with null is never a conflict: its current value is sent back.
 * 6. A newer message asks (`moved` if it asks the same), or the text above the items is another: `changed`, because
 *    the agent no longer waits for this.
 * 7. Otherwise `clear`. That includes a message that was partly answered, an agent that went on without asking again,
 *    and the statuses `inactive`, `paused` and unknown ones.
 */
export function compareForDelivery(input: DeliveryInput) {
	const { session, messageIndex, values } = input;
	const question = questionAt(session, messageIndex);
	const asked = question?.fingerprint === input.fingerprint ? question : null;
	if (asked !== null && isAlreadyOurs(asked.sent, values)) return { kind: 'alreadyOurs' } as const;
	if (isOver(session.status)) return { kind: 'over' } as const;
	if (asked === null) return { kind: hasMoved(input) ? 'moved' : 'changed' } as const;
	if (isTakenByOther(asked.sent, values, isWaiting(session.status))) {
		return { kind: 'answeredByOther', values: asked.items.map((item) => item.value) } as const;
	}
	if (askingMessageIndex(session) !== messageIndex) return { kind: hasMoved(input) ? 'moved' : 'changed' } as const;
	if (isReworded(input.shownHash, asked.shownHash)) return { kind: 'changed' } as const;
	return { kind: 'clear' } as const;
}

/** Whether the newest question is the shown one at another index. The history changed, or it is asked again. */
function hasMoved({ session, ...shown }: DeliveryInput): boolean {
	const newest = questionAt(session, askingMessageIndex(session) ?? -1);
	return newest !== null && newest.messageIndex !== shown.messageIndex && isSameQuestion(shown, newest);
}

/** The items for the PUT, in order. Only empty values are filled, so no caller can overwrite one. */
export function mergeForPut(items: readonly SentItem[], values: OurValues): SentItem[] {
	return items.map((item, position) => {
		const ours = values[position] ?? null;
		if (hasValue(item) || ours === null) return item;
		const { value: _empty, ...names } = item.raw ?? {};
		return {
			title: item.title,
			description: item.description,
			value: toSentText(ours),
			...(item.raw && { raw: names }),
		};
	});
}

const hasValue = ({ value }: SentItem) => stringOf(value) !== '';

/** The JSON body of the PUT; null: it has more than `most` bytes. Values that are not strings are sent unchanged. */
export function putBodyOf(sessionId: string, messageIndex: number, items: readonly SentItem[], most: number) {
	// Each UTF-16 unit takes at least one byte, so a text that is far too long is refused before it is serialized.
	const texts = items.flatMap(({ title, description, value }) => [title, description, value]).map(stringOf);
	if (texts.reduce((length, text) => length + text.length, 0) > most) return null;
	const id = JSON.stringify(sessionId);
	const body = Buffer.from(
		`{"sessionId":${id},"humanInputResponse":[${items.map(itemJson).join(',')}],"messageIndex":${messageIndex}}`,
	);
	return body.length > most ? null : body;
}

function itemJson({ title, description, value, raw = {} }: SentItem): string {
	const json = (text: SentText, rawText: string | undefined) => rawText ?? JSON.stringify(text);
	const names = `"title":${json(title, raw.title)},"description":${json(description, raw.description)}`;
	return `{${names},"value":${json(value, raw.value)}}`;
}

/** What the read just before the PUT showed. Later reads are compared with it. */
export interface BeforePut {
	readonly status: string;
	readonly assistantCount: number;
	/** How many messages ask the same and hold this answer's values; null: they were not counted. */
	readonly sameCount: number | null;
	/** See `Sighting.steps`. */
	readonly stepsSince: number;
	/** The positions that had a value. */
	readonly filled: readonly number[];
}

type Comparable = Pick<DeliveryInput, 'session' | 'fingerprint' | 'values'>;

export async function beforePut(input: Comparable & Pick<DeliveryInput, 'messageIndex'>): Promise<BeforePut> {
	const { session, messageIndex } = input;
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		sameCount: await runInSlices(countSame(input)),
		stepsSince: stepsSince(session, messageIndex),
		filled: filledAt(session, messageIndex),
	};
}

/** Whether this answer stands in one more message than before the PUT. Then its message has another index. */
export async function hasMovedSince(before: BeforePut | null, input: Comparable): Promise<boolean> {
	const countBefore = before?.sameCount ?? null;
	return countBefore !== null && (await runInSlices(countSame(input))) > countBefore;
}

function* countSame({ session, fingerprint, values }: Comparable): Generator<void, number> {
	let count = 0;
	for (const message of session.messages.filter((one) => one.fingerprint === fingerprint)) {
		if (isAlreadyOurs(message.sent, values)) count++;
		yield;
	}
	return count;
}

/** Whether the agent has worked since the PUT, so it may have read an answer whose outcome is unknown. */
export function hasWorkedSince(before: Pick<BeforePut, 'status' | 'assistantCount'>, session: Session): boolean {
	if (assistantCountOf(session) > before.assistantCount) return true;
	return session.status === 'active' && before.status !== 'active';
}

function isAlreadyOurs(items: readonly SentItem[], values: OurValues): boolean {
	const pairs = items.map((item, position) => ({ stored: stringOf(item.value), ours: values[position] ?? '' }));
	const filled = pairs.filter(({ ours }) => ours !== '');
	return filled.length > 0 && filled.every(({ stored, ours }) => stored !== '' && sameText(stored, ours));
}

function isTakenByOther(items: readonly SentItem[], values: OurValues, isAgentWaiting: boolean): boolean {
	return items.some((item, position) => {
		const ours = values[position] ?? null;
		if (!hasValue(item) || ours === null) return false;
		return ours === '' ? !isAgentWaiting : !sameText(stringOf(item.value), ours);
	});
}
