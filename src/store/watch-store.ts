import { type Kysely, sql } from 'kysely';
import type { Log } from '../log.ts';
import { type NewAnnouncement, settlingOf } from '../watches/announcements.ts';
import type { Discovery } from '../watches/discovered.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import {
	type ChannelKey,
	DISMISSED,
	type SessionKey,
	type Watch,
	type WatchEnd,
	type WatchLimits,
} from '../watches/watch.ts';
import { createAnnouncementStore } from './announcement-store.ts';
import { countUpdated, inBatches, type StoreDatabase } from './database.ts';
import { createDiscoveryStore } from './discovery-store.ts';
import { isOurs } from './due.ts';
import type { Cipher } from './encryption.ts';
import { lockLadders, touchLadders } from './lock-order.ts';
import { QUESTION_POSTS } from './question-posts.ts';
import type { Tables } from './tables.ts';
import { addWatch, limitReached, lockAdding, type NewWatch, stalestHand } from './watch-adding.ts';
import { createUnreadableNotes, readWatch, type WatchRow } from './watch-rows.ts';
import {
	endWatch,
	inChannel,
	liveWatches,
	lockSessionOf,
	lockWatch,
	onSession,
	readShown,
	silence,
} from './watch-writes.ts';
import { createWatchedSessionStore, stopUnwatched } from './watched-session-store.ts';

export interface WatchPage {
	readonly watches: readonly (Watch & { readonly view: SessionSnapshot | null; readonly checkedAt: number | null })[];
	readonly total: number;
}

/**
 * The stored watches. "Our": of `StoreOptions.workspace`. Every method is one transaction; a resolved promise means
 * committed. When the store cannot be reached it throws `StoreUnavailableError` (code `store_unavailable`, retryable).
 *
 * A row that is damaged, or that needs another encryption key, is left out of every result
 * and stays unchanged. Its announcement is tried again after 10 minutes and at the next start.
 */
export function createWatchStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	const noteUnreadable = createUnreadableNotes(log);

	/** Null for no row and for one that cannot be read. */
	function readOrNull(row: WatchRow | null | undefined): Watch | null {
		const watch = row == null ? null : readWatch(row);
		if (row != null && watch === null) noteUnreadable({ watch: row.id });
		return watch;
	}

	const readOrSkip = (row: WatchRow): Watch[] => {
		const watch = readOrNull(row);
		return watch === null ? [] : [watch];
	};

	async function end(trx: Kysely<Tables>, watchId: string, ending: Parameters<typeof endWatch>[3]) {
		const session = await lockSessionOf(trx, db.dialect, watchId);
		if (session === null) return null;
		const row = await lockWatch(trx, db.dialect, watchId).where('ended_at', 'is', null).executeTakeFirst();
		if (row === undefined || readOrNull(row) === null) return null;
		if (row.mode === 'raisedHand' && row.revision <= 0 && ending.reason === 'unwatched') {
			const dismissed = trx.updateTable('watches').set({ revision: DISMISSED }).where('id', '=', watchId);
			return readOrNull(await dismissed.returningAll().executeTakeFirst());
		}
		const ended = await endWatch(trx, cipher, row, ending);
		if (ending.reason === 'gaveWay') {
			await trx.updateTable('waiting_sessions').set({ is_new: 0 }).where(onSession(session)).execute();
		}
		await stopUnwatched(trx, session);
		await touchLadders(trx, lockLadders(trx, db.dialect).where(onSession(session)), ending.now);
		return readOrNull(ended);
	}

	async function list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage> {
		const base = db.read.selectFrom('watches').where(inChannel(channel)).where('ended_at', 'is', null);
		const [rows, { total }] = await Promise.all([
			base.selectAll().orderBy('last_change_at', 'desc').orderBy('id').limit(page.limit).offset(page.offset).execute(),
			base.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
		]);
		const watches = await Promise.all(
			rows.flatMap(readOrSkip).map(async (watch) => ({ ...watch, ...(await readShown(db, cipher, watch.session)) })),
		);
		return { watches, total };
	}

	return {
		...createWatchedSessionStore({ db, cipher, readOrSkip }),
		...createAnnouncementStore({ db, cipher, noteUnreadable }),
		...createDiscoveryStore({ db, cipher }),
		/**
		 * Creates the watch, its session's row (due at once) and the announcement of its card; idempotent by channel and session.
		 * The limits hold exactly, however many replicas add at once. A raised hand becomes this watch and keeps its posts:
		 * `added`.
		 */
		add: (watch: NewWatch) => db.write((trx) => addWatch(trx, { dialect: db.dialect, cipher }, watch)),
		/**
		 * Ends a watch and queues `announcements`; drops its pending ones unless `keepPending`. Null when it had ended before.
		 * The session's row goes with its last watch. A raised hand that is unwatched before its first read ends with that read.
		 */
		end: (
			watchId: string,
			reason: WatchEnd,
			options: { now: number; announcements: readonly NewAnnouncement[]; keepPending: boolean },
		) => db.write((trx) => end(trx, watchId, { reason, ...options })),

		/** Ends the watch of the stalest question if more stand in a channel, or in all, than a limit allows. Returns whether it did. */
		async makeRoom(discovery: Discovery, { limits, now }: { limits: WatchLimits; now: number }): Promise<boolean> {
			const exceeded = (trx: Kysely<Tables>) =>
				limitReached(trx, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false, by: 1 });
			if ((await exceeded(db.read)) === null) return false;
			return db.write(async (trx) => {
				await lockAdding(trx, db.dialect);
				const reached = await exceeded(trx);
				const stalest = reached && (await stalestHand(trx, discovery, { reached, now, keepsNewest: true }));
				if (stalest === null) return false;
				const announcements = settlingOf(stalest, 'gaveWay');
				return (await end(trx, stalest.id, { reason: 'gaveWay', now, announcements, keepPending: false })) !== null;
			});
		},
		/** The watches that have not ended, newest change first. */
		list,
		/** The watch of this session in this channel that has not ended. */
		async find(channel: ChannelKey, session: SessionKey): Promise<Watch | null> {
			const query = liveWatches(db.read).where(inChannel(channel)).where(onSession(session));
			return readOrNull(await query.executeTakeFirst());
		},
		/** The newest watch of this channel, ended or not, that has or had this message as its card or as a question. */
		async findByPost(channel: ChannelKey, ts: string) {
			const row = await db.read
				.selectFrom('watches')
				.selectAll()
				.where(inChannel(channel))
				.where(
					sql<boolean>`id in (select id from watches where card_ts = ${ts} union select watch_id from announcements
						where posted_ts = ${ts} and kind in ('card', 'question'))`,
				)
				.orderBy('created_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			const watch = readOrNull(row);
			if (watch === null) return null;
			const { view } = await readShown(db, cipher, watch.session);
			return { watch, view };
		},

		/** The watches of a channel that have not ended. */
		async ofChannel(channel: ChannelKey): Promise<readonly Watch[]> {
			const rows = await liveWatches(db.read).where(inChannel(channel)).orderBy('created_at').orderBy('id').execute();
			return rows.flatMap(readOrSkip);
		},
		/** Our channels with watches that have not ended, with a discovery, or with pending posts or card updates. */
		async activeChannels(): Promise<readonly ChannelKey[]> {
			const keys = ['team_id', 'channel_id'] as const;
			const ours = db.read.selectFrom('watches').select(keys).where(isOurs(db));
			const watched = ours.where('ended_at', 'is', null);
			const updated = ours.where('card_since', 'is not', null);
			const posted = db.read
				.selectFrom('announcements')
				.select(['team_id', 'place_id as channel_id'])
				.where(isOurs(db))
				.where('state', '=', 'pending')
				.where('target', 'not like', 'person:%');
			const discovering = db.read.selectFrom('discoveries').select(keys).where(isOurs(db));
			const rows = await watched.union(updated).union(posted).union(discovering).execute();
			return rows.map(({ team_id, channel_id }) => ({ teamId: team_id, channelId: channel_id }));
		},
		/** Drops pending posts and card updates of a channel, also of ended watches, and revokes their leases. */
		silence: (channel: ChannelKey) => db.write((trx) => silence(trx, db.dialect, channel)),
		/** Removes announcements that were posted, refused or dropped before `before`, and watches that ended before it. */
		async removeEnded(before: number): Promise<number> {
			await db.writeOne((trx) => trx.deleteFrom('shared_states').where('changed_at', '<', before).execute());
			await inBatches((limit) => db.writeOne((trx) => removeSettledBatch(trx, before, limit)));
			return inBatches((limit) => db.write((trx) => removeBatch(trx, before, limit)));
		},
		/**
		 * Removes the texts of announcements that were posted, refused or dropped before `before`, also of watches that go on.
		 * A question whose post is not settled yet keeps its text. Returns how many. Also forgets the sessions that were first
		 * listed before then, such as those of a former service, but not those of `listedService`: its lists tell who still waits.
		 */
		async removeTexts(before: number, listedService: string | null): Promise<number> {
			await db.writeOne((trx) =>
				trx
					.deleteFrom('waiting_sessions')
					.where('since', '<', before)
					.where('service', '!=', listedService ?? '')
					.execute(),
			);
			return inBatches((limit) => db.writeOne((trx) => removeTextBatch(trx, before, limit)));
		},
	};
}

export type WatchStore = ReturnType<typeof createWatchStore>;

/** The content of an announcement whose text was removed. */
const NO_TEXT = '';

async function removeTextBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const query = trx
		.updateTable('announcements')
		.set({ content: NO_TEXT })
		.where('id', 'in', (eb) =>
			eb
				.selectFrom('announcements as done')
				.select('done.id')
				.where('done.state', '!=', 'pending')
				.where('done.created_at', '<', before)
				.where('done.content', '!=', NO_TEXT)
				// A card's content holds no text, and the last card tells when another one may be posted.
				.where('done.kind', '!=', 'card')
				.where(
					sql<boolean>`(done.kind not in (${sql.join(QUESTION_POSTS)}) or done.state <> 'posted' or exists (
						select 1 from announcements as settle where settle.target = done.target and settle.kind = 'settle'
						and settle.state = 'posted' and settle.number > done.number))`,
				)
				.limit(limit),
		);
	return countUpdated(query);
}

/**
 * Removes what a live watch does not need any more: posts before the newest settled question, and updates and posts that
 * nothing refers to. A card stays, because it tells when another one may be posted.
 */
async function removeSettledBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const { numDeletedRows } = await trx
		.deleteFrom('announcements')
		.where(
			sql<boolean>`id in (select id from announcements as done
				where state <> 'pending' and created_at < ${before} and watch_id is not null and kind <> 'card'
				and (kind in ('redraw', 'status') or exists (select 1 from announcements as settle
					where settle.target = done.target and settle.kind = 'settle' and settle.state = 'posted'
					and settle.number > done.number)) limit ${limit})`,
		)
		.executeTakeFirst();
	return Number(numDeletedRows);
}

/**
 * Removes watches that ended before `before` with their announcements, older notices and settled direct messages, and
 * sessions without watches.
 */
async function removeBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const ended = await trx
		.selectFrom('watches')
		.select(['id', 'service', 'session_id'])
		.where('ended_at', '<', before)
		.limit(limit)
		.execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await trx.deleteFrom('watches').where('id', 'in', ids).execute();
		await trx.deleteFrom('announcements').where('watch_id', 'in', ids).execute();
		await trx.deleteFrom('ladders').where('watch_id', 'in', ids).execute();
	}
	for (const row of ended) await stopUnwatched(trx, { service: row.service, sessionId: row.session_id });
	await trx
		.deleteFrom('hand_overs')
		.where(({ not, exists, selectFrom }) =>
			not(exists(selectFrom('watches').select('id').whereRef('watches.id', '=', 'hand_overs.watch_id'))),
		)
		.execute();
	await trx
		.deleteFrom('announcements')
		.where('watch_id', 'is', null)
		.where('state', '!=', 'pending')
		.where('created_at', '<', before)
		// The direct message about a hand-over is updated until it is settled.
		.where(
			sql<boolean>`(kind not in ('handedOver', 'givenBack') or not exists (select 1 from hand_overs
				where announcements.target = 'person:' || hand_overs.team_id || ':'
					|| case when given_back_at is null then to_user_id else from_user_id end || ':' || hand_overs.id))`,
		)
		.where(
			sql<boolean>`(kind not in ('handedOver', 'givenBack') or not exists (select 1 from announcements as change
				where change.target = announcements.target and change.state = 'pending'))`,
		)
		.execute();
	return ids.length;
}
