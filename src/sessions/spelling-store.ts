import { moveAnswers, pointAnswersTo } from '../delivery/moving-store.ts';
import type { SessionKey } from '../domain/session.ts';
import { type CipherTx, channelOf, type StoreParts, sessionOf } from '../store/database.ts';
import { inLockOrder, lockFor, lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { joinQuestions } from '../store/question-store.ts';
import { isStored, moveToSpelling, otherSpellings, servicesOfLists, TABLES_OF_SESSIONS } from '../store/spellings.ts';
import { changeSession, removeSession, type WatchedSessionRow } from '../store/watched-sessions.ts';
import { liveWatches } from '../store/watches.ts';
import { pointPostsTo, replaceInPosts } from '../surfaces/plan-store.ts';
import { endWatch } from './watch-store.ts';

/** Tables that come before sessions in the order of locks. */
const FIRST = ['answers', 'drafts'] as const;
const OTHERS = TABLES_OF_SESSIONS.filter((name) => !FIRST.some((first) => first === name));

/** Moves what is stored of a session under another spelling of its id than the session service says. */
export function createSpellingStore({ db, cipher }: StoreParts) {
	return {
		others: (session: SessionKey) => otherSpellings(db.read, session),

		/**
		 * Moves all that is stored under `former` to `session`, as the service says that they are one, and has it drawn
		 * again. Whoever works on a row of `former` loses its lease. False when nothing is stored there.
		 */
		move: (former: SessionKey, session: SessionKey, now: number) =>
			db.write(async (trx) => {
				if (!(await isStored(trx, former))) return false;
				await moveAll({ trx, cipher, now }, former, session);
				return true;
			}),
	};
}

async function moveAll(tx: CipherTx, former: SessionKey, session: SessionKey): Promise<void> {
	const { trx, now } = tx;
	await lockFor(trx, 'addingWatches');
	await moveAnswers(tx, former, session);
	await moveToSpelling(tx, 'drafts', former, session);
	const rows = new Map<string, WatchedSessionRow | undefined>();
	for (const key of inLockOrder([former, session], ({ sessionId }) => sessionId))
		rows.set(key.sessionId, await lockSession(trx, key));
	const [formerRow, row] = [rows.get(former.sessionId), rows.get(session.sessionId)];
	await endDoubles(tx, former, session);
	// The row whose reads go on is the base. The questions of the other one are joined to it.
	const [base, other] = placeOf(formerRow) > placeOf(row) ? [former, session] : [session, former];
	for (const [id, staysId] of await joinQuestions(tx, base, other)) {
		await pointAnswersTo(trx, id, staysId);
		await pointPostsTo(trx, id, staysId);
	}
	if (formerRow !== undefined && row !== undefined) await removeSession(trx, other);
	for (const service of await servicesOfLists(trx, former))
		await moveToSpelling(tx, 'answer_rules', { ...former, service }, { ...session, service });
	for (const table of OTHERS) await moveToSpelling(tx, table, former, session);
	const nameOf = ({ sessionId }: SessionKey) => `"sessionId":${JSON.stringify(sessionId)}`;
	await replaceInPosts(trx, nameOf(former), nameOf(session));
	const isRead = formerRow?.nextReadAt != null || row?.nextReadAt != null;
	const earlyReadCount = 1 + Math.max(formerRow?.earlyReadCount ?? 0, row?.earlyReadCount ?? 0);
	if (isRead) await changeSession(trx, session, { nextReadAt: now, readBy: now, earlyReadCount });
	await markDue(tx, session);
}

/**
 * Which of two rows stays: a session that is read comes before one of ended watches, and one with a read before none.
 */
const placeOf = (row: WatchedSessionRow | undefined) =>
	row === undefined ? 0 : 1 + 2 * Number(row.nextReadAt !== null) + Number(row.lastReadAt !== null);

/**
 * Where a channel watches both spellings, the watch of `session` ends if it is a raised hand, else that of `former`.
 */
async function endDoubles(tx: CipherTx, former: SessionKey, session: SessionKey): Promise<void> {
	for (const watch of await liveWatches(tx.trx, sessionOf(former)).orderBy('id').execute()) {
		const same = await liveWatches(tx.trx, { ...channelOf(watch), ...sessionOf(session) }).executeTakeFirst();
		if (same === undefined) continue;
		const ended = same.mode === 'raisedHand' ? same : watch;
		await endWatch(tx, ended, { reason: 'unwatched', posts: [], byProgram: true });
	}
}
