import { type Kysely, sql } from 'kysely';
import type { Log } from '../log.ts';
import { type NewAnnouncement, settlingOf } from '../watches/announcements.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import type { ChannelKey, Discovery, SessionKey, Watch, WatchEnd, WatchLimits } from '../watches/watch.ts';
import { DISMISSED } from '../watches/watch.ts';
import { createAnnouncementStore } from './announcement-store.ts';
import { change, countChanged, from, inBatches, locked, lockFor, remove, type StoreDatabase } from './database.ts';
import { createDiscoveryStore } from './discovery-store.ts';
import { isOurs } from './due.ts';
import type { Cipher } from './encryption.ts';
import { dropPending, isSettled, QUESTION_POSTS } from './question-posts.ts';
import { channelColumns, channelOf, sessionColumns, sessionOf, type Tables, WITHOUT_LEASE } from './tables.ts';
import { addWatch, limitReached, type NewWatch, stalestHand } from './watch-adding.ts';
import { readWatch } from './watch-rows.ts';
import {
	endWatch,
	liveWatches,
	lockSessionOf,
	NO_CARD_WANTED,
	readShownWatch,
	type Tx,
	touchLadders,
	type WatchEnding,
} from './watch-writes.ts';
import { createWatchedSessionStore, stopUnwatched } from './watched-session-store.ts';

export interface WatchPage {
	readonly watches: readonly (Watch & { readonly view: SessionSnapshot | null; readonly checkedAt: number | null })[];
	readonly total: number;
}

/**
 * The stored watches. "Our": of `StoreOptions.workspace`. What is damaged, or needs another encryption key, is left out of every
 * result and stays unchanged. Such an announcement is tried again after 10 minutes and at the next start.
 */
export function createWatchStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	async function end(tx: Tx, watchId: string, ending: WatchEnding): Promise<Watch | null> {
		const { trx } = tx;
		const session = await lockSessionOf(trx, watchId);
		if (session === null) return null;
		const row = await liveWatches(trx, { id: watchId }).forUpdate().executeTakeFirst();
		if (row === undefined) return null;
		if (row.mode === 'raisedHand' && row.revision <= 0 && ending.reason === 'unwatched') {
			const dismissed = change(trx, 'watches', { id: watchId }).set({ revision: DISMISSED });
			return readWatch(await dismissed.returningAll().executeTakeFirstOrThrow());
		}
		const ended = await endWatch(tx, row, ending);
		if (ending.reason === 'gaveWay') {
			await change(trx, 'waiting_sessions', sessionColumns(session)).set({ is_new: 0 }).execute();
		}
		await stopUnwatched(trx, session, tx.now);
		await touchLadders(trx, sessionColumns(session), tx.now);
		return readWatch(ended);
	}

	return {
		...createWatchedSessionStore({ db, cipher }),
		...createAnnouncementStore({ db, cipher, log }),
		...createDiscoveryStore({ db, cipher }),
		/**
		 * Creates the watch, its session's row and the announcement of its card; idempotent by channel and session. The limits hold
		 * exactly, however many replicas add at once. A raised hand becomes this watch and keeps its posts: `added`.
		 */
		add: (watch: NewWatch) => db.write((trx) => addWatch({ trx, cipher, now: watch.createdAt }, watch)),
		/**
		 * Ends a watch and queues `announcements`; drops its pending ones unless `keepPending`. Null when it had ended before.
		 * The session's row goes with its last watch. A raised hand that is unwatched before its first read ends with that read.
		 */
		end: (
			watchId: string,
			reason: WatchEnd,
			{ now, ...ending }: { now: number; announcements: readonly NewAnnouncement[]; keepPending: boolean },
		) => db.write((trx) => end({ trx, cipher, now }, watchId, { reason, ...ending })),

		/** Ends the watch of the stalest question if more stand in a channel, or in all, than a limit allows: returns true. */
		async makeRoom(discovery: Discovery, { limits, now }: { limits: WatchLimits; now: number }): Promise<boolean> {
			const exceeded = (trx: Kysely<Tables>) =>
				limitReached(trx, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false, by: 1 });
			if ((await exceeded(db.read)) === null) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'addingWatches');
				const reached = await exceeded(trx);
				const stalest = reached && (await stalestHand(trx, discovery, { reached, now, keepsNewest: true }));
				if (stalest === null) return false;
				const announcements = settlingOf(stalest, 'gaveWay');
				const ending = { reason: 'gaveWay', announcements, keepPending: false } as const;
				return (await end({ trx, cipher, now }, stalest.id, ending)) !== null;
			});
		},
		/** The watches that have not ended, newest change first. */
		async list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage> {
			const newest = liveWatches(db.read, channelColumns(channel)).orderBy('last_change_at', 'desc').orderBy('id');
			const all = from(db.read, 'watches', { ...channelColumns(channel), ended_at: null });
			const [rows, { total }] = await Promise.all([
				newest.limit(page.limit).offset(page.offset).execute(),
				all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
			]);
			const shown = await Promise.all(rows.map((row) => readShownWatch(db, cipher, row)));
			return { watches: shown.map(({ watch, ...read }) => ({ ...watch, ...read })), total };
		},
		/** The watch of this session in this channel that has not ended. */
		async find(channel: ChannelKey, session: SessionKey): Promise<Watch | null> {
			const here = { ...channelColumns(channel), ...sessionColumns(session) };
			const row = await liveWatches(db.read, here).executeTakeFirst();
			return row === undefined ? null : readWatch(row);
		},
		/** The newest watch of this channel, ended or not, that has or had this message as its card or as a question. */
		async findByPost(channel: ChannelKey, ts: string) {
			const row = await from(db.read, 'watches', channelColumns(channel))
				.selectAll()
				.where(
					sql<boolean>`id in (select id from watches where card_ts = ${ts} union select watch_id from announcements
						where posted_ts = ${ts} and kind in ('card', 'question'))`,
				)
				.orderBy('created_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			return row === undefined ? null : readShownWatch(db, cipher, row);
		},

		/** The watches of a channel that have not ended. */
		async ofChannel(channel: ChannelKey): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, channelColumns(channel)).orderBy('created_at').orderBy('id');
			return (await live.execute()).map(readWatch);
		},
		/** Our channels with watches that have not ended, with a discovery, or with pending posts or card updates. */
		async activeChannels(): Promise<readonly ChannelKey[]> {
			const keys = ['team_id', 'channel_id'] as const;
			const ours = from(db.read, 'watches').select(keys).where(isOurs(db));
			const watched = ours.where('ended_at', 'is', null);
			const updated = ours.where('card_since', 'is not', null);
			const pending = from(db.read, 'announcements', { state: 'pending' }).where(isOurs(db));
			const posted = pending.select(['team_id', 'place_id as channel_id']).where('target', 'not like', 'person:%');
			const discovering = from(db.read, 'discoveries').select(keys).where(isOurs(db));
			return (await watched.union(updated).union(posted).union(discovering).execute()).map(channelOf);
		},
		/** Drops pending posts and card updates of a channel, also of ended watches, and revokes their leases. */
		silence: (channel: ChannelKey) =>
			db.write(async (trx) => {
				// Whoever else drops posts of a watch has locked it.
				await locked(trx, 'watches', channelColumns(channel)).execute();
				const wanted = change(trx, 'watches', channelColumns(channel)).where('card_since', 'is not', null);
				await wanted.set({ ...NO_CARD_WANTED, ...WITHOUT_LEASE }).execute();
				const here = { team_id: channel.teamId, place_id: channel.channelId, state: 'pending' };
				await dropPending(trx, { id: locked(trx, 'announcements', here) });
			}),
		/**
		 * Removes announcements that were posted, refused or dropped before `before`, questions that were settled and watches that
		 * ended before it.
		 */
		async removeEnded(before: number): Promise<number> {
			await db.writeOne((trx) => trx.deleteFrom('shared_states').where('changed_at', '<', before).execute());
			await inBatches((limit) => db.writeOne((trx) => removeQuestionBatch(trx, before, limit)));
			await inBatches((limit) => db.writeOne((trx) => removeSettledBatch(trx, before, limit)));
			return inBatches((limit) => db.write((trx) => removeBatch(trx, before, limit)));
		},
		/**
		 * Removes the texts of announcements that were posted, refused or dropped before `before`, also of watches that go on,
		 * except of questions that are not settled yet. Returns how many. Also forgets the sessions that were first listed before
		 * then, such as those of a former service, but not those of `listedService`: its lists show who still waits.
		 */
		async removeTexts(before: number, listedService: string | null): Promise<number> {
			await db.writeOne((trx) => {
				const ofOthers = remove(trx, 'waiting_sessions').where('service', '!=', listedService ?? '');
				return ofOthers.where('since', '<', before).execute();
			});
			return inBatches((limit) => db.writeOne((trx) => removeTextBatch(trx, before, limit)));
		},
	};
}

export type WatchStore = ReturnType<typeof createWatchStore>;

async function removeTextBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const isOver = sql<boolean>`(kind not in (${sql.join(QUESTION_POSTS)}) or state <> 'posted' or ${isSettled({ isPosted: true })})`;
	const done = doneBefore(trx, before).where('content', '!=', '').where(isOver);
	return countChanged(change(trx, 'announcements', { id: done.limit(limit) }).set({ content: '' }));
}

/** What is not queued any more. Not cards: they hold no text, and the last one tells when another one may be posted. */
function doneBefore(trx: Kysely<Tables>, before: number) {
	const done = from(trx, 'announcements').select('id').where('state', '!=', 'pending').where('created_at', '<', before);
	return done.where('kind', '!=', 'card');
}

async function removeQuestionBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const settled = from(trx, 'questions').select('id').where('settled_at', '<', before).limit(limit);
	return countChanged(remove(trx, 'questions', { id: settled }));
}

/** Removes what a live watch needs no more: posts before the newest settled question, and those that nothing refers to. */
async function removeSettledBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const isOver = sql<boolean>`(kind in ('redraw', 'status') or ${isSettled({ isPosted: true })})`;
	const done = doneBefore(trx, before).where('watch_id', 'is not', null).where(isOver);
	return countChanged(remove(trx, 'announcements', { id: done.limit(limit) }));
}

/** Removes watches that ended before `before` with all that is theirs, older notices, and settled direct messages. */
async function removeBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const old = from(trx, 'watches').select(['id', 'service', 'session_id']).where('ended_at', '<', before);
	const ended = await old.limit(limit).execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await remove(trx, 'watches', { id: ids }).execute();
		await remove(trx, 'announcements', { watch_id: ids }).execute();
		await remove(trx, 'ladders', { watch_id: ids }).execute();
	}
	for (const row of ended) await stopUnwatched(trx, sessionOf(row), before);
	const isUnwatched = sql<boolean>`not exists (select 1 from watches where watches.id = hand_overs.watch_id)`;
	await remove(trx, 'hand_overs').where(isUnwatched).execute();
	// The direct message about a hand-over is updated until it is settled.
	const isOver = sql<boolean>`(kind not in ('handedOver', 'givenBack') or not exists (select 1 from hand_overs
			where announcements.target = 'person:' || hand_overs.team_id || ':'
				|| case when given_back_at is null then to_user_id else from_user_id end || ':' || hand_overs.id)
		and not exists (select 1 from announcements as change
			where change.target = announcements.target and change.state = 'pending'))`;
	const done = doneBefore(trx, before).where('watch_id', 'is', null).where(isOver);
	await remove(trx, 'announcements', { id: done }).execute();
	return ids.length;
}
