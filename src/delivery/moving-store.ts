import { type Answer, BLOCKING_STATES, isBlocking, STANDING_STATES } from '../domain/answer.ts';
import type { SessionKey } from '../domain/session.ts';
import { type CipherTx, change, type Db, from, sessionOf, WITHOUT_LEASE } from '../store/database.ts';
import { moveToSpelling } from '../store/spellings.ts';
import { firstConflict, lockQuestion, loseTo, replaceWaiting, winnerOf } from './accept-store.ts';
import { type AnswerRow, createAnswerReader } from './rows-store.ts';

/**
 * Moves the answers of a session that are stored under another spelling of its id. Of two live ones to a question one
 * stays: that of a PUT that may arrive, else the first. The author of the other is told, as in any conflict.
 */
export async function moveAnswers(tx: CipherTx, former: SessionKey, session: SessionKey): Promise<void> {
	const { trx } = tx;
	const sessionId = [former.sessionId, session.sessionId];
	const ofBoth = { service: session.service, sessionId };
	const live = from(trx, 'answers', { ...ofBoth, state: BLOCKING_STATES })
		.select('messageIndex')
		.distinct();
	for (const { messageIndex } of await live.orderBy('messageIndex').execute()) {
		for (const id of sessionId.toSorted()) await lockQuestion(trx, { ...session, sessionId: id, messageIndex });
		const rows = from(trx, 'answers', { ...ofBoth, messageIndex, state: STANDING_STATES }).selectAll();
		await settleConflicts(tx, await rows.orderBy('acceptedAt', 'desc').orderBy('id').forUpdate().execute(), former);
	}
	await moveToSpelling(tx, 'answers', former, session);
	// A list may move too.
	await checkAuthorsAgain(trx, session);
}

/**
 * Call it after a change of who may answer a session. The author of an answer is checked before its read, and not
 * after that. So whoever is about to send one loses its lease, and begins again.
 */
export async function checkAuthorsAgain(trx: Db, session: SessionKey): Promise<void> {
	const unsent = change(trx, 'answers', { ...sessionOf(session), putStartedAt: null }, WITHOUT_LEASE);
	await unsent.where('leaseToken', 'is not', null).execute();
}

/** Links the answers to a question to another row of the same question. */
export const pointAnswersTo = (trx: Db, questionId: string, id: string) =>
	change(trx, 'answers', { questionId }, { questionId: id }).execute();

/** `rows`: of one question, under both spellings, the newest first. */
async function settleConflicts(tx: CipherTx, rows: readonly AnswerRow[], former: SessionKey): Promise<void> {
	const [first, ...later] = rows
		.filter(({ state }) => isBlocking(state as Answer['state']))
		.flatMap(createAnswerReader(tx.cipher))
		// An answer that cannot be read does not move.
		.filter(({ content, question }) => content.kind === 'readable' || question.sessionId !== former.sessionId)
		.toSorted(bySending);
	if (first === undefined) return;
	for (const loser of later) await loseTo(tx, loser, winnerOf(first));
	const others = rows.filter((row) => row.sessionId !== first.question.sessionId);
	// Answers that arrived under the other spelling after the form was read: the author of `first` has not seen them.
	const arrived = others.filter((row) => row.deliveredAt !== null && row.fingerprint === first.fingerprint);
	const by = first.putStartedAt === null ? firstConflict(arrived, tx.cipher, first) : undefined;
	if (by === undefined) await replaceWaiting(tx, others, winnerOf(first));
	else await loseTo(tx, first, winnerOf(by));
}

/** First the one whose PUT began first, then the one that was accepted first. */
function bySending(one: Answer, other: Answer): number {
	const never = Number.POSITIVE_INFINITY;
	const [begun, otherBegun] = [one.putStartedAt ?? never, other.putStartedAt ?? never];
	if (begun !== otherBegun) return begun - otherBegun;
	return one.acceptedAt - other.acceptedAt || (one.id < other.id ? -1 : 1);
}
