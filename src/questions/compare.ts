import { fingerprintOf, sameText } from './fingerprint.ts';
import { askingMessageIndex, isAnswered, questionAt } from './open-question.ts';
import { assistantCountOf } from './progress.ts';
import { type AnsweredItem, type HumanInputItem, isOver, isWaiting, type Session } from './session.ts';

/**
 * An answer by position: a text for each item it fills, `''` for an item the person left empty on purpose, and null (or
 * nothing, when the list is shorter) for an item it does not touch because it was answered when the person saw it.
 */
export type OurValues = readonly (string | null)[];

/** What a read just before the PUT says about an answer that is to be sent. */
export type DeliveryComparison =
	/** Send it: `mergeForPut` overwrites nobody's value. */
	| { readonly kind: 'clear' }
	/** The stored values are ours already (an earlier PUT of unknown outcome landed): do not send again. */
	| { readonly kind: 'alreadyOurs' }
	/** Somebody else's values stand there; `values` are those stored now, by position. */
	| { readonly kind: 'answeredByOther'; readonly values: readonly string[] }
	/** The question has changed or is gone. */
	| { readonly kind: 'changed' }
	/** Nobody would read the answer. */
	| { readonly kind: 'over'; readonly status: string };

export interface DeliveryInput {
	/** The read just made. */
	readonly session: Session;
	readonly messageIndex: number;
	/** Of the question as the person saw it. */
	readonly fingerprint: string;
	readonly values: OurValues;
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
 * 6. A newer message asks: `changed`, though this one is as it was, since the agent no longer waits for it.
 * 7. Otherwise `clear`. That includes a message answered in part before the person saw it, one of which a part equals
 *    ours, one whose agent has gone on without asking again, and `inactive`, `paused` and unknown statuses.
 */
export function compareForDelivery(input: DeliveryInput): DeliveryComparison {
	const { session, messageIndex, values } = input;
	const there = questionAt(session, messageIndex);
	const items = there !== null && there.fingerprint === input.fingerprint ? there.items : null;
	if (items !== null && isAlreadyOurs(items, values)) return { kind: 'alreadyOurs' };
	if (isOver(session.status)) return { kind: 'over', status: session.status };
	if (items === null) return { kind: 'changed' };
	if (isAnswered(items) && isTakenByOther(items, values, isWaiting(session.status))) {
		return { kind: 'answeredByOther', values: items.map((item) => item.value) };
	}
	return askingMessageIndex(session) === messageIndex ? { kind: 'clear' } : { kind: 'changed' };
}

/**
 * The whole array of the PUT: every item in order. An item with a value keeps it, so that not even a mistake of the
 * caller overwrites one; an empty item gets ours or stays empty. Fields that are not ours keep the service's JSON value,
 * text or not.
 */
export function mergeForPut(items: readonly HumanInputItem[], values: OurValues): AnsweredItem[] {
	return items.map((item, position) => {
		const ours = values[position] ?? null;
		if (item.value !== '' || ours === null) return item;
		const { value: _empty, ...names } = item.raw ?? {};
		return { title: item.title, description: item.description, value: ours, ...(item.raw && { raw: names }) };
	});
}

/** The JSON of the PUT that replaces a message's answers: all items in order; values that are no strings stay as they are. */
export function putBodyOf(sessionId: string, messageIndex: number, items: readonly AnsweredItem[]): string {
	const id = JSON.stringify(sessionId);
	return `{"sessionId":${id},"humanInputResponse":[${items.map(itemJson).join(',')}],"messageIndex":${messageIndex}}`;
}

function itemJson({ title, description, value, raw = {} }: AnsweredItem): string {
	const json = (text: string, whole: string | undefined) => whole ?? JSON.stringify(text);
	return `{"title":${json(title, raw.title)},"description":${json(description, raw.description)},"value":${json(value, raw.value)}}`;
}

/** The session in the read just before the PUT; later reads are compared with it. */
export interface BeforePut {
	readonly status: string;
	/** See `assistantCountOf`. */
	readonly assistantCount: number;
	/**
	 * How many messages ask the same and hold this answer's values: one more of them later is this answer, moved. Null
	 * when it was not counted.
	 */
	readonly sameCount: number | null;
}

type Compared = Pick<DeliveryInput, 'session' | 'fingerprint' | 'values'>;

export function beforePut(input: Compared): BeforePut {
	const { session } = input;
	return { status: session.status, assistantCount: assistantCountOf(session), sameCount: countSame(input) };
}

/** Whether the question with this answer in it has another index now: one more such message than before the PUT. */
export function hasMovedSince(before: BeforePut | null, input: Compared): boolean {
	const sameBefore = before?.sameCount ?? null;
	return sameBefore !== null && countSame(input) > sameBefore;
}

/** How many messages, at any index, have this fingerprint and hold these values. */
function countSame({ session, fingerprint, values }: Compared): number {
	return session.messages.filter(
		({ humanInput }) =>
			humanInput.length > 0 && isAlreadyOurs(humanInput, values) && fingerprintOf(humanInput) === fingerprint,
	).length;
}

export type ResumeOutcome = 'resumed' | 'failed' | 'stopped' | 'paused' | 'completed' | 'notYet';

/**
 * What became of the agent after a delivery: compares a read after the PUT with the one before it.
 *
 * An end comes first, even if the agent went on before it: "delivered, then failed" is true in either case. `resumed`
 * needs a new sign: another assistant message, or a status that has become `active`. `paused` has to be new too, since
 * a session answered while paused stays so until the service has restarted it. Everything else is `notYet`.
 */
export function resumeOutcome(
	before: Pick<BeforePut, 'status' | 'assistantCount'>,
	session: Pick<Session, 'status' | 'messages'>,
): ResumeOutcome {
	const { status } = session;
	if (status === 'failed' || status === 'stopped' || status === 'completed') return status;
	if (assistantCountOf(session) > before.assistantCount) return 'resumed';
	if (status === before.status) return 'notYet';
	if (status === 'active') return 'resumed';
	return status === 'paused' ? 'paused' : 'notYet';
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
