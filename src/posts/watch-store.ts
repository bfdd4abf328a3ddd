import { sql, type UpdateObject } from 'kysely';
import {
	change,
	type Filter,
	from,
	isFound,
	locked,
	noteQuestions,
	remove,
	type StoreDatabase,
} from '../database/database.ts';
import type { Cipher } from '../database/encryption.ts';
import { channelOf, type Db, sessionOf, type Tables, WITHOUT_LEASE } from '../database/tables.ts';
import { type ChannelKey, isChannelEnd, type WatchEnd } from '../database/watch.ts';
import type { SessionKey } from '../questions/session.ts';
import { QUESTION_KINDS, WATCH_KINDS } from './kinds.ts';
import { dropPlanned, markPosts, OPEN, openWithLists, planPosts, type Tx } from './plan-store.ts';
import { cardAgain, type NewPost } from './post.ts';
import { newestQuestionOf, readQuestion } from './question-store.ts';
import { readPost, readReads, readWatch, viewColumn, type WatchedSessionRow, type WatchRow } from './watch-rows.ts';

export function liveWatches(db: Db, filter: Filter<'watches'>) {
	return from(db, 'watches', { ...filter, endedAt: null }).selectAll();
}

/** Locks the session's row. Whoever adds or ends a watch does this first, and then decides whether it is still watched. */
export async function lockSession(trx: Db, key: SessionKey) {
	return from(trx, 'watched_sessions', sessionOf(key)).selectAll().forUpdate().executeTakeFirst();
}

/** Locks the session of a watch; null when there is no such watch. */
export async function lockSessionOf(trx: Db, watchId: string | null): Promise<SessionKey | null> {
	if (watchId === null) return null;
	const row = await from(trx, 'watches', { id: watchId }).select(['service', 'sessionId']).executeTakeFirst();
	if (row === undefined) return null;
	await lockSession(trx, sessionOf(row));
	return sessionOf(row);
}

/**
 * Locks a session's live watches, then its open posts and the lists of reminders in their channels, before any is written. The
 * caller holds the session's lock, and goes on with the transaction that this returns.
 */
export async function lockPosts(tx: Tx, key: SessionKey): Promise<Tx> {
	await locked(tx.trx, 'watches', { ...sessionOf(key), endedAt: null }).execute();
	const posts = await locked(tx.trx, 'posts', openWithLists(tx.trx, sessionOf(key))).execute();
	return { ...tx, lockedPosts: posts.map(({ id }) => id) };
}

/**
 * Moves the read of a session forward to `at`, and its next reads for a short time after `askedAt`. `by`: its place among due
 * reads (see `PlannedRead`), by default that of its time. The caller holds the lock of the session.
 */
async function readEarly(
	trx: Db,
	row: WatchedSessionRow,
	{ askedAt, at, by }: { askedAt: number | null; at: number; by?: number },
): Promise<void> {
	if (row.nextReadAt === null) return;
	// While the session is being read, `nextReadAt` is the past time of that read.
	const earlier = row.leaseToken === null ? Math.min(row.nextReadAt, at) : at;
	const columns = { touchedAt: askedAt, hurry: row.hurry + 1, nextReadAt: earlier, readBy: by ?? earlier };
	await change(trx, 'watched_sessions', sessionOf(row), columns).execute();
}

/** Whether the read of a session has the place `by` or a better one. While the service is away, exactly this one. */
export function hasPlace(row: WatchedSessionRow, by: number, now: number): boolean {
	const { nextReadAt, readBy, failures } = row;
	if (nextReadAt === null) return true;
	return failures === 0 ? nextReadAt <= now && readBy <= by : readBy === by;
}

/** Moves the read of a session to the place `by`, ahead of others. The caller holds the lock of the session. */
export async function askForRead(trx: Db, row: WatchedSessionRow, by: number, now: number): Promise<void> {
	// Not before its time: the service is away. But ahead of others when it is back.
	if (row.failures > 0) await change(trx, 'watched_sessions', sessionOf(row), { readBy: by }).execute();
	// As of before: the agent does not go on after this read, so no further early ones follow.
	else await readEarly(trx, row, { askedAt: row.touchedAt, at: now, by });
}

/** A watch with what its card shows. `view`: null when there is none or it cannot be read; `question`: the newest one. */
export async function readShownWatch(db: StoreDatabase, cipher: Cipher, row: WatchRow) {
	const key = sessionOf(row);
	const stored = from(db.read, 'watched_sessions', sessionOf(key)).selectAll();
	const [session, asked] = await Promise.all([stored.executeTakeFirst(), newestQuestionOf(db.read, key)]);
	return {
		watch: readWatch(row),
		view: session === undefined ? null : viewColumn.open(session.view, session, cipher),
		checkedAt: session?.lastReadAt ?? null,
		unreadCode: (session && readReads(session).unread?.code) ?? null,
		question: asked === undefined ? null : readQuestion(asked, cipher),
	};
}

/** Has the posts of a session drawn again at `postsAt`, without its cards if `onlyQuestions`. Moves its read to `earlyReadAt`, if any. */
export async function markSession(
	tx: Tx,
	session: SessionKey,
	how: { earlyReadAt: number | null; postsAt?: number; onlyQuestions?: boolean },
): Promise<void> {
	const { earlyReadAt, postsAt = tx.now, onlyQuestions = false } = how;
	const row = await lockSession(tx.trx, session);
	if (row === undefined) return;
	if (earlyReadAt !== null) await readEarly(tx.trx, row, { askedAt: tx.now, at: earlyReadAt });
	await markPosts({ ...tx, now: postsAt }, { ...sessionOf(session), ...(onlyQuestions && { kind: QUESTION_KINDS }) });
}

export async function touchLadders(trx: Db, filter: Filter<'ladders'>, now: number): Promise<void> {
	const columns = { dueAt: now, changeCount: sql<number>`change_count + 1` };
	await change(trx, 'ladders', { watchId: locked(trx, 'ladders', filter) }, columns).execute();
}

/** Plans a new card for a live watch whose card `ts` was deleted. The caller holds the locks of the session and the watch. */
export async function replaceCard(tx: Tx, row: WatchRow, ts: string): Promise<void> {
	// A raised hand has no card.
	if (row.endedAt !== null || row.mode === 'raisedHand') return;
	const cards = from(tx.trx, 'posts', { watchId: row.id, kind: 'card' }).selectAll();
	const last = await cards.orderBy('number', 'desc').limit(1).executeTakeFirst();
	const content = last === undefined ? undefined : readPost(last)?.content;
	const before = content?.kind === 'card' ? (content.notBefore ?? null) : null;
	await planPosts(tx, [cardAgain(readWatch(row), ts, before, tx.now)]);
}

export interface WatchEnding {
	readonly reason: WatchEnd;
	readonly posts: readonly NewPost[];
	/** Whether what was queued before is still posted. */
	readonly keepPending: boolean;
}

/** Ends a live watch. The caller holds the locks of its session and of the watch, and touches its ladders at the end. */
export async function endWatch(tx: Tx, row: WatchRow, ending: WatchEnding): Promise<WatchRow> {
	const { trx, now } = tx;
	const { reason, posts, keepPending } = ending;
	const ended = await change(trx, 'watches', { id: row.id }, { endedReason: reason, endedAt: now })
		.returningAll()
		.executeTakeFirstOrThrow();
	// A post that is on its way is drawn once more when it has arrived.
	if (!keepPending) await dropPlanned(trx, { watchId: row.id, sendingSince: null });
	await planPosts(tx, posts);
	if (isChannelEnd(reason)) await silencePosts(trx, { watchId: row.id, placeId: row.channelId });
	await markPosts(tx, { watchId: row.id });
	noteQuestions(trx, null);
	// Its hand-overs are over.
	await change(trx, 'questions', { heldWatchId: row.id }, { heldWatchId: null, handOverNote: null }).execute();
	return ended;
}

/** Ends these posts of a channel without a last look, and revokes their leases: nothing more is posted there. */
export async function silencePosts(trx: Db, filter: Filter<'posts'>): Promise<void> {
	// All of them first: whoever gives posts back locks both in the order of their keys.
	await locked(trx, 'posts', { ...filter, state: OPEN }).execute();
	await dropPlanned(trx, filter);
	const closed = { state: 'closed', dueAt: null, ...WITHOUT_LEASE };
	await change(trx, 'posts', { ...filter, state: 'shown' }, closed).execute();
}

/** Has what earlier watches of a session posted in a channel drawn once more: it must not offer *Watch again* any more. */
export async function redrawFormer(
	{ trx, now }: Tx,
	watch: ChannelKey & { readonly session: SessionKey },
): Promise<void> {
	const here = from(trx, 'watches', { ...channelOf(watch), ...sessionOf(watch.session) }).select('id');
	const closed = { watchId: here.where('endedAt', 'is not', null), kind: WATCH_KINDS, state: 'closed' };
	await change(trx, 'posts', { id: locked(trx, 'posts', closed) }, { state: 'shown', dueAt: now }).execute();
}

/** Ends a raised hand whose question is settled, and drops its unsent posts. The caller holds the session's lock. */
export async function lowerHand(tx: Tx, row: WatchRow, posts: readonly NewPost[]): Promise<void> {
	const { trx, now } = tx;
	await endWatch(tx, row, { reason: 'handLowered', posts, keepPending: false });
	const asked = { watchId: row.id, state: ['planned', 'shown', 'closed', 'gone'] };
	const wasPosted = await isFound(from(trx, 'posts', asked).select('id'));
	// Once for all channels.
	const count = sql<number>`case when lowered_at = ${now} then lowered_count else lowered_count + 1 end`;
	const lowered = { loweredAt: now, loweredCount: wasPosted ? 0 : count };
	await changeWaiting(trx, row, { ...lowered, ...(wasPosted && asksAnew(now)) });
	if (wasPosted) return;
	await remove(trx, 'posts', { watchId: row.id }).execute();
	await remove(trx, 'watches', { id: row.id }).execute();
}

/** The columns of a waiting session that asks something else, however long it has been listed. */
export const asksAnew = (now: number) => ({ since: now, isNew: 1 });

export function changeWaiting(trx: Db, row: WatchRow, columns: UpdateObject<Tables, 'waiting_sessions'>) {
	return change(trx, 'waiting_sessions', sessionOf(row), columns).execute();
}
