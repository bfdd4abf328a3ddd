import { inSlices } from '../../core/lease-loop.ts';
import {
	type AgentOutcome,
	type Answer,
	type AnswerPatch,
	arrivalOf,
	evidenceAt,
	hasArrived,
	isBlocking,
	itemsOf,
	mayBeLost,
	type OtherAnswer,
} from '../../questions/answer.ts';
import { type Evidence, judge, NOT_JUDGED, NOTHING_SEEN, type Verdict } from '../../questions/asked.ts';
import { afterRead } from '../../questions/compare.ts';
import { createMask, credentialsOf } from '../../questions/masking.ts';
import { type AnswerMarks, examine, isSecretValue } from '../../questions/secrecy.ts';
import {
	askingMessageIndex,
	isOver,
	isReworded,
	isWaiting,
	type Question,
	type QuestionDigest,
	questionAt,
	type Session,
} from '../../questions/session.ts';
import { atCurrentIndex, digestOfQuestionAt } from '../../questions/session-snapshot.ts';
import { sameText, stringOf } from '../../questions/texts.ts';
import type { SessionReading } from '../../session-service/service.ts';
import type { AnswerStore } from './answer-store.ts';

type Stored = Pick<AnswerStore, 'toQuestions'>;

export type OurAnswers = Awaited<ReturnType<typeof ourAnswers>>;

/** What a read, a form or a button showed before: a question that is perhaps gone. */
type Wanted = QuestionDigest | { readonly messageIndex: number | null; readonly fingerprint?: string | null };

/** What our answers and earlier reads say about a session; looked up if a message of it asks, or for `wanted`. */
export async function ourAnswers(
	store: Stored & Pick<AnswerStore, 'asked'>,
	{ serviceUrl, reading, wanted = null }: { serviceUrl: string; reading: Read; wanted?: Wanted | null },
) {
	const { session } = reading;
	const index = askingMessageIndex(session);
	const isAsked = index !== null || wanted !== null;
	const moved = wanted !== null && 'sameBefore' in wanted ? atCurrentIndex(wanted, session) : null;
	const indexes = [index, wanted?.messageIndex, moved?.messageIndex].filter((one) => one != null);
	await examineQuestions(session, indexes);
	const key = { service: serviceUrl, sessionId: session.sessionId };
	const asking = index === null ? null : digestOfQuestionAt(session, index);
	// First what is compared before a read is stored: an answer may arrive in between.
	const rows = isAsked ? await store.asked(key, asking) : { newest: null, same: null };
	const shown = [...indexes.map((at) => session.messages[at]), wanted, rows.newest];
	const fingerprints = shown.flatMap((one) => one?.fingerprint ?? []);
	const found = isAsked ? await store.toQuestions(key, fingerprints, indexes) : { answers: [], marks: [] };
	const { answers, marks } = found;
	const { id, askedAt: since = 0 } = rows.same ?? {};
	// One that answered a row says nothing of an equal question that has its place now.
	const isToSame = ({ deliveredAt, questionId }: Answer) => (deliveredAt ?? 0) >= since && (questionId ?? id) === id;
	const arrived = asking === null ? [] : arrivedTo(answers, asking).filter(isToSame);
	const isAt = ({ fingerprint, question, shownHash }: Answer) =>
		fingerprint === asking?.fingerprint && question.messageIndex === index && !isReworded(shownHash, asking.shownHash);
	const toIt = answers.filter((own) => (own.questionId === null ? isAt(own) : own.questionId === id));
	const perhaps = toIt.findLast(({ state, putStartedAt }) => !isBlocking(state) && putStartedAt !== null) ?? null;
	const judged = judge(session, reading, {
		...rows,
		answered: evidenceOf(arrived),
		newestAnswer: arrived[0] ?? null,
		isHeld: toIt.some(({ state }) => isBlocking(state)),
		perhapsAt: perhaps?.putStartedAt ?? null,
	});
	return {
		judged,
		/** To the newest question: one that is not sent any more, and may have arrived as far as the status shows. */
		perhaps: isWaiting(session.status) ? null : perhaps,
		/** To it as it was asked before: one that is no longer in the field. */
		lost: answers.find((own) => own.id === judged.evidence?.lost) ?? null,
		/** Those without a field in a form: an agent that went on may read an answer, and an older read decides nothing. */
		closedItems: (judged.verdict ?? 'wentOn') === 'wentOn' ? NOT_JUDGED.closedItems : judged.closedItems,
		/** The newest time that the agent asked, as stored when this read was judged; undefined: not looked up. */
		newest: isAsked ? rows.newest : undefined,
		/** The newest time that it asked what its newest message asks, as stored. */
		same: rows.same,
		/** Whether one to the question that was open before is on its way, or has arrived since it is asked. */
		isAnswered: answers.some(
			({ fingerprint, state, deliveredAt: at }) =>
				rows.newest?.settledAt === null &&
				fingerprint === rows.newest.fingerprint &&
				(state === 'delivering' || (at !== null && at >= rows.newest.askedAt)),
		),
		/** What they say about secrecy, oldest first. */
		marks,
		/** The newest answer that stands there, not to what the message asked earlier. */
		standing(messageIndex: number): Answer | null {
			const isStanding = ({ state }: Answer) => isBlocking(state) || state === 'waiting' || hasArrived(state);
			return answers.findLast((own) => own.question.messageIndex === messageIndex && isStanding(own)) ?? null;
		},
	};
}

/** What these answers, the newest first, show of the question that nobody watched. */
function evidenceOf(arrived: readonly Answer[]): Evidence {
	const [newest] = arrived;
	if (newest === undefined) return NOTHING_SEEN;
	const before = newest.evidence ?? evidenceAt(newest, newest.deliveredAt ?? 0, arrivalOf(newest.timeline)?.arrival);
	const positions = [...new Set(arrived.flatMap((answer) => answer.positions))];
	return { ...before, arrived: before.arrived && { ...before.arrived, positions } };
}

/** The rules read what is shown of a session, and let the event loop breathe. Later they know what they found. */
async function examineQuestions(session: Session, indexes: readonly (number | null | undefined)[]): Promise<void> {
	for (const index of new Set(indexes)) {
		const question = index == null ? null : questionAt(session, index);
		if (question !== null) await inSlices(examine(question));
	}
}

/** `sameBefore` null: not known, so its index tells which one it is. */
type Asked = Pick<QuestionDigest, 'messageIndex' | 'fingerprint'> & { readonly sameBefore: number | null };
type Read = Pick<SessionReading, 'session' | 'readAt' | 'arrival'> & { readonly steadySince?: number };

function toSame(answers: readonly Answer[], { messageIndex, fingerprint, sameBefore }: Asked) {
	return answers.filter(({ fingerprint: own, question, before }) => {
		const counted = before?.sameBefore ?? null;
		const isKnown = counted !== null && sameBefore !== null;
		return own === fingerprint && (isKnown ? counted === sameBefore : question.messageIndex === messageIndex);
	});
}

function askedBy({ question, fingerprint, before }: Answer): Asked {
	return { ...question, fingerprint, sameBefore: before?.sameBefore ?? null };
}

const isArrived = ({ state }: Answer) => hasArrived(state);
const arrivedTo = (answers: readonly Answer[], asked: Asked) =>
	toSame(answers, asked).filter(isArrived).toSorted(newestFirst);

/** By number; those of 1.0.0 have none, are older, and are known by their times. */
function newestFirst(one: Answer, other: Answer): number {
	const numbers = (arrivalOf(other.timeline)?.arrival ?? 0) - (arrivalOf(one.timeline)?.arrival ?? 0);
	return numbers || (other.deliveredAt ?? 0) - (one.deliveredAt ?? 0);
}

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

/**
 * Sending it again can only start the agent: the service has its values, and the agent has changed nothing since. Or
 * the answer may be lost, and cannot be put over anything: its question is the newest, none of its items has a value,
 * and `isCurrent`: nobody has answered it since.
 */
export function canRestart(answer: Answer, session: Session, isCurrent: boolean): boolean {
	const { question, fingerprint, shownHash } = answer;
	const message = session.messages[question.messageIndex];
	if (message === undefined || isOver(session.status)) return false;
	if (message.fingerprint !== fingerprint || isReworded(shownHash, message.shownHash)) return false;
	const storedValues = message.sent.map(({ value }) => stringOf(value));
	const isNewest = askingMessageIndex(session) === question.messageIndex;
	const isEmpty = answer.evidence?.elsewhere !== true && storedValues.every((value) => value === '');
	if (isCurrent && mayBeLost(answer) && isNewest && isEmpty) return true;
	return message === session.messages.at(-1) && isStoredAnswer(answer, storedValues);
}

/** What people read of the values at a question. Null: hidden. */
export function valuesAt(session: Session, question: Question, marks: readonly AnswerMarks[]): (string | null)[] {
	const mask = createMask(false, credentialsOf(session));
	const isHidden = (position: number) => isSecretValue(marks, question, position);
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
	const { answers, marks } = await store.toQuestions(asked, fingerprints, [asked.messageIndex]);
	await examineQuestions(session, [asked.messageIndex]);
	const items = itemsOf(answer);
	const ownValues = items.map(({ value }) => value ?? '');
	const storedValues = values === null ? ownValues : question?.sent.map(({ value }) => stringOf(value));
	const isHidden = (position: number) => question === null || isSecretValue(marks, question, position);
	const mask = createMask(false, credentialsOf(session));
	const arrived = arrivedTo(answers, askedBy(answer));
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

/** Whether somebody outside replaced our text; null while an answer of ours may have. Emptied fields do not count. */
async function isOverwritten(store: Stored, answer: Answer, session: Session): Promise<boolean | null> {
	const { id, question, fingerprint, content } = answer;
	const message = session.messages[question.messageIndex];
	if (message === undefined || content.kind !== 'readable' || message.fingerprint !== fingerprint) return false;
	const isOther = content.items.some(({ value }, position) => {
		const sent = message.sent[position];
		const stored = sent === undefined ? '' : stringOf(sent.value);
		return value !== null && value !== '' && stored !== '' && !sameText(stored, value);
	});
	if (!isOther) return false;
	// A later answer of Handraise explains the other text: the agent asked the same again.
	const { answers } = await store.toQuestions(question, [fingerprint], [question.messageIndex]);
	const same = toSame(answers, askedBy(answer));
	if (same.some(({ state, putStartedAt }) => state === 'delivering' && putStartedAt !== null)) return null;
	return arrivedTo(same, askedBy(answer))[0]?.id === id;
}

/** What a read shows of a delivered answer; without `agentOutcome` while that is uncertain. Null: it shows nothing. */
export async function outcomeIn(
	store: Stored,
	answer: Answer,
	reading: Omit<Read, 'arrival'>,
): Promise<AnswerPatch | null> {
	const { session, readAt } = reading;
	const overwritten = await isOverwritten(store, answer, session);
	if (overwritten === null) return null;
	// What stands in a field that was empty before replaced nothing.
	if (overwritten && answer.evidence?.emptySince == null) return { agentOutcome: 'overwritten' };
	const { deliveredAt } = answer;
	const before = answer.evidence ?? evidenceAt(answer, deliveredAt ?? readAt);
	const found = afterRead(before, session, { ...askedBy(answer), shownHash: answer.shownHash }, reading);
	const { evidence } = found;
	const { status } = session;
	if (isOver(status)) return { evidence, agentOutcome: status };
	if (evidence.continued) {
		return { evidence, agentOutcome: 'resumed', state: 'resumed', startFailed: false, restartAskedAt: null };
	}
	const isPaused = status === 'paused' && answer.before?.status !== 'paused';
	const agentOutcome = OUTCOMES[found.verdict] ?? (isPaused ? 'paused' : undefined);
	return { evidence, ...(agentOutcome !== undefined && { agentOutcome }) };
}

const OUTCOMES: Partial<Record<Verdict, AgentOutcome>> = {
	taken: 'taken',
	emptied: 'emptied',
	lost: 'lost',
	askedAgain: 'lost',
};
