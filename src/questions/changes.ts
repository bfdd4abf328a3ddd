import { fingerprintOf, hashOfTexts } from './fingerprint.ts';
import { askingMessageIndex, asks, type LeftEmpty, openItemsOf } from './open-question.ts';
import { assistantCountOf, resultOf } from './progress.ts';
import { type HumanInputItem, isOver, type Session } from './session.ts';

/** What is remembered of a session's newest question. */
export interface QuestionDigest {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** How many earlier messages ask the same: identifies the question when its index changes. Null: not counted. */
	readonly sameBefore: number | null;
	/** Positions that hold a value. Neither values nor their hashes are stored: the hash of a code can be guessed. */
	readonly answered: readonly number[];
	/** Positions that wait for a value. */
	readonly open: readonly number[];
}

type QuestionState = Omit<QuestionDigest, 'sameBefore'>;

/** What was last announced of a session: small, JSON-safe, without anything a person said. */
export interface Digest {
	readonly status: string;
	readonly assistantCount: number;
	readonly question: QuestionDigest | null;
	readonly over: boolean;
	/** Hash of the result, null while there is none. */
	readonly result: string | null;
	/** Hash of the files' names in order. Links and times are left out: the service renews them without a visible change. */
	readonly files: string;
	/** As the service sent it. */
	readonly screenshotTimestamp: string | null;
}

/** One difference between what was announced and the session now. */
export type Change =
	| { readonly kind: 'statusChanged'; readonly from: string; readonly to: string }
	/** `count` new assistant messages. */
	| { readonly kind: 'stepped'; readonly count: number }
	/** Fewer assistant messages than before. */
	| { readonly kind: 'rewound'; readonly from: number; readonly to: number }
	/** These positions wait for a value now and did not before. */
	| { readonly kind: 'questionAsked'; readonly messageIndex: number; readonly items: readonly number[] }
	/** These positions got a value; `stillOpen` still wait for one. */
	| {
			readonly kind: 'questionAnswered';
			readonly messageIndex: number;
			readonly items: readonly number[];
			readonly stillOpen: readonly number[];
	  }
	/** The question has another index: messages before it were added or removed. */
	| { readonly kind: 'questionMoved'; readonly from: number; readonly messageIndex: number }
	/** The same message asks something else; `items` are open. */
	| { readonly kind: 'questionChanged'; readonly messageIndex: number; readonly items: readonly number[] }
	/** Closed without a known answer: the agent went on, the message is gone, or the session ended. */
	| { readonly kind: 'questionClosed'; readonly messageIndex: number }
	| { readonly kind: 'ended'; readonly status: string }
	| { readonly kind: 'resultChanged' }
	| { readonly kind: 'filesChanged' }
	| { readonly kind: 'screenshotChanged' };

/** The summary to store with a watch. `leftEmpty` as in `openQuestion`. */
export function digestOf(session: Session, leftEmpty?: LeftEmpty): Digest {
	const index = askingMessageIndex(session);
	const result = resultOf(session);
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		question: index === null ? null : newestDigest(session, index, leftEmpty),
		over: isOver(session.status),
		result: result === null ? null : hashOfTexts([result]),
		files: hashOfTexts(session.files.map((file) => file.filename)),
		screenshotTimestamp: session.lastScreenshotTimestamp,
	};
}

/**
 * What is new since `before`, in the order of announcement: status, steps, questions from oldest to newest, result,
 * files, screenshot, end. If `after` is a session, questions asked and answered between the two reads are found too; a
 * digest knows only the newest question. If `before` is null (never announced), only an open question and an end count.
 */
export function changesBetween(before: Digest | null, after: Session | Digest, leftEmpty?: LeftEmpty): Change[] {
	const session = 'messages' in after ? after : null;
	const now = 'messages' in after ? digestOf(after, leftEmpty) : after;
	const changes: Change[] = [];
	if (before === null) {
		if (now.question !== null && now.question.open.length > 0) changes.push(asked(now.question, now.question.open));
		if (now.over) changes.push({ kind: 'ended', status: now.status });
		return changes;
	}
	if (before.status !== now.status) changes.push({ kind: 'statusChanged', from: before.status, to: now.status });
	const steps = now.assistantCount - before.assistantCount;
	if (steps > 0) changes.push({ kind: 'stepped', count: steps });
	if (steps < 0) changes.push({ kind: 'rewound', from: before.assistantCount, to: now.assistantCount });
	const known = before.question === null ? null : whereItIs(before.question, session);
	if (before.question !== null && known !== null && known.messageIndex !== before.question.messageIndex) {
		changes.push({ kind: 'questionMoved', from: before.question.messageIndex, messageIndex: known.messageIndex });
	}
	if (known !== null && known.messageIndex !== now.question?.messageIndex) changes.push(...fateOf(known, session));
	if (session !== null) changes.push(...answeredBetween(known, now.question, session));
	if (now.question !== null) changes.push(...newestQuestion(known, now.question));
	if (before.result !== now.result) changes.push({ kind: 'resultChanged' });
	if (before.files !== now.files) changes.push({ kind: 'filesChanged' });
	if (before.screenshotTimestamp !== now.screenshotTimestamp) changes.push({ kind: 'screenshotChanged' });
	if (now.over && !before.over) changes.push({ kind: 'ended', status: now.status });
	return changes;
}

/** The known question at its present index: messages before it may have been added or removed. */
function whereItIs(before: QuestionDigest, session: Session | null): QuestionState {
	if (session === null || before.sameBefore === null) return before;
	const messageIndex = placesOf(session, before.fingerprint)[before.sameBefore];
	return messageIndex === undefined ? before : { ...before, messageIndex };
}

/** The indexes of the messages that ask this question. */
function placesOf({ messages }: Session, fingerprint: string): number[] {
	return messages.flatMap((message, index) =>
		asks(message) && fingerprintOf(message.humanInput) === fingerprint ? [index] : [],
	);
}

/** What became of a question that is no longer the newest one. */
function fateOf(before: QuestionState, session: Session | null): Change[] {
	const now = session === null ? null : questionDigestAt(session, before.messageIndex);
	if (now !== null && now.fingerprint === before.fingerprint) {
		const items = without(now.answered, before.answered);
		if (items.length > 0) return [answered(now.messageIndex, items, [])];
	}
	return before.open.length > 0 ? [{ kind: 'questionClosed', messageIndex: before.messageIndex }] : [];
}

/** Older questions that were asked and answered since. */
function answeredBetween(before: QuestionState | null, newest: QuestionState | null, session: Session): Change[] {
	const changes: Change[] = [];
	const end = newest?.messageIndex ?? 0;
	for (let index = (before?.messageIndex ?? -1) + 1; index < end; index += 1) {
		const question = questionDigestAt(session, index);
		if (question !== null && question.answered.length > 0) changes.push(answered(index, question.answered, []));
	}
	return changes;
}

function newestQuestion(before: QuestionState | null, now: QuestionState): Change[] {
	const { messageIndex } = now;
	const same = before?.messageIndex === messageIndex ? before : null;
	if (same !== null && same.fingerprint !== now.fingerprint) {
		return [{ kind: 'questionChanged', messageIndex, items: now.open }];
	}
	const changes: Change[] = [];
	// The session shrank, so an older question is the newest again: its answers were announced before.
	const shrank = before !== null && messageIndex < before.messageIndex;
	const gotValue = shrank ? [] : without(now.answered, same?.answered ?? []);
	if (gotValue.length > 0) changes.push(answered(messageIndex, gotValue, now.open));
	const opened = without(now.open, same?.open ?? []);
	if (opened.length > 0) changes.push(asked(now, opened));
	const closed = same !== null && same.open.length > 0 && now.open.length === 0 && gotValue.length === 0;
	if (closed) changes.push({ kind: 'questionClosed', messageIndex });
	return changes;
}

function asked(question: QuestionState, items: readonly number[]): Change {
	return { kind: 'questionAsked', messageIndex: question.messageIndex, items };
}

function answered(messageIndex: number, items: readonly number[], stillOpen: readonly number[]): Change {
	return { kind: 'questionAnswered', messageIndex, items, stillOpen };
}

function newestDigest(session: Session, messageIndex: number, leftEmpty?: LeftEmpty): QuestionDigest | null {
	const question = questionDigestAt(session, messageIndex, leftEmpty);
	if (question === null) return null;
	const sameBefore = placesOf(session, question.fingerprint).filter((index) => index < messageIndex).length;
	return { ...question, sameBefore };
}

function questionDigestAt(session: Session, messageIndex: number, leftEmpty?: LeftEmpty): QuestionState | null {
	const message = session.messages[messageIndex];
	if (message === undefined || !asks(message)) return null;
	const items = message.humanInput;
	return {
		messageIndex,
		fingerprint: fingerprintOf(items),
		answered: positionsWithValue(items),
		open: openItemsOf(session, items, messageIndex, leftEmpty),
	};
}

function positionsWithValue(items: readonly HumanInputItem[]): number[] {
	return items.flatMap((item, position) => (item.value === '' ? [] : [position]));
}

function without(positions: readonly number[], others: readonly number[]): number[] {
	const set = new Set(others);
	return positions.filter((position) => !set.has(position));
}
