import { sql } from 'kysely';
import { change, changeInBatches, countOf, from, inBatches, locked, lockFor, remove } from '../../database/database.ts';
import { isOurs } from '../../database/due.ts';
import { channelOf, type Db, sessionOf } from '../../database/tables.ts';
import type { ChannelKey, Discovery, Watch, WatchEnd, WatchLimits } from '../../database/watch.ts';
import { DISMISSED } from '../../database/watch.ts';
import { WATCH_KINDS } from '../../posts/kinds.ts';
import type { Tx } from '../../posts/plan-store.ts';
import type { NewPost } from '../../posts/post.ts';
import { createPostStore, type PostHooks } from '../../posts/store.ts';
import { readWatch } from '../../posts/watch-rows.ts';
import type { WatchEnding } from '../../posts/watch-store.ts';
import {
	endWatch,
	liveWatches,
	lockPosts,
	lockSessionOf,
	readShownWatch,
	silencePosts,
	touchLadders,
} from '../../posts/watch-store.ts';
import type { SessionKey } from '../../questions/session.ts';
import { addWatch, limitReached, type NewWatch, stalestHand } from './adding-store.ts';
import { createDiscoveryStore } from './channel-store.ts';
import { createWatchedSessionStore, stopUnwatched } from './watched-session-store.ts';

/**
 * The stored watches. "Our": of `StoreOptions.workspace`. What is damaged, or needs another encryption key, is left out of all
 * results and stays unchanged. Such a post is tried again after 10 minutes and at the next start.
 */
export function createWatchStore(parts: Parameters<typeof createPostStore>[0], hooks: PostHooks) {
	const { db, cipher } = parts;

	return {
		...createWatchedSessionStore({ db, cipher }),
		...createPostStore(parts, hooks),
		...createDiscoveryStore({ db, cipher }),
		/**
		 * Creates the watch, its session's row and the post of its card; idempotent by channel and session. The limits hold
		 * exactly, however many replicas add at once. A raised hand becomes this watch and keeps its posts: `added`.
		 */
		add: (watch: NewWatch) => db.write((trx) => addWatch({ trx, cipher, now: watch.createdAt }, watch)),
		/**
		 * Ends a watch and queues `posts`; drops its pending ones unless `keepPending`. Null when it had ended before.
		 * The session's row goes with its last watch. A raised hand that is unwatched before its first read ends with that read.
		 */
		end: (
			watchId: string,
			reason: WatchEnd,
			{ now, ...ending }: { now: number; posts: readonly NewPost[]; keepPending: boolean },
		) => db.write((trx) => endStored({ trx, now }, watchId, { reason, ...ending })),

		/** Ends the watch of the stalest question if more stand in a channel, or in all, than a limit allows: returns true. */
		async makeRoom(discovery: Discovery, { limits, now }: { limits: WatchLimits; now: number }): Promise<boolean> {
			const exceeded = (trx: Db) =>
				limitReached(trx, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false, by: 1 });
			if ((await exceeded(db.read)) === null) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'addingWatches');
				const reached = await exceeded(trx);
				const stalest = reached && (await stalestHand(trx, discovery, { reached, now, keepsNewest: true }));
				if (stalest === null) return false;
				const ending = { reason: 'gaveWay', posts: [], keepPending: false } as const;
				return (await endStored({ trx, now }, stalest.id, ending)) !== null;
			});
		},
		async list(channel: ChannelKey, page: { offset: number; limit: number }) {
			const newest = liveWatches(db.read, channelOf(channel)).orderBy('lastChangeAt', 'desc').orderBy('id');
			const all = from(db.read, 'watches', { ...channelOf(channel), endedAt: null });
			const [rows, total] = await Promise.all([newest.limit(page.limit).offset(page.offset).execute(), countOf(all)]);
			const shown = await Promise.all(rows.map((row) => readShownWatch(db, cipher, row)));
			return { watches: shown.map(({ watch, ...read }) => ({ ...watch, ...read })), total };
		},
		async find(channel: ChannelKey, session: SessionKey): Promise<Watch | null> {
			const row = await liveWatches(db.read, { ...channelOf(channel), ...sessionOf(session) }).executeTakeFirst();
			return row === undefined ? null : readWatch(row);
		},
		/** The watch of this channel, ended or not, whose card or question this message is or was, and that post; by index. */
		async findByPost({ teamId, channelId }: ChannelKey, ts: string) {
			const posted = from(db.read, 'posts', { ts, teamId, placeId: channelId, kind: WATCH_KINDS });
			const post = await posted.select(['kind', 'watchId', 'questionId']).limit(1).executeTakeFirst();
			if (post?.watchId == null) return null;
			const row = await from(db.read, 'watches', { id: post.watchId }).selectAll().executeTakeFirst();
			return row === undefined ? null : { ...(await readShownWatch(db, cipher, row)), post };
		},

		async ofChannel(channel: ChannelKey): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, channelOf(channel)).orderBy('createdAt').orderBy('id');
			return (await live.execute()).map(readWatch);
		},
		/** Our channels with watches that have not ended, with a discovery, or with posts to send or to draw again. */
		async activeChannels(): Promise<readonly ChannelKey[]> {
			const keys = ['teamId', 'channelId'] as const;
			const watched = from(db.read, 'watches', { endedAt: null }).select(keys).where(isOurs(db));
			const due = from(db.read, 'posts').where(isOurs(db)).where('dueAt', 'is not', null);
			const posted = due.select(['teamId', 'placeId as channelId']).where('stream', 'not like', 'person:%');
			const discovering = from(db.read, 'discoveries').select(keys).where(isOurs(db));
			return (await watched.union(posted).union(discovering).execute()).map(channelOf);
		},
		/** Ends all posts of a channel, also of ended watches, and revokes their leases. */
		silence: (channel: ChannelKey) =>
			db.write(async (trx) => {
				// Whoever else drops posts of a watch has locked it.
				await locked(trx, 'watches', channelOf(channel)).execute();
				await silencePosts(trx, { teamId: channel.teamId, placeId: channel.channelId });
			}),
		/** Removes posts that were over before `before`, questions that were settled and watches that ended before it. */
		async removeEnded(before: number): Promise<number> {
			await db.writeOne((trx) => trx.deleteFrom('shared_states').where('changedAt', '<', before).execute());
			const settled = (trx: Db) => from(trx, 'questions').select('id').where('settledAt', '<', before);
			// What reads have shown of the newest one stays, without its text and its people.
			const gone = { content: null, heldWatchId: null, fromUserId: null, toUserId: null };
			await db.writeOne((trx) => {
				const id = settled(trx).where('content', 'is not', null);
				return change(trx, 'questions', { id }, gone).execute();
			});
			await changeInBatches(db, (trx, limit) =>
				remove(trx, 'questions', { id: settled(trx).where(IS_SUPERSEDED).limit(limit) }),
			);
			await changeInBatches(db, (trx, limit) => remove(trx, 'posts', { id: overBefore(trx, before).limit(limit) }));
			return inBatches((limit) => db.write((trx) => removeBatch(trx, before, limit)));
		},
		/** Forgets sessions first listed before `before`, but not those of `listedService`: its lists show who still waits. */
		forgetListed: (before: number, listedService: string | null) =>
			db.writeOne((trx) => {
				const ofOthers = remove(trx, 'waiting_sessions').where('service', '!=', listedService ?? '');
				return ofOthers.where('since', '<', before).execute();
			}),
	};
}

/** Whether the agent has asked again since a row of `questions`. */
const IS_SUPERSEDED = sql<boolean>`number < (select max(number) from questions as newer
	where newer.service = questions.service and newer.session_id = questions.session_id)`;

export type WatchStore = ReturnType<typeof createWatchStore>;

/** The transaction of `end`. */
export async function endStored(begun: Tx, watchId: string, ending: WatchEnding): Promise<Watch | null> {
	const { trx } = begun;
	const session = await lockSessionOf(trx, watchId);
	if (session === null) return null;
	const tx = await lockPosts(begun, session);
	const row = await liveWatches(trx, { id: watchId }).forUpdate().executeTakeFirst();
	if (row === undefined) return null;
	if (row.mode === 'raisedHand' && row.revision <= 0 && ending.reason === 'unwatched') {
		const dismissed = change(trx, 'watches', { id: watchId }, { revision: DISMISSED });
		return readWatch(await dismissed.returningAll().executeTakeFirstOrThrow());
	}
	const ended = await endWatch(tx, row, ending);
	if (ending.reason === 'gaveWay') {
		await change(trx, 'waiting_sessions', sessionOf(session), { isNew: 0 }).execute();
	}
	await stopUnwatched(trx, session, tx.now);
	await touchLadders(trx, sessionOf(session), tx.now);
	return readWatch(ended);
}

/** Posts that are over, last shown before `before`. Not cards: they hold no text, and the last one tells when another one may be posted. */
function overBefore(trx: Db, before: number) {
	// Written out: SQLite uses a partial index only then.
	const over = from(trx, 'posts').select('id').where(sql<boolean>`state not in ('planned', 'shown')`);
	const isOld = sql<boolean>`created_at < ${before} and coalesce(shown_at, 0) < ${before}`;
	return over.where(isOld).where('kind', '!=', 'card');
}

async function removeBatch(trx: Db, before: number, limit: number): Promise<number> {
	const old = from(trx, 'watches').select(['id', 'service', 'sessionId']).where('endedAt', '<', before);
	const ended = await old.limit(limit).execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await remove(trx, 'watches', { id: ids }).execute();
		await remove(trx, 'posts', { watchId: ids }).execute();
		await remove(trx, 'ladders', { watchId: ids }).execute();
	}
	for (const row of ended) await stopUnwatched(trx, sessionOf(row), before);
	return ids.length;
}
