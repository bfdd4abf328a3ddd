import { z } from 'zod';
import { type Judgement, NOT_JUDGED } from './asked.ts';
import {
	askingMessageIndex,
	assistantCountOf,
	type ClosedItems,
	filledAt,
	indexesOf,
	isOver,
	questionAt,
	type Session,
	sameBefore,
} from './session.ts';

const positions = z.array(z.int()).readonly();

const questionDigest = z
	.object({
		messageIndex: z.int(),
		fingerprint: z.string(),
		shownHash: z.string(),
		/** How many earlier messages ask the same: identifies the question when its index changes. */
		sameBefore: z.int(),
		/** Positions that have a value. No hashes of values are stored: the hash of a code can be guessed. */
		answered: positions,
		open: positions,
	})
	.readonly();
export type QuestionDigest = z.infer<typeof questionDigest>;

type QuestionState = Omit<QuestionDigest, 'sameBefore'>;

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
	/** More assistant messages, or fewer. */
	| { readonly kind: 'stepped' }
	/** These positions need a value and did not before. */
	| { readonly kind: 'questionAsked'; readonly messageIndex: number; readonly items: readonly number[] }
	/** It got values; `isWhole`: it needs no more. `taken`: by an answer of ours that no read has shown. */
	| {
			readonly kind: 'questionAnswered';
			readonly messageIndex: number;
			readonly isWhole: boolean;
			readonly taken?: true;
	  }
	/** The question has another index, because messages before it were added or removed. */
	| { readonly kind: 'questionMoved'; readonly messageIndex: number }
	/** The same open question has another text above its items. */
	| { readonly kind: 'questionReworded'; readonly messageIndex: number }
	/** The same message asks something else. `items` are open. If it is answered already, `questionAnswered` follows. */
	| { readonly kind: 'questionChanged'; readonly messageIndex: number; readonly items: readonly number[] }
	/** Closed without a known answer: the message is gone, another one asks, or the session ended. `wentOn`: see `Verdict`. */
	| { readonly kind: 'questionClosed'; readonly messageIndex: number; readonly wentOn?: true }
	/** The agent waits again, after it had gone on without an answer. */
	| { readonly kind: 'questionReopened'; readonly messageIndex: number; readonly items: readonly number[] }
	| { readonly kind: 'ended'; readonly status: string }
	| { readonly kind: 'resultChanged' }
	| { readonly kind: 'filesChanged' };

export function digestOf(session: Session, closedItems?: ClosedItems): Digest {
	const index = askingMessageIndex(session);
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		question: index === null ? null : digestOfQuestionAt(session, index, closedItems),
		result: session.resultHash,
		files: session.filesHash,
	};
}

export function digestOfQuestionAt(
	session: Session,
	messageIndex: number,
	closedItems?: ClosedItems,
): QuestionDigest | null {
	const question = questionDigestAt(session, messageIndex, closedItems);
	if (question === null) return null;
	return { ...question, sameBefore: sameBefore(session, messageIndex) };
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
		if (current.question !== null && current.question.open.length > 0)
			changes.push(asked(current.question, current.question.open));
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
export function atCurrentIndex(before: QuestionDigest, session: Session, judged = NOT_JUDGED): QuestionState {
	const isLeft = judged.renumbered !== null && judged.of?.fingerprint === before.fingerprint;
	const messageIndex = isLeft ? judged.of.messageIndex : indexesOf(session, before.fingerprint)[before.sameBefore];
	return messageIndex === undefined ? before : { ...before, messageIndex };
}

/** The open positions of which `arrived` got a value that `session` does not show. */
function takenFrom({ messageIndex, fingerprint, open }: QuestionState, arrived: readonly number[], session: Session) {
	const current = questionDigestAt(session, messageIndex);
	const isThere =
		current?.fingerprint === fingerprint && arrived.some((position) => current.answered.includes(position));
	return isThere ? [] : open.filter((position) => arrived.includes(position));
}

function changesOfOlder(before: QuestionState, session: Session): Change[] {
	const current = questionDigestAt(session, before.messageIndex);
	if (current !== null && current.fingerprint === before.fingerprint) {
		if (without(current.answered, before.answered).length > 0) return [answered(current.messageIndex)];
	}
	return before.open.length > 0 ? [{ kind: 'questionClosed', messageIndex: before.messageIndex }] : [];
}

/** The most questions that one read tells of, when they were asked and answered since the read before. */
const MOST_UNSEEN = 50;

/** The newest questions between the announced and the newest one: they were asked and answered since. */
function answeredBetween(before: QuestionState | null, newest: QuestionState | null, session: Session): Change[] {
	const first = (before?.messageIndex ?? -1) + 1;
	const indexes = [...session.messages.keys()].slice(first, newest?.messageIndex ?? 0);
	const isAnswered = (index: number) => (questionDigestAt(session, index)?.answered.length ?? 0) > 0;
	return indexes
		.filter(isAnswered)
		.slice(-MOST_UNSEEN)
		.map((index) => answered(index));
}

function changesOfNewest(
	before: QuestionState | null,
	current: QuestionState,
	{ verdict, isReopened, evidence }: Judgement,
): Change[] {
	const { messageIndex } = current;
	const same = before?.messageIndex === messageIndex ? before : null;
	if (same !== null && same.fingerprint !== current.fingerprint) {
		const isAnswered = current.answered.length > 0 && current.open.length === 0;
		const settled = isAnswered ? [answered(messageIndex)] : [];
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

function asked(question: QuestionState, items: readonly number[]): Change {
	return { kind: 'questionAsked', messageIndex: question.messageIndex, items };
}

function answered(messageIndex: number, isWhole = true) {
	return { kind: 'questionAnswered', messageIndex, isWhole } as const;
}

function questionDigestAt(session: Session, messageIndex: number, closedItems?: ClosedItems): QuestionState | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	const { fingerprint, shownHash, openItems: open } = question;
	return { messageIndex, fingerprint, shownHash, answered: filledAt(session, messageIndex), open };
}

function without(positions: readonly number[], others: readonly number[]): number[] {
	const left = new Set(others);
	return positions.filter((position) => !left.has(position));
}
