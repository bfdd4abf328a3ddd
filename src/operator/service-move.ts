import { putAside } from '../delivery/accept-store.ts';
import { OTHER_SERVICE } from '../delivery/worker.ts';
import { BLOCKING_STATES } from '../domain/answer.ts';
import type { Clock } from '../kernel/clock.ts';
import { endWatchById } from '../sessions/watch-store.ts';
import { recordOperator } from '../store/audit.ts';
import {
	type Cipher,
	type CipherTx,
	channelOf,
	countOf,
	type Db,
	from,
	isFound,
	type StoreDatabase,
} from '../store/database.ts';
import { freeAllLeases } from '../store/due.ts';
import { refuseInUse, untilUnused } from '../store/in-use.ts';
import { lockFor } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { numberBefore } from '../store/question-store.ts';
import { addressesBeside, type Move, moveToService } from '../store/service-address.ts';
import { changeSession, removeSession } from '../store/watched-sessions.ts';
import { changeWatch, liveWatches } from '../store/watches.ts';
import { moveNotices } from '../surfaces/plan-store.ts';
import { settleOpen } from '../surfaces/question-changes-store.ts';

/** A process that has just ended may still be connected. */
const STOP_WITHIN_MS = 5_000;

export type ServiceMoved = Awaited<ReturnType<typeof moveAll>>;

/**
 * Moves all rows of other addresses of the session service to the address `to`, in one transaction: all or nothing, so
 * it can be killed and run again. A program that starts meanwhile waits for it, as for a migration.
 * @throws HandraiseError `database_in_use` while a program runs on this PostgreSQL database
 */
export async function moveService(
	{ db, cipher, clock }: { readonly db: StoreDatabase; readonly cipher: Cipher; readonly clock: Clock },
	{ to, by }: { readonly to: string; readonly by: string },
): Promise<ServiceMoved> {
	await untilUnused(db, clock, STOP_WITHIN_MS, UNCHANGED);
	return db.write(async (trx) => {
		await lockFor(trx, 'migrating');
		await refuseInUse(trx, UNCHANGED);
		return moveAll({ trx, cipher, now: clock.now() }, { to, by });
	});
}

const UNCHANGED = 'Nothing was changed.';

async function moveAll(tx: CipherTx, { to, by }: { readonly to: string; readonly by: string }) {
	const { trx, now } = tx;
	const froms = await addressesBeside(trx, to);
	let [endedCount, asideCount] = [0, 0];
	if (froms.length > 0) await freeAllLeases(trx);
	for (const address of froms) {
		const move = { from: address, to };
		const known = await inBoth(trx, move, 'watched_sessions');
		for (const sessionId of known) endedCount += await joinSession(tx, sessionId, move);
		const asked = await inBoth(trx, move, 'questions');
		for (const sessionId of asked) if (!known.includes(sessionId)) await numberQuestions(trx, sessionId, move);
		asideCount += await putAside(tx, [address, to], OTHER_SERVICE);
		await moveToService(trx, tx.cipher, move);
		await moveNotices(trx, move);
		recordOperator(trx, by, { at: now, action: 'serviceMoved', outcome: 'moved' });
	}
	const count = (state: string | readonly string[]) => countOf(from(trx, 'answers', { state }));
	return {
		/** The former addresses. */
		froms,
		/** Answers that are sent at the next start, and that wait for their authors. */
		unsentCount: await count(BLOCKING_STATES),
		waitingCount: await count('waiting'),
		/** Watches that ended because the channel watches the session at the other address too. */
		endedCount,
		/** Answers that wait for their authors because the question has another live one. */
		asideCount,
	};
}

/** The sessions that a table has at both addresses. */
async function inBoth(trx: Db, { from: address, to }: Move, table: 'watched_sessions' | 'questions') {
	const at = (service: string) => from(trx, table, { service }).select('sessionId');
	const both = at(address).where('sessionId', 'in', at(to)).distinct().orderBy('sessionId');
	return (await both.execute()).map(({ sessionId }) => sessionId);
}

/**
 * Numbers the questions of a session that was watched at one address at most. Those of an address that did not watch it
 * are known by answers alone, and come first.
 */
async function numberQuestions(trx: Db, sessionId: string, { from: address, to }: Move): Promise<void> {
	const [former, now] = [
		{ service: address, sessionId },
		{ service: to, sessionId },
	];
	const isWatched = await isFound(from(trx, 'watched_sessions', former).select('sessionId'));
	await (isWatched ? numberBefore(trx, now, former) : numberBefore(trx, former, now));
}

/**
 * Makes one session of two. What the newest read found stays; the questions of the other session become earlier ones.
 * A channel that watched both keeps one watch. One that watched the other alone reads anew. Returns how many watches
 * ended.
 */
async function joinSession(tx: CipherTx, sessionId: string, { from: address, to }: Move): Promise<number> {
	const { trx, now } = tx;
	const rows = await from(trx, 'watched_sessions', { sessionId, service: [address, to] })
		.selectAll()
		.execute();
	const [newer, older] = rows.toSorted((one, other) => (other.lastReadAt ?? 0) - (one.lastReadAt ?? 0));
	if (newer === undefined || older === undefined) return 0;
	const [kept, left] = [
		{ service: newer.service, sessionId },
		{ service: older.service, sessionId },
	];
	let endedCount = 0;
	for (const watch of await liveWatches(trx, left).execute()) {
		const twin = await liveWatches(trx, { ...channelOf(watch), ...kept }).executeTakeFirst();
		if (twin === undefined) await changeWatch(trx, watch.id, { revision: 0 });
		else {
			const reason = watch.mode === 'raisedHand' ? 'handLowered' : 'unwatched';
			await endWatchById(tx, watch.id, { reason, posts: [] });
			endedCount++;
		}
	}
	await settleOpen(trx, left, 'closed', now);
	await markDue(tx, left);
	await numberBefore(trx, left, kept);
	await removeSession(trx, left);
	// It may have been watched at the other address alone.
	if (older.nextReadAt !== null && newer.nextReadAt === null)
		await changeSession(trx, kept, { nextReadAt: now, readBy: now });
	return endedCount;
}
