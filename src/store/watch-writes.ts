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
	type WatchRow,
} from './watch-rows.ts';

export function onSession({ service, sessionId }: SessionKey) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'watches' | 'watched_sessions'>) =>
		and([eb('service', '=', service), eb('session_id', '=', sessionId)]);
}

export function inChannel({ teamId, channelId }: ChannelKey) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'watches'>) =>
		and([eb('team_id', '=', teamId), eb('channel_id', '=', channelId)]);
}

/** Everything that adds or ends a watch locks its session's row first: whether it has any is decided under that lock. */
export async function lockSession(trx: Kysely<Tables>, dialect: Dialect, key: SessionKey) {
	return trx
		.selectFrom('watched_sessions')
		.selectAll()
		.where('service', '=', key.service)
		.where('session_id', '=', key.sessionId)
		.$call(lockRows(dialect))
		.executeTakeFirst();
}

/** As `lockSession`, for the session of this watch, whose key it returns; null when there is no such watch. */
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

/** What cards show of a session; `view` is null when there is none that can be read. */
export async function readShown(db: StoreDatabase, cipher: Cipher, session: SessionKey) {
	const row = await db.read
		.selectFrom('watched_sessions')
		.select(['service', 'session_id', 'view', 'last_read_at'])
		.where(onSession(session))
		.executeTakeFirst();
	return { view: row === undefined ? null : readView(row, cipher), checkedAt: row?.last_read_at ?? null };
}

/**
 * Adds intents to post, each once for its target however often this is called, and none that was said last. The caller
 * holds a lock that only one writer for these targets can hold.
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

/** What an update of a watch's row writes for a card that does not show something: the oldest want and the most urgent. */
export function wantCard(
	row: Pick<WatchRow, 'card_since' | 'card_urgency' | 'card_wants' | 'card_not_before'>,
	urgency: CardUrgency,
	now: number,
) {
	const place = URGENCIES.indexOf(urgency);
	const before = row.card_urgency ?? URGENCIES.length;
	return {
		card_since: row.card_since ?? now,
		card_urgency: Math.min(before, place),
		card_wants: row.card_wants + 1,
		// Something urgent does not wait for the turn that was found for progress.
		card_not_before: place < before ? 0 : row.card_not_before,
	};
}

/**
 * Somebody deleted the card `ts` of a watch whose session's row and own are locked: it has none until a new one is posted,
 * which is queued for a live watch. Nothing when another took its place already.
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
		.set({ card_ts: null, card_key: null, card_since: null, card_urgency: null })
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

/** Gives up what is still to be posted or updated in a channel. */
export async function silence(trx: Kysely<Tables>, { teamId, channelId }: ChannelKey): Promise<void> {
	await trx
		.updateTable('announcements')
		.set({ state: 'dropped', next_attempt_at: null, ...WITHOUT_LEASE })
		.where('team_id', '=', teamId)
		.where('place_id', '=', channelId)
		.where('state', '=', 'pending')
		.execute();
	await trx
		.updateTable('watches')
		.set(NO_CARD_WANTED)
		.where(inChannel({ teamId, channelId }))
		.where('card_since', 'is not', null)
		.execute();
}

/** Whoever holds a lease of the card has lost it. */
const NO_CARD_WANTED = { card_since: null, card_urgency: null, ...WITHOUT_LEASE } as const;

/** Ends a live watch whose session's row is locked; null when it had ended. */
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
			...(isChannelEnd(reason) ? NO_CARD_WANTED : wantCard(row, 'now', now)),
		})
		.where('id', '=', row.id)
		.where('ended_at', 'is', null)
		.returningAll()
		.executeTakeFirst();
	if (ended === undefined) return null;
	if (!keepPending) {
		await trx
			.updateTable('announcements')
			.set({ state: 'dropped', next_attempt_at: null, ...WITHOUT_LEASE })
			.where('target', '=', `watch:${row.id}`)
			.where('state', '=', 'pending')
			.execute();
	}
	await queueAnnouncements(trx, cipher, announcements, now);
	return ended;
}

/** Stops reading a session that nobody watches any more; its row stays until its last card was shown. */
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
