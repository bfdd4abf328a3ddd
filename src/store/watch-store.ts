import { type Kysely, sql } from 'kysely';
import type { Log } from '../log.ts';
import type { AddWatchResult, NewWatch, WatchPage, WatchStore } from '../watches/ports.ts';
import type { ChannelKey, Watch, WatchSettings } from '../watches/watch.ts';
import { hasOpenQuestion, UNKNOWN_STEP_RATE } from '../watches/watched-session.ts';
import { createAnnouncementStore } from './announcement-store.ts';
import { countUpdated, inBatches, lockRows, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import type { Tables } from './tables.ts';
import { createUnreadableNotes, readWatch, sealView, type WatchRow } from './watch-rows.ts';
import {
	endWatch,
	inChannel,
	liveWatches,
	lockSession,
	lockSessionOf,
	lockWatch,
	onSession,
	QUESTION_POSTS,
	queueAnnouncements,
	readShown,
	silence,
	stopUnwatched,
} from './watch-writes.ts';
import { createWatchedSessionStore } from './watched-session-store.ts';

/** `WatchStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createWatchStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }): WatchStore {
	const noteUnreadable = createUnreadableNotes(log);

	/** Null for no row and for one of another version. */
	function readOrNull(row: WatchRow | null | undefined): Watch | null {
		const watch = row == null ? null : readWatch(row);
		if (row != null && watch === null) noteUnreadable({ watch: row.id });
		return watch;
	}

	const readOrSkip = (row: WatchRow): Watch[] => {
		const watch = readOrNull(row);
		return watch === null ? [] : [watch];
	};

	async function add(trx: Kysely<Tables>, watch: NewWatch): Promise<AddWatchResult> {
		const { service, sessionId } = watch.session;
		const here = () => liveWatches(trx).where(inChannel(watch)).where(onSession(watch.session));
		// One at a time, so that two replicas cannot both add the last allowed watch. SQLite has a single writer.
		if (db.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(ADDING_LOCK)})`.execute(trx);
		if ((await here().executeTakeFirst()) === undefined) {
			const reached = await limitReached(trx, watch);
			if (reached !== null) return reached;
		}
		await startReading(trx, watch);
		const live = await here().$call(lockRows(db.dialect)).executeTakeFirst();
		const settings = settingsColumns(watch);
		if (live !== undefined) {
			const changed = Object.entries(settings).some(([name, value]) => live[name as keyof typeof settings] !== value);
			const row = changed
				? await trx
						.updateTable('watches')
						.set(settings)
						.where('id', '=', live.id)
						.returningAll()
						.executeTakeFirstOrThrow()
				: live;
			return { kind: 'already', watch: readWritten(row), changed };
		}
		const row = await trx
			.insertInto('watches')
			.values({
				id: watch.id,
				team_id: watch.teamId,
				channel_id: watch.channelId,
				service,
				session_id: sessionId,
				...settings,
				created_by: watch.createdBy,
				created_at: watch.createdAt,
				revision: 0,
				last_change_at: watch.createdAt,
				card_wants: 0,
				card_not_before: 0,
			})
			.returningAll()
			.executeTakeFirstOrThrow();
		await queueAnnouncements(trx, cipher, [watch.card], watch.createdAt);
		return { kind: 'added', watch: readWritten(row) };
	}

	/** Inserts the session's row, or starts reading it again when it was stopped; locks the row either way. */
	async function startReading(trx: Kysely<Tables>, { session, view, createdAt }: NewWatch): Promise<void> {
		const firstRead = {
			question_since: hasOpenQuestion(view.digest) ? view.seenAt : null,
			view: sealView(session, view, cipher),
			digest: JSON.stringify(view.digest),
			failures: 0,
			last_read_at: view.seenAt,
			last_change_at: view.seenAt,
		};
		await trx
			.insertInto('watched_sessions')
			.values({
				service: session.service,
				session_id: session.sessionId,
				rhythm: JSON.stringify(UNKNOWN_STEP_RATE),
				...firstRead,
				next_read_at: createdAt,
				read_by: createdAt,
				hurry: 0,
			})
			.onConflict((conflict) => conflict.columns(['service', 'session_id']).doNothing())
			.execute();
		const row = await lockSession(trx, db.dialect, session);
		if (row === undefined) throw new Error('The row of a watched session is missing right after its insert');
		const isStopped = row.next_read_at === null;
		await trx
			.updateTable('watched_sessions')
			.set({
				...(isStopped && { ...firstRead, over_since: null }),
				// A new watch reads its session at once.
				next_read_at: Math.min(row.next_read_at ?? createdAt, createdAt),
				read_by: isStopped ? createdAt : Math.min(row.read_by, createdAt),
				hurry: row.hurry + 1,
			})
			.where(onSession(session))
			.execute();
	}

	async function end(trx: Kysely<Tables>, watchId: string, ending: Parameters<typeof endWatch>[3]) {
		const session = await lockSessionOf(trx, db.dialect, watchId);
		if (session === null) return null;
		const row = await lockWatch(trx, db.dialect, watchId).where('ended_at', 'is', null).executeTakeFirst();
		if (row === undefined || readOrNull(row) === null) return null;
		const ended = await endWatch(trx, cipher, row, ending);
		await stopUnwatched(trx, session);
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
		add: (watch) => db.write((trx) => add(trx, watch)),
		end: (watchId, reason, options) => db.write((trx) => end(trx, watchId, { reason, ...options })),

		list,
		async find(channel, session) {
			const query = liveWatches(db.read).where(inChannel(channel)).where(onSession(session));
			return readOrNull(await query.executeTakeFirst());
		},
		async findByPost(channel, ts) {
			const row = await db.read
				.selectFrom('watches')
				.selectAll()
				.where(inChannel(channel))
				.where(
					sql<boolean>`(card_ts = ${ts} or exists (select 1 from announcements
						where announcements.target = 'watch:' || watches.id and announcements.posted_ts = ${ts}
						and announcements.kind in ('card', 'question')))`,
				)
				.orderBy('created_at', 'desc')
				.limit(1)
				.executeTakeFirst();
			const watch = readOrNull(row);
			if (watch === null) return null;
			const { view } = await readShown(db, cipher, watch.session);
			return { watch, view };
		},

		async ofChannel(channel) {
			const rows = await liveWatches(db.read).where(inChannel(channel)).orderBy('created_at').orderBy('id').execute();
			return rows.flatMap(readOrSkip);
		},
		async activeChannels() {
			const keys = ['team_id', 'channel_id'] as const;
			const watched = db.read.selectFrom('watches').select(keys).where('ended_at', 'is', null);
			const updated = db.read.selectFrom('watches').select(keys).where('card_since', 'is not', null);
			const posted = db.read
				.selectFrom('announcements')
				.select(['team_id', 'place_id as channel_id'])
				.where('state', '=', 'pending')
				.where('target', 'not like', 'person:%');
			const rows = await watched.union(updated).union(posted).execute();
			return rows.map(({ team_id, channel_id }) => ({ teamId: team_id, channelId: channel_id }));
		},
		silence: (channel) => db.write((trx) => silence(trx, channel)),
		removeEnded: (before) => inBatches((limit) => db.write((trx) => removeBatch(trx, before, limit))),
		removeTexts: (before) => inBatches((limit) => db.writeOne((trx) => removeTextBatch(trx, before, limit))),
	};
}

function settingsColumns({ mode, questionsInChannel, discreet, buttons }: WatchSettings) {
	return {
		mode,
		questions_in_channel: Number(questionsInChannel),
		discreet: Number(discreet),
		buttons: Number(buttons),
	};
}

/** Any number that no other advisory lock of this database uses. */
const ADDING_LOCK = 7_205_759_403;

/** The first limit of watches that is reached. */
async function limitReached(
	trx: Kysely<Tables>,
	{ createdBy, teamId, channelId, limits }: NewWatch,
): Promise<Extract<AddWatchResult, { kind: 'limit' }> | null> {
	const counts = await trx
		.selectFrom('watches')
		.where('ended_at', 'is', null)
		.select(({ fn, eb, and }) => [
			fn.countAll<number>().as('all'),
			fn.count<number>(eb.case().when('created_by', '=', createdBy).then(1).end()).as('person'),
			fn
				.count<number>(
					eb
						.case()
						.when(and([eb('team_id', '=', teamId), eb('channel_id', '=', channelId)]))
						.then(1)
						.end(),
				)
				.as('channel'),
		])
		.executeTakeFirstOrThrow();
	const limit = (['person', 'channel', 'all'] as const).find((name) => counts[name] >= limits[name]);
	return limit === undefined ? null : { kind: 'limit', limit, count: counts[limit], most: limits[limit] };
}

/** For a row that this transaction wrote. */
function readWritten(row: WatchRow): Watch {
	const watch = readWatch(row);
	if (watch === null) throw new Error('A watch cannot be read right after it was written');
	return watch;
}

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
 * Removes watches that ended before `before` with their announcements, older notices and settled direct messages, and
 * sessions without watches.
 */
async function removeBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const ended = await trx.selectFrom('watches').select('id').where('ended_at', '<', before).limit(limit).execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await trx.deleteFrom('announcements').where('watch_id', 'in', ids).execute();
		await trx.deleteFrom('ladders').where('watch_id', 'in', ids).execute();
		await trx.deleteFrom('watches').where('id', 'in', ids).execute();
	}
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
	await trx
		.deleteFrom('watched_sessions')
		.where('next_read_at', 'is', null)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('watches')
						.select('id')
						.whereRef('watches.service', '=', 'watched_sessions.service')
						.whereRef('watches.session_id', '=', 'watched_sessions.session_id'),
				),
			),
		)
		.execute();
	return ids.length;
}
