import {
	type AgentOutcome,
	type Answer,
	arrivalOf,
	awaitsAgentOutcome,
	hasArrived,
	isStanding,
	itemsOf,
	type OtherAnswer,
} from '../domain/answer.ts';
import { isBefore, type ReadTime, type Verdict } from '../domain/asked.ts';
import { createMask, credentialsOf } from '../domain/masking.ts';
import { NO_OCCURRENCES, type Occurrences, occurrencesIn, type StoredOccurrences } from '../domain/occurrences.ts';
import { type AnswerSecrecy, examine, isSecretValue } from '../domain/secrecy.ts';
import {
	askingMessageIndex,
	type ClosedItems,
	isOver,
	isWaiting,
	type Question,
	questionAt,
	type Session,
} from '../domain/session.ts';
import { digestOfQuestionAt } from '../domain/session-digest.ts';
import { sameText, stringOf } from '../domain/texts.ts';
import { runInSlices } from '../kernel/slices.ts';
import type { AnswerStore } from './answer-store.ts';
import { newRepeats } from './put.ts';

type Stored = Pick<AnswerStore, 'toQuestions'>;

export type OurAnswers = Awaited<ReturnType<typeof ourAnswers>>;

/** A question that a read, a form or a button showed before. It may be gone. */
type Wanted = { readonly messageIndex: number | null; readonly fingerprint?: string | null };

interface Looked {
	readonly serviceUrl: string;
	readonly reading: Reading;
	readonly wanted?: Wanted | null;
	/** See `StoredOccurrences`; matters for what is written. */
	readonly isWatched?: boolean;
}

/** What our answers and earlier reads say about a session; looked up if a message of it asks, or for `wanted`. */
export async function ourAnswers(
	store: Stored & Pick<AnswerStore, 'known'>,
	{ serviceUrl, reading, wanted = null, isWatched = false }: Looked,
) {
	const { session } = reading;
	const index = askingMessageIndex(session);
	const indexes = [index, wanted?.messageIndex].filter((one) => one != null);
	await examineQuestions(session, indexes);
	const key = { service: serviceUrl, sessionId: session.sessionId };
	const asking = index === null ? null : digestOfQuestionAt(session, index);
	// This comes first, because it is compared before a read is stored: an answer may arrive in between.
	const known = { ...(await store.known(key, asking?.fingerprint ?? null)), isWatched };
	const { newest } = known;
	const shown = [...indexes.map((at) => session.messages[at]), wanted, newest];
	const fingerprints = shown.flatMap((one) => one?.fingerprint ?? []);
	const isLookedUp = fingerprints.length + indexes.length > 0;
	const found = isLookedUp ? await store.toQuestions(key, fingerprints, indexes) : { answers: [], secrecy: [] };
	const { answers, secrecy } = found;
	const occurrences = occurrencesIn(session, reading, known);
	const { evidence } = occurrences;
	const perhaps = evidence?.value?.isPerhaps === true ? evidence.value.answerId : null;
	return {
		known,
		occurrences,
		/** What this read shows of what became of answers. */
		outcomes: outcomesIn(answers, { reading, known, occurrences }),
		/** To the newest question: one that is not sent any more, and may have arrived. */
		perhaps: answers.find(({ id }) => id === perhaps) ?? null,
		/** To it as it was asked before: one that is no longer in the field. */
		lost: answers.find((own) => own.id === evidence?.lost) ?? null,
		/** The items that get no field in a form. */
		closedItems: closedInForm(session, occurrences),
		/** What our answers say about secrecy, oldest first. */
		secrecy,
		/** The newest answer that stands there, not to what the message asked earlier. */
		standing(messageIndex: number): Answer | null {
			return answers.findLast((own) => own.question.messageIndex === messageIndex && isStanding(own.state)) ?? null;
		},
	};
}

/** Nobody has to answer then, but the agent may still read an answer. */
const MAY_READ_ONE: ReadonlySet<Verdict> = new Set(['wentOn', 'perhaps']);

/** An older read decides nothing. Where some items have values and the agent waits, the others can be filled. */
function closedInForm(session: Session, { verdict, evidence, closedItems }: Occurrences): ClosedItems {
	if (verdict === null || MAY_READ_ONE.has(verdict)) return NO_OCCURRENCES.closedItems;
	if (verdict !== 'answered' || evidence === null || !isWaiting(session.status)) return closedItems;
	const closed = new Set([...evidence.filled, ...evidence.leftEmpty]);
	return (index) => new Set([...closedItems(index)].filter((position) => closed.has(position)));
}

/** Without a new message of the agent for this long, the author hears that there is no sign of it. */
const NO_SIGN_MS = 120_000;

/** What a read shows of what became of a delivered answer. */
export interface AnswerOutcome {
	readonly answerId: string;
	/** Null: it shows none, but `repeats`. */
	readonly outcome: Exclude<AgentOutcome, 'replaced'> | null;
	/** What its values repeat of the credentials that the session names, if this read is the first to show that. */
	readonly repeats?: readonly string[];
}

function outcomesIn(
	answers: readonly Answer[],
	{ reading, known, occurrences }: { reading: Reading; known: StoredOccurrences; occurrences: Occurrences },
): AnswerOutcome[] {
	const { session } = reading;
	const { changes } = occurrences;
	const rows = new Map([known.newest, ...known.equal].flatMap((row) => (row === null ? [] : [[row.id, row] as const])));
	const seen = new Map(changes.flatMap((one) => (one.kind === 'seen' ? [[one.id, one] as const] : [])));
	const lostIds = changes.flatMap((one) => (one.kind === 'asked' ? (one.evidence.lost ?? []) : []));
	/** The outcome that this read shows and `answer` did not have before; null: none. */
	function outcomeOf(answer: Answer): AnswerOutcome['outcome'] {
		const row = rows.get(answer.questionId ?? '');
		if (row === undefined) return isFollowed(answer, reading) ? 'resumed' : null;
		if (isBefore(reading, row.evidence.value)) return null;
		const { evidence, messageIndex } = seen.get(row.id) ?? row;
		// A text in a field that was empty before has replaced nothing.
		const mayReplace =
			!row.evidence.emptied && evidence.value?.answerId === answer.id && !known.heldIds.includes(row.id);
		if (mayReplace && holdsOther(answer, session, messageIndex)) return 'overwritten';
		if (evidence.continued) return 'resumed';
		if (isOver(session.status)) return session.status;
		if (lostIds.includes(answer.id)) return 'lost';
		return answer.agentOutcome === null && hasNoSign(answer, reading) ? 'unseen' : null;
	}

	return answers.filter(awaitsAgentOutcome).flatMap((answer): AnswerOutcome[] => {
		const { repeats } = newRepeats(answer, session);
		const outcome = outcomeOf(answer);
		if (outcome === null && repeats === undefined) return [];
		return [{ answerId: answer.id, outcome, ...(repeats !== undefined && { repeats }) }];
	});
}

/**
 * Whether the agent has asked something else after this answer. A new question counts also where it was noted before
 * the arrival.
 */
function isFollowed({ id, question, fingerprint, timeline, deliveredAt }: Answer, reading: Reading): boolean {
	const { session } = reading;
	const arrival = { answerId: id, number: arrivalOf(timeline)?.arrival ?? null, at: deliveredAt ?? 0 };
	const index = askingMessageIndex(session) ?? -1;
	const isNext = index >= question.messageIndex && session.messages[index]?.fingerprint !== fingerprint;
	return isNext && !isBefore(reading, arrival);
}

/** Only time that has certainly passed counts: the clock may have been set. */
function hasNoSign({ deliveredAt }: Answer, { readAt, steadySince = Number.NEGATIVE_INFINITY }: ReadTime): boolean {
	return deliveredAt !== null && readAt - Math.max(deliveredAt, steadySince) >= NO_SIGN_MS;
}

/** Whether a field that our answer filled has another text. Emptied fields do not count. */
function holdsOther({ fingerprint, content }: Answer, session: Session, messageIndex: number): boolean {
	const message = session.messages[messageIndex];
	if (message?.fingerprint !== fingerprint || content.kind !== 'readable') return false;
	return content.items.some(({ value }, position) => {
		const sent = message.sent[position];
		const stored = sent === undefined ? '' : stringOf(sent.value);
		return value !== null && value !== '' && stored !== '' && !sameText(stored, value);
	});
}

/** Applies the rules of secrecy in slices, so that the event loop goes on. They keep what they find for later calls. */
async function examineQuestions(session: Session, indexes: readonly (number | null | undefined)[]): Promise<void> {
	for (const index of new Set(indexes)) {
		const question = index == null ? null : questionAt(session, index);
		if (question !== null) await runInSlices(examine(question));
	}
}

export type Reading = ReadTime & { readonly session: Session };

const newestFirst = (one: Answer, other: Answer) =>
	(arrivalOf(other.timeline)?.arrival ?? 0) - (arrivalOf(one.timeline)?.arrival ?? 0);

/** Whether the service's values are those of `answer`. A wiped secret fits any text. */
function isStoredAnswer(answer: Answer, storedValues: readonly string[]): boolean {
	const items = itemsOf(answer);
	const fits = items.every(({ value, wiped }, position) => {
		const text = storedValues[position] ?? '';
		if (wiped) return text !== '';
		return value === null || value === '' || sameText(text, value);
	});
	return items.length > 0 && fits;
}

/** What people read of the values at a question. Null: hidden. */
export function valuesAt(session: Session, question: Question, secrecy: readonly AnswerSecrecy[]): (string | null)[] {
	const mask = createMask(false, credentialsOf(session));
	const isHidden = (position: number) => isSecretValue(secrecy, question, position);
	return question.items.map(({ value }, position) => (isHidden(position) ? null : mask.read(value)));
}

/** The answer before `answer`, ours or from outside. `values`: the service's as shown; null if `answer` has them. */
export async function whoWasFirst(
	store: Stored,
	answer: Answer,
	session: Session,
	values: readonly string[] | null,
): Promise<OtherAnswer> {
	const { question: asked } = answer;
	const question = questionAt(session, asked.messageIndex);
	const fingerprints = [answer.fingerprint, question?.fingerprint ?? ''];
	const { answers, secrecy } = await store.toQuestions(asked, fingerprints, [asked.messageIndex]);
	await examineQuestions(session, [asked.messageIndex]);
	const items = itemsOf(answer);
	const ownValues = items.map(({ value }) => value ?? '');
	const storedValues = values === null ? ownValues : question?.sent.map(({ value }) => stringOf(value));
	const isHidden = (position: number) => question === null || isSecretValue(secrecy, question, position);
	const mask = createMask(false, credentialsOf(session));
	const isToSame = (other: Answer) =>
		other.fingerprint === answer.fingerprint &&
		(other.questionId === answer.questionId || other.question.messageIndex === asked.messageIndex);
	const arrived = answers.filter((other) => hasArrived(other.state) && isToSame(other)).toSorted(newestFirst);
	const first = arrived.find((other) => other.id !== answer.id && isStoredAnswer(other, storedValues ?? []));
	return {
		answerId: first?.id ?? null,
		person: first?.person ?? null,
		at: first?.deliveredAt ?? null,
		same: values === null,
		values: items.map(({ value, secret }, position) =>
			secret || value === null || isHidden(position) ? null : mask.read((values ?? ownValues)[position] ?? ''),
		),
	};
}
