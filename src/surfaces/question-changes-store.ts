// Owns `posts`, with `plan-store.ts`: writes what reads change of questions, with the posts that show them.
import type { OccurrenceChange, SettledHow } from '../domain/occurrences.ts';
import type { SessionKey } from '../domain/session.ts';
import type { QuestionSnapshot } from '../domain/session-snapshot.ts';
import { type CipherTx, change, type Db, from, isFound, type Row, sessionOf, sql, type Tx } from '../store/database.ts';
import { locked } from '../store/locks.ts';
import {
	addQuestion,
	type HeldQuestion,
	heldOf,
	keepAnswered,
	noteSeen,
	openQuestionOf,
	type QuestionRead,
	reopenQuestion,
	rewordQuestion,
	settleQuestion,
} from '../store/question-store.ts';
import { OPEN } from './plan-store.ts';
import { type PostContent, QUESTION_KEY } from './post.ts';
import { beginReminders } from './reminder-store.ts';

/** The items of the question that a read shows at a message index, or undefined. */
export type ItemsAt = (index: number) => QuestionSnapshot['items'] | undefined;

/** Writes what a read changes of the questions of a session. The caller has locked the session. */
export async function recordQuestions(
	tx: CipherTx,
	session: SessionKey,
	changes: readonly OccurrenceChange[],
	{ newest, itemsAt }: Pick<QuestionRead, 'newest'> & { readonly itemsAt: ItemsAt },
): Promise<void> {
	const { trx, cipher, now } = tx;
	const read = { session, newest, cipher, now };
	const rowOf = (id: string) => from(trx, 'questions', { id }).selectAll().executeTakeFirst();
	/** A question that is asked again while somebody has it: that person has the new one, too. */
	let held: HeldQuestion | null = null;
	/** A question that ended without an answer soon after it was asked: the next one takes over its posts. */
	let replaced: Row<'questions'> | null = null;
	for (const one of changes) {
		switch (one.kind) {
			case 'seen':
				await noteSeen(trx, one.id, one);
				break;
			case 'settled': {
				const row = await rowOf(one.id);
				if (row === undefined) break;
				if (one.how === 'renewed') held = heldOf(row, cipher);
				const isSoon = row.settledAt === null && newest.readAt - row.askedAt < REPLACED_WITHIN_MS;
				if (isSoon && one.how !== 'answered' && !(await isGiven(trx, row))) replaced = row;
				const items = one.at === null ? undefined : itemsAt(one.at);
				if (items !== undefined) await keepAnswered(trx, row, items, cipher);
				await settleQuestion(trx, one.id, one.how, now);
				break;
			}
			case 'updated':
			case 'reopened': {
				const row = await rowOf(one.id);
				if (row === undefined) break;
				if (one.kind === 'updated') await rewordQuestion(trx, row, one.question, read);
				else {
					await settleOpen(trx, session, 'closed', now);
					await reopenQuestion(trx, row, one.question, read);
				}
				break;
			}
			case 'asked': {
				await settleOpen(trx, session, 'closed', now);
				// A question that was answered before the first read of a watch is no news: it gets no time.
				const askedAt = one.settled !== null && newest.isFirst === true ? 0 : newest.readAt;
				const id = await addQuestion(trx, one.question, read, { askedAt, held, evidence: one.evidence });
				// Open direct messages about the former question are about this one now.
				const told = held && { watchId: held.handOver.watchId, kind: ['handedOver', 'givenBack'], state: OPEN };
				if (told !== null) await change(trx, 'posts', told, { questionId: id }).execute();
				held = null;
				if (one.settled !== null) await settleQuestion(trx, id, one.settled, now);
				else if (replaced !== null) await showInstead(tx, replaced, { id, ...one.question });
				replaced = null;
			}
		}
	}
}

/** A question that an agent asks within this time, in place of an unanswered one, takes over its post. */
const REPLACED_WITHIN_MS = 60_000;

/** Whether somebody has answered a question in Handraise and not withdrawn the answer. */
const isGiven = (trx: Db, { id, ...row }: Row<'questions'>) =>
	isFound(
		from(trx, 'answers', { ...sessionOf(row), questionId: id })
			.select('id')
			.where('state', '!=', 'withdrawn'),
	);

/** Gives the open posts of a question to the one that its agent asks instead, and begins the reminders of that. */
async function showInstead(
	tx: Tx,
	former: Row<'questions'>,
	{ id, fingerprint }: Readonly<Record<'id' | 'fingerprint', string>>,
): Promise<void> {
	const { trx, now } = tx;
	// The order of locks: all open posts of the session before its held reminders.
	await locked(trx, 'posts', { ...sessionOf(former), state: OPEN }).execute();
	const live = await from(trx, 'watches', { ...sessionOf(former), endedAt: null })
		.selectAll()
		.execute();
	const shown: { postId: string; watch: Row<'watches'> }[] = [];
	for (const watch of live) {
		const open = { kind: 'question', watchId: watch.id, questionId: former.id, state: OPEN };
		const another = { questionId: id, uniqueKey: `${QUESTION_KEY}${id}` };
		const posted = await change(trx, 'posts', open, another).returning(['id', 'ts']).execute();
		for (const post of posted) {
			if (post.ts === null) continue;
			const content = { kind: 'question', changed: fingerprint !== former.fingerprint } satisfies PostContent;
			const undrawn = { content: JSON.stringify(content), shownAt: null, wanted: sql<number>`wanted + 1` };
			await change(trx, 'posts', { id: post.id }, undrawn).execute();
			shown.push({ postId: post.id, watch });
		}
	}
	await beginReminders(tx, shown, now);
}

/** Settles the open question of a session, if there is one. */
export async function settleOpen(trx: Db, session: SessionKey, how: SettledHow, now: number): Promise<void> {
	const open = await openQuestionOf(trx, session);
	if (open !== undefined) await settleQuestion(trx, open.id, how, now);
}
