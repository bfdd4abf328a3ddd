// Owns `watches`: which channel watches what.
import { type RawBuilder, sql } from 'kysely';
import { pick } from '../kernel/values.ts';
import { styleIn } from './channel-settings.ts';
import {
	add,
	type Cipher,
	change,
	channelOf,
	columnsAs,
	type Db,
	type Filter,
	from,
	joinedRow,
	type Row,
	remove,
	type StoreDatabase,
	sessionOf,
} from './database.ts';
import { readQuestion } from './question-store.ts';
import type { ChannelKey, Watch, WatchEnd, WatchMode } from './watch.ts';
import { readReads, snapshotColumn } from './watched-sessions.ts';

export type WatchRow = Row<'watches'>;

export function readWatch(row: WatchRow): Watch {
	return {
		...pick(row, 'id', 'teamId', 'channelId', 'createdBy', 'createdAt', 'revision', 'lastChangeAt'),
		session: sessionOf(row),
		mode: row.mode as WatchMode,
		ended: row.endedAt === null ? null : { reason: row.endedReason as WatchEnd, at: row.endedAt },
	};
}

export function liveWatches(db: Db, filter: Filter<'watches'>) {
	return from(db, 'watches', { ...filter, endedAt: null }).selectAll();
}

/** What cards show, beside the rows of `watches` joined as `watch`: `seen`, `newest` (the question) and `settings`. */
export const JOINED_SHOWN = sql`
	left join watched_sessions as seen on seen.service = watch.service and seen.session_id = watch.session_id
	left join questions as newest on newest.service = watch.service and newest.session_id = watch.session_id
		and newest.number = (select max(number) from questions as asked
			where asked.service = watch.service and asked.session_id = watch.session_id)
	left join channel_settings as settings
		on settings.team_id = watch.team_id and settings.channel_id = watch.channel_id`;
/** The columns of `watch` and of these tables, for `readShown`. */
export const SHOWN_COLUMNS = sql.join([
	columnsAs('watches', 'watch'),
	columnsAs('watched_sessions', 'seen'),
	columnsAs('questions', 'newest'),
	columnsAs('channel_settings', 'settings'),
]);

/** A watch with what its card shows, and `style`. `snapshot`: null when none can be read; `question`: the newest. */
export function readShown(row: object, cipher: Cipher) {
	const watch = joinedRow(row, 'watches', 'watch');
	if (watch === undefined) return null;
	const session = joinedRow(row, 'watched_sessions', 'seen');
	const asked = joinedRow(row, 'questions', 'newest');
	return {
		watch: readWatch(watch),
		style: styleIn(joinedRow(row, 'channel_settings', 'settings')?.settings ?? null),
		snapshot: session === undefined ? null : snapshotColumn.open(session.snapshot, session, cipher),
		checkedAt: session?.lastReadAt ?? null,
		unreadCode: (session && readReads(session).unread?.code) ?? null,
		question: asked === undefined ? null : readQuestion(asked, cipher),
	};
}

export type ShownWatch = NonNullable<ReturnType<typeof readShown>>;

/** Watches with what their cards show and when that was last read. `rest`: which of `watch`, and in which order. */
export async function readShownWatches(db: StoreDatabase, cipher: Cipher, rest: RawBuilder<unknown>) {
	const shown = sql<object>`select ${SHOWN_COLUMNS} from watches as watch ${JOINED_SHOWN} ${rest}`;
	const { rows } = await shown.execute(db.read);
	return rows.flatMap((row) => readShown(row, cipher) ?? []);
}

/** Adds a watch. `columns`: its mode, and who created it. */
export function insertWatch(
	trx: Db,
	{ id, session, createdAt, ...channel }: ChannelKey & Pick<Watch, 'id' | 'session' | 'createdAt'>,
	columns: Pick<WatchRow, 'mode' | 'createdBy'> & Partial<WatchRow>,
): Promise<WatchRow> {
	const begun = { ...columns, createdAt, lastChangeAt: createdAt };
	const row = add(trx, 'watches', { id, ...channelOf(channel), ...sessionOf(session), ...begun });
	return row.returningAll().executeTakeFirstOrThrow();
}

export function changeWatch(trx: Db, id: string, columns: Partial<WatchRow>): Promise<WatchRow> {
	return change(trx, 'watches', { id }, columns).returningAll().executeTakeFirstOrThrow();
}

/** Notes that a watch was told of a read. `isChanged`: whether people see a difference. */
export function tellWatch(trx: Db, { id, revision }: Pick<Watch, 'id' | 'revision'>, isChanged: boolean, now: number) {
	const told = { revision: Math.max(revision, 0) + 1, ...(isChanged && { lastChangeAt: now }) };
	return change(trx, 'watches', { id, revision, endedAt: null }, told).returningAll().executeTakeFirstOrThrow();
}

export const removeWatches = (trx: Db, id: string | readonly string[]) => remove(trx, 'watches', { id }).execute();
