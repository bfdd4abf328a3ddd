import type { SessionKey } from '../domain/session.ts';
import { inBatches } from '../store/batches.ts';
import { styleIn } from '../store/channel-settings.ts';
import {
	channelOf,
	countOf,
	type Db,
	from,
	isFound,
	type StoreDatabase,
	type StoreParts,
	sessionOf,
	sql,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { lockFor, lockSession, lockSessionOf } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { endHandOvers, readQuestion, removeQuestions } from '../store/question-store.ts';
import {
	CAN_GO_ON,
	type ChannelKey,
	DISMISSED,
	type Discovery,
	isChannelEnd,
	type Watch,
	type WatchEnd,
	type WatchLimits,
} from '../store/watch.ts';
import { changeSession, removeSession } from '../store/watched-sessions.ts';
import {
	changeWatch,
	liveWatches,
	readShownWatches,
	readWatch,
	removeWatches,
	type ShownWatch,
	type WatchRow,
} from '../store/watches.ts';
import { dropPlanned, planPosts, removePosts, silencePosts, subjectsAt } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { settleOpen } from '../surfaces/question-changes-store.ts';
import { redrawEnded } from '../surfaces/redraw-store.ts';
import {
	addWatch,
	auditUnwatched,
	limitReached,
	type NewRaisedHand,
	type NewWatch,
	oldestHand,
	raiseHand,
} from './adding-store.ts';
import { noteLowered } from './discovery-store.ts';

/** The settings of a watch's channel. */
const SETTINGS = sql<string | null>`(select settings from channel_settings
	where channel_settings.team_id = watches.team_id and channel_settings.channel_id = watches.channel_id)`;

/**
 * The stored watches. What is damaged or needs another encryption key is left out of all results, and stays unchanged.
 */
export function createWatchStore({ db, cipher }: StoreParts) {
	/** These watches, ended or not, by id, with what is known of their sessions. */
	async function shownOf(watchIds: readonly string[]) {
		if (watchIds.length === 0) return new Map<string, ShownWatch>();
		const shown = await readShownWatches(db, cipher, sql`where watch.id in (${sql.join(watchIds)})`);
		return new Map(shown.map((one) => [one.watch.id, one]));
	}

	return {
		/**
		 * Creates a watch, with the row of its session and the post of its card. Idempotent by channel and session. The
		 * limits hold exactly, however many replicas add at once. A raised hand becomes this watch and keeps its posts.
		 */
		add: (watch: NewWatch) => db.write((trx) => addWatch({ trx, cipher, now: watch.createdAt }, watch)),
		/**
		 * Creates a watch without a card, whose session is read at once to see what it asks. A question that the channel
		 * stopped watching while it was open is not posted again. `unneeded`: the channel watches the session already, or
		 * has ended `watch all`.
		 */
		raiseHand: (hand: NewRaisedHand) => db.write((trx) => raiseHand(trx, hand)),

		/**
		 * The reached limit that leaves no place in a channel, or null. Raised hands without a posted question do not
		 * count.
		 */
		limitOf: (discovery: Discovery, limits: WatchLimits) =>
			limitReached(db.read, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false }),

		/**
		 * Ends a watch and plans `posts`. Its planned posts are dropped, unless a read found the end. Null: it had ended
		 * before. A raised hand that is unwatched before its first read ends with that read, which shows what is dismissed.
		 */
		end: (watchId: string, reason: WatchEnd, { now, posts }: { now: number; posts: readonly NewPost[] }) =>
			db.write((trx) => endWatchById({ trx, now }, watchId, { reason, posts })),

		/**
		 * Ends the raised hand with the oldest news if a limit is exceeded. True: one was ended, so perhaps more have to.
		 */
		async makeRoom(discovery: Discovery, { limits, now }: { limits: WatchLimits; now: number }): Promise<boolean> {
			const exceeded = (trx: Db) =>
				limitReached(trx, { ...discovery, limits }, ['channel', 'all'], { countsUnposted: false, by: 1 });
			if ((await exceeded(db.read)) === null) return false;
			return db.write(async (trx) => {
				await lockFor(trx, 'addingWatches');
				const reached = await exceeded(trx);
				const oldest = reached && (await oldestHand(trx, discovery, reached));
				if (oldest === null) return false;
				return (await endWatchById({ trx, now }, oldest.id, { reason: 'gaveWay', posts: [] })) !== null;
			});
		},
		async list(channel: ChannelKey, page: { offset: number; limit: number }) {
			const newest = sql`where watch.team_id = ${channel.teamId} and watch.channel_id = ${channel.channelId}
				and watch.ended_at is null
				order by watch.last_change_at desc, watch.id limit ${page.limit} offset ${page.offset}`;
			const all = from(db.read, 'watches', { ...channelOf(channel), endedAt: null });
			const [shown, total] = await Promise.all([readShownWatches(db, cipher, newest), countOf(all)]);
			return { watches: shown.map(({ watch, ...read }) => ({ ...watch, ...read })), total };
		},
		async find(channel: ChannelKey, session: SessionKey): Promise<Watch | null> {
			const row = await liveWatches(db.read, { ...channelOf(channel), ...sessionOf(session) }).executeTakeFirst();
			return row === undefined ? null : readWatch(row);
		},
		/** The watches, ended or not, that a message of a channel is or was about, with its questions. */
		async findByPost(channel: ChannelKey, ts: string) {
			const about = await subjectsAt(db.read, channel, ts);
			const shown = await shownOf(about.map(({ watchId }) => watchId));
			return about.flatMap((post) => {
				const found = shown.get(post.watchId);
				return found === undefined ? [] : [{ ...found, post }];
			});
		},

		async ofChannel(channel: ChannelKey): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, channelOf(channel)).orderBy('createdAt').orderBy('id');
			return (await live.execute()).map(readWatch);
		},
		/** The live watches of a session, with `progress` and `dismissed`, which no other function finds. */
		async ofSession(session: SessionKey): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, sessionOf(session)).select(SETTINGS.as('settings'));
			const found = (await live.orderBy('createdAt').orderBy('id').execute()).map(async (row) => ({
				...readWatch(row),
				progress: row.mode === 'card' && styleIn(row.settings).progress,
				dismissed: await dismissedQuestion(db.read, row),
			}));
			return Promise.all(found);
		},
		/** Whether the card of an ended watch offers *Watch again*. */
		async isNewestEnded({ id, ...channel }: Watch): Promise<boolean> {
			return (await newestEnded(db.read, channel)).slice(0, MOST_AGAIN).includes(id);
		},
		shownOf,
		/** `shownOf`, with the question of each reminder; null: that is not stored any more. */
		async remindedOf(entries: readonly Readonly<Record<'watchId' | 'questionId', string>>[]) {
			const rows = from(db.read, 'questions', { id: entries.map(({ questionId }) => questionId) }).selectAll();
			const [shown, asked] = await Promise.all([shownOf(entries.map(({ watchId }) => watchId)), rows.execute()]);
			const questions = new Map(asked.map((row) => [row.id, readQuestion(row, cipher)]));
			return new Map(
				entries.flatMap(({ watchId, questionId }) => {
					const one = shown.get(watchId);
					return one === undefined ? [] : [[watchId, { ...one, question: questions.get(questionId) ?? null }]];
				}),
			);
		},
	};
}

export type WatchStore = ReturnType<typeof createWatchStore>;

/** The transaction of `WatchStore.end`. */
export async function endWatchById(tx: Tx, watchId: string, ending: WatchEnding): Promise<Watch | null> {
	const { trx } = tx;
	const session = await lockSessionOf(trx, watchId);
	if (session === null) return null;
	const row = await liveWatches(trx, { id: watchId }).forUpdate().executeTakeFirst();
	if (row === undefined) return null;
	if (row.mode === 'raisedHand' && row.revision <= 0 && ending.reason === 'unwatched') {
		auditUnwatched(tx, row, ending.reason);
		await markDue(tx, null);
		return readWatch(await changeWatch(trx, watchId, { revision: DISMISSED }));
	}
	const ended = await endWatch(tx, row, ending);
	await stopUnwatched(trx, session, tx.now);
	return readWatch(ended);
}

export interface WatchEnding {
	readonly reason: WatchEnd;
	readonly posts: readonly NewPost[];
}

/** *Watch again* stands on this many cards of a channel. */
const MOST_AGAIN = 3;

/**
 * The ids of the ended watches of a channel that can go on, newest first: of each session the last one, if it has a
 * post. One more than `MOST_AGAIN`, because that has to be drawn again without *Watch again*.
 */
async function newestEnded(db: Db, channel: ChannelKey): Promise<readonly string[]> {
	const ended = from(db, 'watches', { ...channelOf(channel), endedReason: CAN_GO_ON }).select('id');
	const isLast = sql<boolean>`not exists (select 1 from watches as later
		where later.team_id = watches.team_id and later.channel_id = watches.channel_id
		and later.service = watches.service and later.session_id = watches.session_id
		and (later.ended_at is null or later.ended_at > watches.ended_at))
		and exists (select 1 from posts where posts.watch_id = watches.id and posts.ts is not null)`;
	const rows = await ended
		.where('endedAt', 'is not', null)
		.where(isLast)
		.orderBy('endedAt', 'desc')
		.orderBy('id')
		.limit(MOST_AGAIN + 1)
		.execute();
	return rows.map(({ id }) => id);
}

/** Ends that reads find. Posts that were planned before are still sent. */
const FOUND_ENDS: readonly WatchEnd[] = ['sessionOver', 'noChange', 'sessionGone'];

/** Ends a live watch. The caller holds the locks of its session and the watch. */
export async function endWatch(tx: Tx, row: WatchRow, ending: WatchEnding): Promise<WatchRow> {
	const { trx, now } = tx;
	const { reason, posts } = ending;
	const ended = await changeWatch(trx, row.id, { endedReason: reason, endedAt: now });
	auditUnwatched(tx, row, reason);
	// Not the posts on their way: these are drawn again when they have arrived.
	if (!FOUND_ENDS.includes(reason)) await dropPlanned(trx, { watchId: row.id, sendingSince: null });
	// Many sessions may end at once. The questions of others come first.
	await planPosts(tx, posts, reason === 'sessionOver' ? 'progress' : 'now');
	if (isChannelEnd(reason)) await silencePosts(trx, { watchId: row.id, placeId: row.channelId });
	await markDue(tx, row);
	if (CAN_GO_ON.includes(reason)) {
		const [former] = (await newestEnded(trx, channelOf(row))).slice(MOST_AGAIN);
		if (former !== undefined) await redrawEnded(tx, former);
	}
	await endHandOvers(trx, row.id);
	return ended;
}

/** Ends a raised hand whose question is settled. It is removed if nothing of it was posted. */
export async function lowerHand(tx: Tx, row: WatchRow): Promise<void> {
	const { trx, now } = tx;
	await endWatch(tx, row, { reason: 'handLowered', posts: [] });
	const asked = { watchId: row.id, state: ['planned', 'shown', 'closed', 'gone'] };
	const wasPosted = await isFound(from(trx, 'posts', asked).select('id'));
	await noteLowered(trx, row, wasPosted, now);
	if (wasPosted) return;
	await removePosts(trx, row.id);
	await removeWatches(trx, row.id);
}

/**
 * For a raised hand before its first read: the question that was open when the channel last stopped watching the
 * session, since `watch all`. Null: there is none.
 */
export async function dismissedQuestion(db: Db, hand: WatchRow) {
	if (hand.mode !== 'raisedHand' || hand.revision > 0) return null;
	const [here, session] = [channelOf(hand), sessionOf(hand)];
	const begun = from(db, 'discoveries', { ...here, service: hand.service }).select('createdAt');
	const former = from(db, 'watches', { ...here, ...session }).where('endedAt', '>=', begun);
	const last = await former.selectAll().orderBy('endedAt', 'desc').limit(1).executeTakeFirst();
	if (last?.endedReason !== 'unwatched' && last?.endedReason !== 'noChange') return null;
	const { endedAt } = last;
	const wasOpen = sql<boolean>`asked_at <= ${endedAt} and coalesce(settled_at, ${endedAt}) >= ${endedAt}`;
	const asked = from(db, 'questions', session).select(['fingerprint', 'messageIndex']).where(wasOpen);
	return (await asked.orderBy('number', 'desc').limit(1).executeTakeFirst()) ?? null;
}

/** Removes watches that ended before `before`, with their posts and sessions. Returns how many. */
export const removeEndedWatches = (db: StoreDatabase, before: number) =>
	inBatches((limit) => db.write((trx) => removeBatch(trx, before, limit)), 25);

async function removeBatch(trx: Db, before: number, limit: number): Promise<number> {
	const old = from(trx, 'watches').select(['id', 'service', 'sessionId']).where('endedAt', '<', before);
	const ended = await old.limit(limit).execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await removeWatches(trx, ids);
		await removePosts(trx, ids);
	}
	for (const row of ended) await stopUnwatched(trx, sessionOf(row), before);
	return ids.length;
}

/** Stops reading a session without live watches. Its row stays while there are ended ones, whose cards show it. */
export async function stopUnwatched(trx: Db, key: SessionKey, now: number): Promise<void> {
	await lockSession(trx, key);
	const watches = from(trx, 'watches', sessionOf(key)).select('id');
	if (await isFound(watches.where('endedAt', 'is', null))) return;
	await settleOpen(trx, key, 'unwatched', now);
	if (await isFound(watches)) {
		await changeSession(trx, key, { nextReadAt: null, ...WITHOUT_LEASE });
		return;
	}
	await removeQuestions(trx, key);
	await removeSession(trx, key);
}
