import { change, from, lockSession, noteQuestions } from '../database/database.ts';
import {
	addQuestion,
	closeUnwatched,
	closeWentOn,
	giveBackQuestion,
	type Held,
	heldOf,
	keepAnswered,
	newestQuestionOf,
	noteEvidence,
	openQuestionOf,
	type QuestionRead,
	readHandOver,
	renumberQuestion,
	reopenQuestion,
	rewordQuestion,
	settleQuestion,
} from '../database/question-store.ts';
import { type Db, sessionOf } from '../database/tables.ts';
import { type Judgement, NOT_JUDGED } from '../questions/asked.ts';
import { type HandedQuestion, targetOfHandOver } from '../questions/hand-over.ts';
import type { OccurrenceChange } from '../questions/occurrences.ts';
import type { SessionKey } from '../questions/session.ts';
import type { ContentOf } from './kinds.ts';
import { type CipherTx, dropPlanned, markPosts, OPEN, planPosts, type Tx } from './plan-store.ts';
import { HELD, type NewPost } from './post.ts';

/** Writes what a read changes of questions, and what it means. `before`: when the read before it began. */
export async function recordQuestions(
	tx: CipherTx,
	session: SessionKey,
	changes: readonly OccurrenceChange[],
	{
		newest,
		before,
		judged = NOT_JUDGED,
	}: Pick<QuestionRead, 'newest'> & { readonly before: number | null; readonly judged?: Judgement | undefined },
): Promise<void> {
	const { trx, cipher, now } = tx;
	const read = { session, newest, cipher, now };
	const { of, renumbered } = judged;
	if (of !== null && renumbered !== null) await renumberQuestion(trx, renumbered, of);
	/** The hand-over of a question that is asked again while it is open: its person still has it. */
	let held: Held | null = null;
	for (const one of changes) {
		if (one.kind === 'settled') {
			const open = await openQuestionOf(trx, session);
			if (one.how === 'renewed') held = heldOf(open, cipher);
			if (open !== undefined && one.items !== undefined) await keepAnswered(trx, open, one.items, cipher);
			await settle(trx, session, one.how, { now });
			continue;
		}
		const { question } = one;
		const last = await newestQuestionOf(trx, session);
		const isLast = last?.fingerprint === question.fingerprint && last.sameBefore === question.sameBefore;
		if (isLast && (one.kind === 'reopened' || (one.kind === 'asked' && last.settledHow === 'unwatched'))) {
			await reopenQuestion(trx, last, question, read);
			if (one.kind === 'asked' && one.settled !== null) await settle(trx, session, one.settled, { now });
			continue;
		}
		// Somebody watches again what was settled: its row has what reads and answers have shown.
		const isKnown = isLast && last.settledAt !== null && !judged.isAnsweredAnew;
		if (isKnown && one.kind === 'asked' && one.settled !== null && before === null) continue;
		const open = await openQuestionOf(trx, session);
		const isSame = open?.fingerprint === question.fingerprint && open.sameBefore === question.sameBefore;
		if (open !== undefined && (one.kind !== 'asked' || (isSame && one.settled === null))) {
			await rewordQuestion(trx, open, question, read);
			continue;
		}
		// The former state of the session could not be read.
		if (one.kind !== 'asked') continue;
		if (open !== undefined) await settle(trx, session, 'closed', { now });
		await closeWentOn(trx, session);
		const wasSettled = one.settled !== null && before === null;
		const id = await addQuestion(trx, question, read, { askedAt: wasSettled ? 0 : newest.readAt, held });
		// The direct messages about it are about this one now.
		const told = held && { watchId: held.handOver.watchId, kind: ['handedOver', 'givenBack'], state: OPEN };
		if (told !== null) await change(trx, 'posts', told, { questionId: id }).execute();
		if (one.settled !== null) await settle(trx, session, one.settled, { now, since: before ?? newest.readAt });
	}
	// Another one was asked while nobody watched: it comes back only if the agent waits for it.
	if (before === null && of !== null) await closeUnwatched(trx, session, of);
	await noteEvidence(trx, session, judged);
}

/** Settles the open question and drops its held post. */
export async function settle(...settling: Parameters<typeof settleQuestion>): Promise<void> {
	const id = await settleQuestion(...settling);
	if (id !== undefined) await dropPlanned(settling[0], { questionId: id, lastError: HELD, sendingSince: null });
}

/** What `userId` gives back, with what the message about it shows. */
export type GivenBack = HandedQuestion & Pick<ContentOf<'givenBack'>, 'undelivered'> & { readonly userId: string };

/** `repeated`: it was given back before. */
export async function giveBack(tx: Tx, given: GivenBack) {
	const { trx, now } = tx;
	const { userId: by, undelivered, ...handed } = given;
	const asked = await lockQuestion(trx, handed);
	const current = readHandOver(asked, handed.teamId);
	if (asked === undefined || current === null) return { kind: 'closed' } as const;
	if (current.to !== by) return { kind: 'notYours', handOver: current } as const;
	if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true } as const;
	const handOver = { ...current, givenBackAt: now };
	await giveBackQuestion(trx, asked, now);
	const { id: handOverId, watchId } = handOver;
	const content = { kind: 'givenBack', watchId, handOverId, by, ...(undelivered && { undelivered }) } as const;
	await passOn(tx, handOver.session, { target: targetOfHandOver(handOver), key: 'givenBack', content });
	return { kind: 'givenBack', handOver, repeated: false } as const;
}

/** Gives an undeliverable question back and tells its giver, unless that is over. */
export async function giveBackUndelivered(tx: Tx, handOverId: string, questionId: string | null) {
	const held = from(tx.trx, 'questions', { id: questionId ?? '', handOverId });
	const handOver = readHandOver(await held.selectAll().executeTakeFirst());
	if (handOver !== null) await giveBack(tx, { ...handOver, userId: handOver.to, undelivered: true });
}

/** Locks the session. The question; undefined when it is not open any more. */
export async function lockQuestion(trx: Db, { session, fingerprint }: HandedQuestion) {
	await lockSession(trx, session);
	const question = await openQuestionOf(trx, session);
	return question?.fingerprint === fingerprint ? question : undefined;
}

/** Has all posts show who has the question, and queues the direct message. */
export async function passOn(tx: Tx, session: SessionKey, post: NewPost): Promise<void> {
	noteQuestions(tx.trx, null);
	await markPosts(tx, sessionOf(session));
	await planPosts(tx, [post]);
}
