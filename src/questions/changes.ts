import { z } from 'zod';
import { type Judgement, NOT_JUDGED } from './asked.ts';
import {
	askingMessageIndex,
	asks,
	assistantCountOf,
	type ClosedItems,
	filledAt,
	indexesOf,
	isAnswered,
	isOver,
	type QuestionDigest,
	questionAt,
	questionDigest,
	type Session,
	sameBefore,
} from './session.ts';

export const digest = z
	.object({
		status: z.string(),
		assistantCount: z.int(),
		question: questionDigest.nullable(),
		/** `resultHash` of the session. */
		result: z.string().nullable(),
		/** `filesHash` of the session. */
		files: z.string(),
	})
	.readonly();
/** What was last announced of a session. It is stored as JSON and holds no text of a person or an agent. */
export type Digest = z.infer<typeof digest>;

export type Change =
	| { readonly kind: 'statusChanged'; readonly from: string; readonly to: string }
	| { readonly kind: 'ended'; readonly status: string }
	/** `stepped`: more assistant messages, or fewer. */
	| { readonly kind: 'stepped' | 'resultChanged' | 'filesChanged' }
	| (QuestionChange & { readonly messageIndex: number });

type QuestionChange =
	/**
	 * `items` need a value and did not before (`questionAsked`); the agent waits again, after it had gone on without an answer
	 * (`questionReopened`); or the same message asks something else, and if that is answered already, `questionAnswered` follows.
	 */
	| { readonly kind: 'questionAsked' | 'questionReopened' | 'questionChanged'; readonly items: readonly number[] }
	/** It got values; `isWhole`: it needs no more. `taken`: by an answer of ours that no read has shown. */
	| { readonly kind: 'questionAnswered'; readonly isWhole: boolean; readonly taken?: true }
	/** It has another index, because messages before it were added or removed; or another text above its items. */
	| { readonly kind: 'questionMoved' | 'questionReworded' }
	/** Closed without a known answer: the message is gone, another one asks, or the session ended. `wentOn`: see `Verdict`. */
	| { readonly kind: 'questionClosed'; readonly wentOn?: true };

export function digestOf(session: Session, closedItems?: ClosedItems): Digest {
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		question: digestOfQuestionAt(session, askingMessageIndex(session) ?? -1, closedItems),
		result: session.resultHash,
		files: session.filesHash,
	};
}

export function digestOfQuestionAt(
	session: Session,
	messageIndex: number,
	closedItems?: ClosedItems,
): QuestionDigest | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	const { fingerprint, shownHash, openItems: open } = question;
	const answered = filledAt(session, messageIndex);
	return { messageIndex, fingerprint, shownHash, answered, open, sameBefore: sameBefore(session, messageIndex) };
}

/**
 * The changes since `before`, in the order of post. Questions that were asked and answered between the two reads are
 * found too. If `before` is null (nothing announced yet), only an open question and the end are changes.
 * `judged`: what this read means for the newest question, and where a value had arrived before. If no read has shown that, and
 * this one does not, what is open was asked after it, even in the same words.
 */
export function changesBetween(before: Digest | null, session: Session, judged: Judgement = NOT_JUDGED): Change[] {
	const { closedItems, arrived } = judged;
	const current = digestOf(session, closedItems);
	const changes: Change[] = [];
	if (before === null) {
		const { messageIndex, open: items } = current.question ?? { messageIndex: -1, open: [] };
		if (items.length > 0) changes.push({ kind: 'questionAsked', messageIndex, items });
		if (isOver(current.status)) changes.push({ kind: 'ended', status: current.status });
		return changes;
	}
	if (before.status !== current.status)
		changes.push({ kind: 'statusChanged', from: before.status, to: current.status });
	if (before.assistantCount !== current.assistantCount) changes.push({ kind: 'stepped' });
	const found = before.question && atCurrentIndex(before.question, session, judged);
	const taken = found === null ? [] : takenFrom(found, arrived, session);
	const announced = found && { ...found, open: without(found.open, taken), answered: [...found.answered, ...taken] };
	if (before.question !== null && announced !== null) {
		const { messageIndex: from } = before.question;
		const { messageIndex, open } = announced;
		if (taken.length > 0) changes.push({ ...answered(from, open.length === 0), taken: true });
		if (messageIndex !== from) changes.push({ kind: 'questionMoved', messageIndex });
		if (messageIndex !== current.question?.messageIndex) changes.push(...changesOfOlder(announced, session));
	}
	const between = answeredBetween(announced, current.question, session);
	changes.push(...between);
	// What was asked meanwhile has closed the question that waits again: it is asked once more.
	const newest = { ...judged, isReopened: judged.isReopened && between.length === 0 };
	if (current.question !== null) changes.push(...changesOfNewest(announced, current.question, newest));
	if (before.result !== current.result) changes.push({ kind: 'resultChanged' });
	if (before.files !== current.files) changes.push({ kind: 'filesChanged' });
	if (isOver(current.status) && !isOver(before.status)) changes.push({ kind: 'ended', status: current.status });
	return changes;
}

/** The announced question with its current index. Messages before it may have been added or removed. */
export function atCurrentIndex(before: QuestionDigest, session: Session, judged = NOT_JUDGED): QuestionDigest {
	const isLeft = judged.renumbered !== null && judged.of?.fingerprint === before.fingerprint;
	const messageIndex = isLeft ? judged.of.messageIndex : indexesOf(session, before.fingerprint)[before.sameBefore];
	return messageIndex === undefined ? before : { ...before, messageIndex };
}

/** The open positions of which `arrived` got a value that `session` does not show. */
function takenFrom(question: QuestionDigest, arrived: readonly number[], session: Session): readonly number[] {
	const filled = filledOf(question, session);
	const isThere = arrived.some((position) => filled.includes(position));
	return isThere ? [] : question.open.filter((position) => arrived.includes(position));
}

/** The positions with a value, where its message still asks it. */
function filledOf({ messageIndex, fingerprint }: QuestionDigest, session: Session): readonly number[] {
	return questionAt(session, messageIndex)?.fingerprint === fingerprint ? filledAt(session, messageIndex) : [];
}

function changesOfOlder(before: QuestionDigest, session: Session): Change[] {
	const { messageIndex } = before;
	if (without(filledOf(before, session), before.answered).length > 0) return [answered(messageIndex)];
	return before.open.length > 0 ? [{ kind: 'questionClosed', messageIndex }] : [];
}

/** The most questions that one read tells of, when they were asked and answered since the read before. */
const MOST_UNSEEN = 50;

/** The newest questions between the announced and the newest one: they were asked and answered since. */
function answeredBetween(before: QuestionDigest | null, newest: QuestionDigest | null, session: Session): Change[] {
	const first = (before?.messageIndex ?? -1) + 1;
	const messages = [...session.messages.entries()].slice(first, newest?.messageIndex ?? 0);
	const unseen = messages.filter(([, message]) => asks(message) && isAnswered(message.humanInput));
	return unseen.slice(-MOST_UNSEEN).map(([index]) => answered(index));
}

function changesOfNewest(
	before: QuestionDigest | null,
	current: QuestionDigest,
	{ verdict, isReopened, evidence }: Judgement,
): Change[] {
	const { messageIndex } = current;
	const same = before?.messageIndex === messageIndex ? before : null;
	if (same !== null && same.fingerprint !== current.fingerprint) {
		const isWhole = current.answered.length > 0 && current.open.length === 0;
		const settled = isWhole ? [answered(messageIndex)] : [];
		return [{ kind: 'questionChanged', messageIndex, items: current.open }, ...settled];
	}
	const changes: Change[] = [];
	const isOpen = same !== null && same.open.length > 0 && current.open.length > 0;
	if (isOpen && same.shownHash !== current.shownHash) changes.push({ kind: 'questionReworded', messageIndex });
	// The session got shorter and an older question is the newest again. Its answers were announced before.
	const shrank = before !== null && messageIndex < before.messageIndex;
	const gotValue = !shrank && without(current.answered, same?.answered ?? []).length > 0;
	if (gotValue && isReopened) changes.push({ kind: 'questionReopened', messageIndex, items: [] });
	if (gotValue) changes.push(answered(messageIndex, current.open.length === 0));
	// A read that is older than what arrived opens nothing.
	const isOlder = verdict === null && evidence !== null;
	const opened = isOlder && same !== null ? [] : without(current.open, same?.open ?? []);
	const kind = isReopened ? 'questionReopened' : 'questionAsked';
	if (opened.length > 0) changes.push({ kind, messageIndex, items: opened });
	const closed = same !== null && same.open.length > 0 && current.open.length === 0 && !gotValue;
	if (closed && evidence?.arrived != null) changes.push({ ...answered(messageIndex), taken: true });
	else if (closed)
		changes.push({ kind: 'questionClosed', messageIndex, ...(verdict === 'wentOn' && { wentOn: true }) });
	return changes;
}

function answered(messageIndex: number, isWhole = true) {
	return { kind: 'questionAnswered', messageIndex, isWhole } as const;
}

function without(positions: readonly number[], others: readonly number[]): number[] {
	const left = new Set(others);
	return positions.filter((position) => !left.has(position));
}
