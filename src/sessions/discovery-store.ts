// Owns `discoveries` and `waiting_sessions`: which channels want all questions, and which listed sessions wait.
import type { ListedSession, SessionKey } from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { pick } from '../kernel/values.ts';
import { recordEvents } from '../store/audit.ts';
import { removeInBatches } from '../store/batches.ts';
import {
	add,
	change,
	channelOf,
	type Db,
	from,
	isFound,
	placeId,
	type RawBuilder,
	type Row,
	remove,
	type StoreParts,
	sessionOf,
	sql,
} from '../store/database.ts';
import { lockFor } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import type { ChannelKey, Discovery, WaitingSession } from '../store/watch.ts';
import { dropPlanned, planPosts } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { removeOldRules } from './answerers-store.ts';

type WaitingRow = Row<'waiting_sessions'>;

/**
 * A session that was saved this shortly before it left the list has gone on: somebody answered, resumed or stopped it.
 */
const SAVED_BEFORE_MS = 10 * 60_000;

export function createDiscoveryStore({ db, cipher }: StoreParts) {
	const nameOf = (row: WaitingRow) => cipher.decrypt(row.name, namePlace(sessionOf(row))) ?? '';

	return {
		/**
		 * Replaces the sessions that wait. Those that were listed in the last day keep their `since`, unless they are known
		 * to have gone on. Returns whether anything changed. `isFollowing`: this process got a list before. `isCut`: the
		 * end of this list or the one before is missing, so a session that appears at the end may have waited before.
		 */
		async replaceWaiting(
			service: string,
			sessions: readonly Omit<ListedSession, 'status'>[],
			{ now, isFollowing, isCut }: { now: number; isFollowing: boolean; isCut: boolean },
		): Promise<boolean> {
			const wanted = new Map(sessions.map((session) => [session.sessionId, session]));
			const differs = (rows: readonly WaitingRow[]) =>
				rows.length !== wanted.size || rows.some((row) => wanted.get(row.sessionId)?.name !== nameOf(row));
			// Most lists equal the one before.
			if (!differs(await waitingRows(db.read, service).execute())) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'replacingLists');
				// A session that left the list is kept for a day, to know its `since` if it comes back.
				const forgotten = remove(trx, 'waiting_sessions', { service });
				await forgotten.where('goneAt', '<=', now - DAY_MS).execute();
				const known = await from(trx, 'waiting_sessions', { service }).selectAll().execute();
				const rows = known.filter((row) => row.goneAt === null);
				const before = new Map(known.map((row) => [row.sessionId, row]));
				const missing = rows.filter((row) => !wanted.has(row.sessionId)).map((row) => row.sessionId);
				await change(trx, 'waiting_sessions', { service, sessionId: missing }, { goneAt: now }).execute();
				const lastKnown = [...wanted.keys()].findLastIndex((sessionId) => before.has(sessionId));
				for (const [index, [sessionId, { name, updatedAt }]] of [...wanted].entries()) {
					const row = before.get(sessionId);
					if (row !== undefined && row.goneAt === null && nameOf(row) === name) continue;
					const sealed = cipher.encrypt(name, namePlace({ service, sessionId }));
					if (row !== undefined) {
						// A session that comes back is read at once, because it may ask something else.
						const back = row.goneAt !== null && { goneAt: null, loweredAt: null, loweredCount: 0 };
						const anew = back && (await hasGoneOn(trx, row, updatedAt)) && asksAnew(now);
						await change(trx, 'waiting_sessions', { service, sessionId }, { name: sealed, ...back, ...anew }).execute();
						continue;
					}
					const isNew = (isFollowing || before.size > 0) && (!isCut || index < lastKnown);
					const first = { service, sessionId, name: sealed, since: now, isNew: Number(isNew) };
					await add(trx, 'waiting_sessions', first).execute();
				}
				const isOther = differs(rows);
				if (isOther) await markDue({ trx, now }, null);
				return isOther;
			});
		},

		/** The listed sessions, the longest waiting first. A name that needs another key is empty. */
		async waiting(service: string): Promise<readonly WaitingSession[]> {
			const gaveWay = sql<0 | 1>`case when exists (select 1 from watches
				where watches.service = waiting_sessions.service and watches.session_id = waiting_sessions.session_id
					and ended_reason = 'gaveWay' and ended_at >= since) then 1 else 0 end`;
			const rows = await waitingRows(db.read, service).select(gaveWay.as('gaveWay')).execute();
			return rows.map((row) => {
				const known = { ...pick(row, 'sessionId', 'since'), name: nameOf(row) };
				return { ...known, isNew: row.isNew === 1, gaveWay: row.gaveWay === 1 };
			});
		},

		/** Begins `watch all` and plans `posts`. `already`: it was begun before, and stays as it is. */
		begin: (begun: Discovery, posts: readonly NewPost[]) =>
			db.write(async (trx): Promise<'begun' | 'already'> => {
				const { service, createdBy, createdAt } = begun;
				const channel = channelOf(begun);
				const stored = await from(trx, 'discoveries', channel).select('service').forUpdate().executeTakeFirst();
				if (stored?.service === service) return 'already';
				await remove(trx, 'discoveries', channel).execute();
				// Of two replicas that find none, one fails on the key and runs again.
				await add(trx, 'discoveries', { ...channel, service, createdBy, createdAt }).execute();
				await planPosts({ trx, now: createdAt }, posts);
				const event = { at: createdAt, action: 'watched', actor: createdBy, channel: channel.channelId } as const;
				recordEvents(trx, { ...event, outcome: 'all_begun' });
				return 'begun';
			}),

		/** Ends `watch all` and plans `posts`. Null: the channel has none. */
		end: (channel: ChannelKey, { now, posts }: { now: number; posts: (discovery: Discovery) => readonly NewPost[] }) =>
			db.write(async (trx): Promise<Discovery | null> => {
				const ended = remove(trx, 'discoveries', channelOf(channel)).returningAll();
				const row = await ended.executeTakeFirst();
				if (row === undefined) return null;
				recordEvents(trx, { at: now, action: 'unwatched', channel: channel.channelId, outcome: 'all_ended' });
				// A channel that was not told yet that it began is not told that it ended.
				const begun = { teamId: channel.teamId, placeId: channel.channelId, kind: 'discoveryBegun' };
				const wasTold = (await dropPlanned(trx, { ...begun, sendingSince: null })) === 0;
				const told = posts(row).filter(({ content }) => wasTold || content.kind !== 'discoveryEnded');
				await planPosts({ trx, now }, told);
				return row;
			}),

		async find(channel: ChannelKey, service: string): Promise<Discovery | null> {
			const here = from(db.read, 'discoveries', { ...channelOf(channel), service });
			return (await here.selectAll().executeTakeFirst()) ?? null;
		},

		/** All channels with `watch all`, the oldest first. */
		async list(service: string): Promise<readonly Discovery[]> {
			const all = from(db.read, 'discoveries', { service }).selectAll();
			return all.orderBy('createdAt').orderBy('channelId').execute();
		},

		/**
		 * The listed sessions that a channel does not watch, the longest waiting first. `loweredAt`: when its raised hand
		 * last ended, null: never; `loweredCount`: how often in a row without a question. `newsAt`: when it began to wait;
		 * 0: before the first list or before `watch all`.
		 */
		async raisedHands({ teamId, channelId, service, createdAt }: Discovery) {
			const rows = await waitingRows(db.read, service)
				.where(
					sql<boolean>`not exists (select 1 from watches where watches.team_id = ${teamId}
						and watches.channel_id = ${channelId} and watches.service = waiting_sessions.service
						and watches.session_id = waiting_sessions.session_id
						and watches.ended_at is null)`,
				)
				.execute();
			return rows.map(({ sessionId, since, loweredAt: at, loweredCount, isNew }) => {
				// Reads from before `watch all` began do not delay a session.
				const lowered = { loweredAt: at !== null && at >= createdAt ? at : null, loweredCount };
				return { sessionId, ...lowered, newsAt: isNew === 1 && since >= createdAt ? since : 0 };
			});
		},

		/** Forgets who may answer sessions that nobody has watched for long. */
		removeOldRules: (before: number) => removeOldRules(db, before),

		/** Forgets sessions first listed before `before`, except of `listedService`: its lists show who still waits. */
		forgetListed: (before: number, listedService: string | null) =>
			removeInBatches(db, 'waiting_sessions', sql<boolean>`service <> ${listedService ?? ''} and since < ${before}`),
	};
}

export type DiscoveryStore = ReturnType<typeof createDiscoveryStore>;

/** The columns of a waiting session that asks something new. */
const asksAnew = (now: number) => ({ since: now, isNew: 1 });

/** Whether a session was waiting before its channel began `watch all`, or before the first list. */
export async function isBacklog(trx: Db, watch: ChannelKey & SessionKey): Promise<boolean> {
	const begun = await from(trx, 'discoveries', channelOf(watch)).select('createdAt').executeTakeFirst();
	const listed = await from(trx, 'waiting_sessions', sessionOf(watch)).select(['since', 'isNew']).executeTakeFirst();
	return begun !== undefined && listed !== undefined && (listed.isNew === 0 || listed.since < begun.createdAt);
}

/** Notes that a listed session asks something new. */
export const noteAsked = (trx: Db, session: SessionKey, now: number) =>
	change(trx, 'waiting_sessions', sessionOf(session), asksAnew(now)).execute();

/** Notes that a listed session asks nothing. `wasPosted`: its last question stood in a channel. */
export async function noteLowered(trx: Db, session: SessionKey, wasPosted: boolean, now: number): Promise<void> {
	// Several channels may lower it in one transaction: it counts once.
	const count = sql<number>`case when lowered_at = ${now} then lowered_count else lowered_count + 1 end`;
	const lowered = { loweredAt: now, loweredCount: wasPosted ? 0 : count };
	const columns = { ...lowered, ...(wasPosted && asksAnew(now)) };
	await change(trx, 'waiting_sessions', sessionOf(session), columns).execute();
}

/** Ends `watch all` in somebody's direct message with the app. `isDirect`: whether a row is of such a channel. */
export const removeDiscoveries = (trx: Db, createdBy: string, isDirect: RawBuilder<boolean>) =>
	remove(trx, 'discoveries', { createdBy }).where(isDirect).execute();

/** Whether a session that comes back has gone on since it was last listed. `savedAt`: `ListedSession.updatedAt`. */
async function hasGoneOn(trx: Db, row: WaitingRow, savedAt: number | null): Promise<boolean> {
	const isClosed = row.loweredAt !== null && row.loweredCount === 0;
	if (isClosed || (savedAt ?? 0) > Math.max(row.since, (row.goneAt ?? 0) - SAVED_BEFORE_MS)) return true;
	return isFound(from(trx, 'answers', sessionOf(row)).select('id').where('deliveredAt', '>', row.since));
}

function waitingRows(db: Db, service: string) {
	return from(db, 'waiting_sessions', { service, goneAt: null }).selectAll().orderBy('since').orderBy('sessionId');
}

function namePlace({ service, sessionId }: SessionKey) {
	return { table: 'waiting_sessions', id: placeId(service, sessionId), column: 'name' } as const;
}
