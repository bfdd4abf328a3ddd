import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { cardAgain, type NewAnnouncement, targetOf } from '../watches/announcements.ts';
import { type CardUrgency, type ChannelKey, isChannelEnd, type SessionKey, type WatchEnd } from '../watches/watch.ts';
import { type Dialect, lockRows, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { type Tables, WITHOUT_LEASE } from './tables.ts';
import {
	readAnnouncement,
	readView,
	readWatch,
	sealContent,
	targetKey,
	URGENCIES,
	type WatchedSessionRow,
	type WatchRow,
} from './watch-rows.ts';

export function onSession({ service, sessionId }: SessionKey) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'watches' | 'watched_sessions' | 'ladders'>) =>
		and([eb('service', '=', service), eb('session_id', '=', sessionId)]);
}

export function inChannel({ teamId, channelId }: ChannelKey) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'watches'>) =>
		and([eb('team_id', '=', teamId), eb('channel_id', '=', channelId)]);
}

/** The query of all live watches. */
export function liveWatches(db: Kysely<Tables>) {
	return db.selectFrom('watches').selectAll().where('ended_at', 'is', null);
}

/** The query of one watch, whose row stays locked until the end of the transaction. */
export function lockWatch(trx: Kysely<Tables>, dialect: Dialect, watchId: string) {
	return trx.selectFrom('watches').selectAll().where('id', '=', watchId).$call(lockRows(dialect));
}

/** The statement that drops pending announcements; the caller adds which ones. */
export function dropPending(trx: Kysely<Tables>) {
	return trx
		.updateTable('announcements')
		.set({ state: 'dropped', next_attempt_at: null, ...WITHOUT_LEASE })
		.where('state', '=', 'pending');
}

/**
 * Locks the session's row. Everything that adds or ends a watch does this first, because it then decides whether the
 * session is still watched.
 */
export async function lockSession(trx: Kysely<Tables>, dialect: Dialect, key: SessionKey) {
	return trx
		.selectFrom('watched_sessions')
		.selectAll()
		.where(onSession(key))
		.$call(lockRows(dialect))
		.executeTakeFirst();
}

/** Locks the session of a watch and returns its key; null when there is no such watch. */
export async function lockSessionOf(
	trx: Kysely<Tables>,
	dialect: Dialect,
	watchId: string | null,
): Promise<SessionKey | null> {
	if (watchId === null) return null;
	const row = await trx
		.selectFrom('watches')
		.select(['service', 'session_id'])
		.where('id', '=', watchId)
		.executeTakeFirst();
	if (row === undefined) return null;
	const key = { service: row.service, sessionId: row.session_id };
	await lockSession(trx, dialect, key);
	return key;
}

/**
 * Moves the read of a session forward to `at`, and its next reads for a short time after `askedAt`. The caller holds the
 * lock of the session.
 */
export async function readEarly(
	trx: Kysely<Tables>,
	row: WatchedSessionRow,
	{ askedAt, at }: { askedAt: number; at: number },
): Promise<void> {
	if (row.next_read_at === null) return;
	// While the session is being read, `next_read_at` is the past time of that read.
	const earlier = row.lease_token === null ? Math.min(row.next_read_at, at) : at;
	await trx
		.updateTable('watched_sessions')
		.set({ touched_at: askedAt, hurry: row.hurry + 1, next_read_at: earlier, read_by: earlier })
		.where(onSession({ service: row.service, sessionId: row.session_id }))
		.execute();
}

/** The statement that makes ladders due now; the caller adds which. */
export function touchLadders(trx: Kysely<Tables>, now: number) {
	return trx.updateTable('ladders').set({ due_at: now, change_count: sql<number>`change_count + 1` });
}

/** What a session's cards show; `view` is null when there is none or it cannot be read. */
export async function readShown(db: StoreDatabase, cipher: Cipher, session: SessionKey) {
	const row = await db.read
		.selectFrom('watched_sessions')
		.select(['service', 'session_id', 'view', 'last_read_at', 'question_since'])
		.where(onSession(session))
		.executeTakeFirst();
	const view = row === undefined ? null : readView(row, cipher);
	return { view, checkedAt: row?.last_read_at ?? null, questionSince: row?.question_since ?? null };
}

/**
 * Queues announcements: each key once for its target, and none that repeats the last one (`unlessSaid`). The caller holds
 * a lock that excludes other writers for these targets.
 */
export async function queueAnnouncements(
	trx: Kysely<Tables>,
	cipher: Cipher,
	announcements: readonly NewAnnouncement[],
	now: number,
): Promise<void> {
	for (const { target, key, content, unlessSaid } of announcements) {
		const id = randomUUID();
		const targetName = targetKey(target);
		if (unlessSaid !== undefined && (await wasSaidLast(trx, targetName, unlessSaid))) continue;
		await trx
			.insertInto('announcements')
			.values({
				id,
				target: targetName,
				number: sql<number>`(select coalesce(max(number), 0) + 1 from announcements where target = ${targetName})`,
				unique_key: key,
				team_id: target.teamId,
				place_id: target.kind === 'person' ? target.userId : target.channelId,
				watch_id: target.kind === 'watch' ? target.watchId : null,
				kind: content.kind,
				content: sealContent(id, content, cipher),
				state: 'pending',
				created_at: now,
				attempts: 0,
				next_attempt_at: now,
			})
			.onConflict((conflict) => conflict.columns(['target', 'unique_key']).doNothing())
			.execute();
	}
}

async function wasSaidLast(
	trx: Kysely<Tables>,
	target: string,
	{ about, says }: NonNullable<NewAnnouncement['unlessSaid']>,
): Promise<boolean> {
	const last = await trx
		.selectFrom('announcements')
		.select('unique_key')
		.where('target', '=', target)
		.where('unique_key', 'like', `%${about}%`)
		.orderBy('number', 'desc')
		.limit(1)
		.executeTakeFirst();
	return last !== undefined && (last.unique_key === says || last.unique_key.startsWith(`${says}:`));
}

/** The columns that request a card update: they keep the oldest time and the highest urgency. */
export function wantCard(
	row: Pick<WatchRow, 'card_since' | 'card_urgency' | 'card_wants' | 'card_not_before'>,
	urgency: CardUrgency,
	now: number,
) {
	const rank = URGENCIES.indexOf(urgency);
	const formerRank = row.card_urgency ?? URGENCIES.length;
	return {
		card_since: row.card_since ?? now,
		card_urgency: Math.min(formerRank, rank),
		card_wants: row.card_wants + 1,
		// An urgent update does not wait for the time that was set for a less urgent one.
		card_not_before: rank < formerRank ? 0 : row.card_not_before,
	};
}

/**
 * Forgets the card `ts`, which somebody deleted, and queues a new one for a live watch. Does nothing when the watch has
 * another card by now. The caller holds the locks of the session and the watch.
 */
export async function loseCard(
	trx: Kysely<Tables>,
	cipher: Cipher,
	row: WatchRow,
	{ ts, now }: { ts: string; now: number },
): Promise<void> {
	const watch = readWatch(row);
	if (watch === null || watch.card.ts !== ts) return;
	await trx
		.updateTable('watches')
		.set({ card_ts: null, card_key: null, ...NO_CARD_WANTED })
		.where('id', '=', watch.id)
		.execute();
	if (watch.ended !== null) return;
	const last = await trx
		.selectFrom('announcements')
		.selectAll()
		.where('target', '=', targetKey(targetOf(watch)))
		.where('kind', '=', 'card')
		.orderBy('number', 'desc')
		.limit(1)
		.executeTakeFirst();
	const content = last === undefined ? undefined : readAnnouncement(last, cipher)?.content;
	const before = content?.kind === 'card' ? (content.notBefore ?? null) : null;
	await queueAnnouncements(trx, cipher, [cardAgain(watch, ts, before, now)], now);
}

/** Drops the pending posts and card updates of a channel. */
export async function silence(trx: Kysely<Tables>, channel: ChannelKey): Promise<void> {
	await dropPending(trx).where('team_id', '=', channel.teamId).where('place_id', '=', channel.channelId).execute();
	await trx
		.updateTable('watches')
		.set({ ...NO_CARD_WANTED, ...WITHOUT_LEASE })
		.where(inChannel(channel))
		.where('card_since', 'is not', null)
		.execute();
}

/** The columns of a watch whose card is up to date. */
export const NO_CARD_WANTED = { card_since: null, card_urgency: null } as const;

/** Ends a live watch; null when it had ended already. The caller holds the lock of its session. */
export async function endWatch(
	trx: Kysely<Tables>,
	cipher: Cipher,
	row: WatchRow,
	{
		reason,
		now,
		announcements,
		keepPending,
	}: { reason: WatchEnd; now: number; announcements: readonly NewAnnouncement[]; keepPending: boolean },
): Promise<WatchRow | null> {
	const ended = await trx
		.updateTable('watches')
		.set({
			ended_reason: reason,
			ended_at: now,
			...(isChannelEnd(reason) ? { ...NO_CARD_WANTED, ...WITHOUT_LEASE } : wantCard(row, 'now', now)),
		})
		.where('id', '=', row.id)
		.where('ended_at', 'is', null)
		.returningAll()
		.executeTakeFirst();
	if (ended === undefined) return null;
	if (!keepPending) await dropPending(trx).where('target', '=', `watch:${row.id}`).execute();
	await queueAnnouncements(trx, cipher, announcements, now);
	return ended;
}

/** Stops reading a session without live watches. Its row stays, because the last cards show it. */
export async function stopUnwatched(trx: Kysely<Tables>, key: SessionKey): Promise<void> {
	await trx
		.updateTable('watched_sessions')
		.set({ next_read_at: null, ...WITHOUT_LEASE })
		.where(onSession(key))
		.where(({ not, exists, selectFrom }) =>
			not(exists(selectFrom('watches').select('id').where(onSession(key)).where('ended_at', 'is', null))),
		)
		.execute();
}
