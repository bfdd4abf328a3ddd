import { type Kysely, sql } from 'kysely';
import type { Log } from '../log.ts';
import type { AddWatchResult, NewWatch, WatchPage, WatchStore } from '../watches/ports.ts';
import type { ChannelKey, Watch } from '../watches/watch.ts';
import { UNKNOWN_STEP_RATE } from '../watches/watched-session.ts';
import { createAnnouncementStore } from './announcement-store.ts';
import { countUpdated, type Dialect, inBatches, lockRows, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import type { Tables } from './tables.ts';
import { createUnreadableNotes, readWatch, sealView, type WatchRow } from './watch-rows.ts';
import {
	endWatch,
	inChannel,
	lockSession,
	lockSessionOf,
	onSession,
	queueAnnouncements,
	readShown,
	silence,
	stopUnwatched,
} from './watch-writes.ts';
import { createWatchedSessionStore } from './watched-session-store.ts';

/** `WatchStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createWatchStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }): WatchStore {
	const noteUnreadable = createUnreadableNotes(log);

	/** None for a row of another version. */
	function readKnown(row: WatchRow): Watch[] {
		const watch = readWatch(row);
		if (watch === null) noteUnreadable({ watch: row.id });
		return watch === null ? [] : [watch];
	}

	const firstKnown = (row: WatchRow | undefined): Watch | null =>
		row === undefined ? null : (readKnown(row)[0] ?? null);

	async function add(trx: Kysely<Tables>, watch: NewWatch): Promise<AddWatchResult> {
		const { service, sessionId } = watch.session;
		const here = () =>
			trx
				.selectFrom('watches')
				.selectAll()
				.where(inChannel(watch))
				.where(onSession(watch.session))
				.where('ended_at', 'is', null);
		await lockAdding(trx, db.dialect);
		if ((await here().executeTakeFirst()) === undefined) {
			const reached = await limitReached(trx, watch);
			if (reached !== null) return reached;
		}
		await startReading(trx, watch);
		const live = await here().$call(lockRows(db.dialect)).executeTakeFirst();
		const settings = { mode: watch.mode, questions_in_channel: watch.questionsInChannel ? 1 : 0 };
		if (live !== undefined) {
			const changed = live.mode !== settings.mode || live.questions_in_channel !== settings.questions_in_channel;
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

	/** Makes the session's row or, when it is not read any more, has it read again; locks it either way. */
	async function startReading(trx: Kysely<Tables>, { session, view, createdAt }: NewWatch): Promise<void> {
		const { service, sessionId } = session;
		const seen = {
			view: sealView(service, sessionId, view, cipher),
			digest: JSON.stringify(view.digest),
		};
		await trx
			.insertInto('watched_sessions')
			.values({
				service,
				session_id: sessionId,
				rhythm: JSON.stringify(UNKNOWN_STEP_RATE),
				...seen,
				next_read_at: createdAt,
				read_by: createdAt,
				last_read_at: view.seenAt,
				last_change_at: view.seenAt,
				failures: 0,
				hurry: 0,
			})
			.onConflict((conflict) => conflict.columns(['service', 'session_id']).doNothing())
			.execute();
		const row = await lockSession(trx, db.dialect, session);
		if (row === undefined) throw new Error('The row of a watched session that was just made is gone');
		const now = createdAt;
		const stopped = row.next_read_at === null;
		await trx
			.updateTable('watched_sessions')
			.set({
				...(stopped && {
					...seen,
					failures: 0,
					over_since: null,
					last_read_at: view.seenAt,
					last_change_at: view.seenAt,
				}),
				// A new watch is read at once, whatever the schedule had in mind.
				next_read_at: stopped || row.next_read_at === null ? now : Math.min(row.next_read_at, now),
				read_by: Math.min(stopped ? now : row.read_by, now),
				hurry: row.hurry + 1,
			})
			.where(onSession(session))
			.execute();
	}

	async function end(trx: Kysely<Tables>, watchId: string, ending: Parameters<typeof endWatch>[3]) {
		const session = await lockSessionOf(trx, db.dialect, watchId);
		if (session === null) return null;
		const row = await trx
			.selectFrom('watches')
			.selectAll()
			.where('id', '=', watchId)
			.where('ended_at', 'is', null)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		if (row === undefined || firstKnown(row) === null) return null;
		const ended = await endWatch(trx, cipher, row, ending);
		await stopUnwatched(trx, session);
		return firstKnown(ended ?? undefined);
	}

	async function list(channel: ChannelKey, page: { offset: number; limit: number }): Promise<WatchPage> {
		const base = db.read.selectFrom('watches').where(inChannel(channel)).where('ended_at', 'is', null);
		const [rows, { total }] = await Promise.all([
			base.selectAll().orderBy('last_change_at', 'desc').orderBy('id').limit(page.limit).offset(page.offset).execute(),
			base.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
		]);
		const watches = await Promise.all(
			rows.flatMap(readKnown).map(async (watch) => ({ ...watch, ...(await readShown(db, cipher, watch.session)) })),
		);
		return { watches, total };
	}

	const live = () => db.read.selectFrom('watches').selectAll().where('ended_at', 'is', null);

	return {
		...createWatchedSessionStore({ db, cipher, readKnown }),
		...createAnnouncementStore({ db, cipher, noteUnreadable }),
		add: (watch) => db.write((trx) => add(trx, watch)),
		end: (watchId, reason, options) => db.write((trx) => end(trx, watchId, { reason, ...options })),

		list,
		async find(channel, session) {
			return firstKnown(await live().where(inChannel(channel)).where(onSession(session)).executeTakeFirst());
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
			const watch = firstKnown(row);
			if (watch === null) return null;
			const { view } = await readShown(db, cipher, watch.session);
			return { watch, view };
		},

		async ofChannel(channel) {
			const rows = await live().where(inChannel(channel)).orderBy('created_at').orderBy('id').execute();
			return rows.flatMap(readKnown);
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

/** Any number that no other advisory lock of this database has. */
const ADDING = 7_205_759_403;

/** Watches are added one at a time, or two replicas that count at once would both find room. SQLite has a single writer. */
async function lockAdding(trx: Kysely<Tables>, dialect: Dialect): Promise<void> {
	if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${sql.lit(ADDING)})`.execute(trx);
}

/** The first limit that leaves no room for one more. */
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
	const limit = (['person', 'channel', 'all'] as const).find((one) => counts[one] >= limits[one]);
	return limit === undefined ? null : { kind: 'limit', limit, count: counts[limit], most: limits[limit] };
}

/** Of a row that was just written here. */
function readWritten(row: WatchRow): Watch {
	const watch = readWatch(row);
	if (watch === null) throw new Error('A watch that was just written cannot be read');
	return watch;
}

/** What is left when the text of an announcement was removed: nobody reads it any more. */
const NO_TEXT = '';

async function removeTextBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const query = trx
		.updateTable('announcements')
		.set({ content: NO_TEXT })
		.where('id', 'in', (eb) =>
			eb
				.selectFrom('announcements as said')
				.select('said.id')
				.where('said.state', '!=', 'pending')
				.where('said.created_at', '<', before)
				.where('said.content', '!=', NO_TEXT)
				// The last card's says when another may be posted, and holds no text.
				.where('said.kind', '!=', 'card')
				.where(
					sql<boolean>`(said.kind <> 'question' or said.state <> 'posted' or exists (
						select 1 from announcements as settle where settle.target = said.target and settle.kind = 'settle'
						and settle.state = 'posted' and settle.number > said.number))`,
				)
				.limit(limit),
		);
	return countUpdated(query);
}

/** Watches that ended before `before` with what was posted of them, notices that are older, and sessions nobody refers to. */
async function removeBatch(trx: Kysely<Tables>, before: number, limit: number): Promise<number> {
	const ended = await trx.selectFrom('watches').select('id').where('ended_at', '<', before).limit(limit).execute();
	const ids = ended.map((row) => row.id);
	if (ids.length > 0) {
		await trx.deleteFrom('announcements').where('watch_id', 'in', ids).execute();
		await trx.deleteFrom('watches').where('id', 'in', ids).execute();
	}
	await trx
		.deleteFrom('announcements')
		.where('watch_id', 'is', null)
		.where('state', '!=', 'pending')
		.where('created_at', '<', before)
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
