// Owns `watches` and `watched_sessions`: which channel watches what, and when it is read.
import { sql } from 'kysely';
import type { z } from 'zod';
import { type Lease, parseOrNull, pick } from '../core/basics.ts';
import { each, inSlices } from '../core/lease-loop.ts';
import { isWaiting, type SessionKey } from '../questions/session.ts';
import {
	type Digest,
	digest,
	maskedSnapshot,
	type SessionSnapshot,
	sessionSnapshot,
} from '../questions/session-snapshot.ts';
import { stylesOf } from './channel-settings.ts';
import {
	add,
	type Cipher,
	change,
	channelOf,
	columnsOf,
	countOf,
	type Db,
	type Filter,
	from,
	isFound,
	noteQuestions,
	type Row,
	remove,
	type StoreDatabase,
	type StoreParts,
	sealedColumn,
	sessionOf,
	WITHOUT_LEASE,
} from './database.ts';
import { leaseDue, nextDue, queueOf } from './due.ts';
import { inLockOrder, locked, lockSession } from './locks.ts';
import { newestQuestionOf, readQuestion } from './question-store.ts';
import {
	type ChannelKey,
	hasOpenQuestion,
	type ListedWaiting,
	NEWS_AHEAD_MS,
	type PlannedRead,
	type ReadKind,
	sessionReads,
	stepRate,
	UNKNOWN_STEP_RATE,
	type Watch,
	type WatchEnd,
	type WatchMode,
} from './watch.ts';

export type WatchRow = Row<'watches'>;
export type WatchedSessionRow = Row<'watched_sessions'>;

const VIEW = sessionSnapshot.transform((stored) => maskedSnapshot(new Set(), stored));
/** `open` gives null when there is none yet, it was written with another key, or it is damaged. */
export const viewColumn = sealedColumn('watched_sessions.view', VIEW as z.ZodType<SessionSnapshot>);

export function readWatch(row: WatchRow): Watch {
	return {
		...pick(row, 'id', 'teamId', 'channelId', 'createdBy', 'createdAt', 'revision', 'lastChangeAt'),
		session: sessionOf(row),
		mode: row.mode as WatchMode,
		ended: row.endedAt === null ? null : { reason: row.endedReason as WatchEnd, at: row.endedAt },
	};
}

/** Null for a damaged one: the next read stores it again. A question that is open still is the same row. */
export const readDigest = (text: string | null): Digest | null => parseOrNull(digest, text);

/** A session that at least one channel watches. All its watches share this row. */
export type WatchedSession = Readonly<ReturnType<typeof readWatchedSession>>;

type ReadRow = Omit<WatchedSessionRow, 'view'>;
/** All but the content of cards. */
const OF_READS = columnsOf('watched_sessions').flatMap(([name]) => (name === 'view' ? [] : (name as keyof ReadRow)));

export function readWatchedSession(row: ReadRow) {
	return {
		...pick(row, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
		session: sessionOf(row),
		stepRate: parseOrNull(stepRate, row.rhythm) ?? UNKNOWN_STEP_RATE,
		/** Null before the first read. */
		digest: readDigest(row.digest),
		nextRead: { at: row.nextReadAt ?? row.readBy, by: row.readBy },
		earlyReadAskedAt: row.touchedAt,
		earlyReadCount: row.hurry,
		reads: readReads(row),
	};
}

export function readReads({ reads }: Pick<WatchedSessionRow, 'reads'>) {
	return parseOrNull(sessionReads, reads) ?? sessionReads.parse({});
}

export function liveWatches(db: Db, filter: Filter<'watches'>) {
	return from(db, 'watches', { ...filter, endedAt: null }).selectAll();
}

/** A watch with what its card shows, and `style`. `view`: null when none can be read; `question`: the newest. */
export async function readShownWatch(db: StoreDatabase, cipher: Cipher, row: WatchRow) {
	const stored = from(db.read, 'watched_sessions', sessionOf(row)).selectAll();
	const [session, asked, styleOf] = await Promise.all([
		stored.executeTakeFirst(),
		newestQuestionOf(db.read, row),
		stylesOf(db.read, row.teamId, [row.channelId]),
	]);
	return {
		watch: readWatch(row),
		style: styleOf(row.channelId),
		view: session === undefined ? null : viewColumn.open(session.view, session, cipher),
		checkedAt: session?.lastReadAt ?? null,
		unreadCode: (session && readReads(session).unread?.code) ?? null,
		question: asked === undefined ? null : readQuestion(asked, cipher),
	};
}

/** Adds a watch. `columns`: its mode, and who created it. */
export function insertWatch(
	trx: Db,
	{ id, session, createdAt, ...channel }: ChannelKey & Pick<Watch, 'id' | 'session' | 'createdAt'>,
	columns: Pick<WatchRow, 'mode' | 'createdBy'> & Partial<WatchRow>,
): Promise<WatchRow> {
	noteQuestions(trx, null);
	const begun = { ...columns, createdAt, lastChangeAt: createdAt };
	const row = add(trx, 'watches', { id, ...channelOf(channel), ...sessionOf(session), ...begun });
	return row.returningAll().executeTakeFirstOrThrow();
}

export function changeWatch(trx: Db, id: string, columns: Partial<WatchRow>): Promise<WatchRow> {
	noteQuestions(trx, null);
	return change(trx, 'watches', { id }, columns).returningAll().executeTakeFirstOrThrow();
}

/** Notes that a watch was told of a read. `isChanged`: whether people see a difference. */
export function tellWatch(trx: Db, { id, revision }: Pick<Watch, 'id' | 'revision'>, isChanged: boolean, now: number) {
	const told = { revision: Math.max(revision, 0) + 1, ...(isChanged && { lastChangeAt: now }) };
	return change(trx, 'watches', { id, revision, endedAt: null }, told).returningAll().executeTakeFirstOrThrow();
}

export const removeWatches = (trx: Db, id: string | readonly string[]) => remove(trx, 'watches', { id }).execute();

export const changeSession = (trx: Db, session: SessionKey, columns: Partial<WatchedSessionRow>) =>
	change(trx, 'watched_sessions', sessionOf(session), columns).execute();

export const changeReads = (trx: Db, filter: Filter<'watched_sessions'>, columns: Partial<WatchedSessionRow>) =>
	change(trx, 'watched_sessions', filter, columns).execute();

/** Inserts the session's row, or reads it again; locks it. Returns what is stored; null: `firstRead` is now. */
export async function startReading(
	trx: Db,
	{ session, readAt, readBy = readAt }: { session: SessionKey; readAt: number; readBy?: number },
	firstRead: Pick<WatchedSessionRow, 'failures'> & Partial<WatchedSessionRow>,
): Promise<WatchedSessionRow | null> {
	const row = await lockSession(trx, session);
	const planned = { nextReadAt: readAt, readBy };
	if (row === undefined) {
		const unread = { ...sessionOf(session), rhythm: JSON.stringify(UNKNOWN_STEP_RATE), hurry: 1 };
		// Of two replicas that find none, one fails on the key and runs again.
		await add(trx, 'watched_sessions', { ...unread, ...firstRead, ...planned }).execute();
		return null;
	}
	const { nextReadAt: at, readBy: by, hurry } = row;
	const next =
		at === null ? { overSince: null, ...planned } : { nextReadAt: Math.min(at, readAt), readBy: Math.min(by, readBy) };
	// A read under way that begins with nothing would not find what this one stores.
	const isFirst = at === null || (row.view === null && row.leaseToken === null);
	const columns = { ...(isFirst && firstRead), ...next, hurry: hurry + 1 };
	await changeSession(trx, session, columns);
	return isFirst ? null : row;
}

/**
 * Moves the read of a session forward to `at`, and its next reads for a short time after `askedAt`. `by`: its place
 * among due reads (see `PlannedRead`), by default that of its time.
 */
export async function readEarly(
	trx: Db,
	row: WatchedSessionRow,
	{ askedAt, at, by }: { askedAt: number | null; at: number; by?: number },
): Promise<void> {
	if (row.nextReadAt === null) return;
	// While the session is being read, `nextReadAt` is the past time of that read.
	const earlier = row.leaseToken === null ? Math.min(row.nextReadAt, at) : at;
	const columns = { touchedAt: askedAt, hurry: row.hurry + 1, nextReadAt: earlier, readBy: by ?? earlier };
	await changeSession(trx, row, columns);
}

/** Whether the read of a session has the place `by` or a better one. While the service is away, exactly this one. */
export function hasPlace(row: WatchedSessionRow, by: number, now: number): boolean {
	const { nextReadAt, readBy, failures } = row;
	if (nextReadAt === null) return true;
	return failures === 0 ? nextReadAt <= now && readBy <= by : readBy === by;
}

/** Moves the read of a session to the place `by`, ahead of others. */
export async function askForRead(trx: Db, row: WatchedSessionRow, by: number, now: number): Promise<void> {
	// Not before its time: the service is away. But ahead of others when it is back.
	if (row.failures > 0) await changeSession(trx, row, { readBy: by });
	// As before: the agent does not go on after this read, so no early ones follow.
	else await readEarly(trx, row, { askedAt: row.touchedAt, at: now, by });
}

/** What a read leaves in the row of its session; `earlyReadCount` is the one with which it was taken. */
export interface SessionRead extends Omit<WatchedSession, 'session' | 'digest' | 'earlyReadAskedAt'> {
	/** Left out when it shows what is stored already. */
	readonly view?: SessionSnapshot;
}

/**
 * Notes a read and gives the lease back. The caller holds the lock of the session, and has found the lease.
 * `keepsPlan`: it was not a read of the watch, whose lease and next read stay.
 */
export async function noteRead(
	trx: Db,
	row: WatchedSessionRow,
	read: SessionRead,
	{ cipher, keepsPlan }: { cipher: Cipher; keepsPlan: boolean },
): Promise<void> {
	const { hurry, leaseToken, nextReadAt: plannedAt } = row;
	const isEarly = hurry !== read.earlyReadCount && plannedAt !== null;
	const at = Math.round(isEarly ? Math.min(plannedAt, read.nextRead.at) : read.nextRead.at);
	const columns = {
		rhythm: JSON.stringify(read.stepRate),
		reads: JSON.stringify(read.reads),
		...(!keepsPlan && { nextReadAt: at, readBy: Math.round(isEarly ? at : read.nextRead.by), ...WITHOUT_LEASE }),
		...pick(read, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
		...(read.view !== undefined && {
			digest: JSON.stringify(read.view.digest),
			view: viewColumn.seal(read.view, row, cipher),
		}),
	};
	await change(trx, 'watched_sessions', { ...sessionOf(row), leaseToken }, columns).execute();
}

export const removeSession = (trx: Db, session: SessionKey) =>
	remove(trx, 'watched_sessions', sessionOf(session)).execute();

export interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

/** The sessions that are watched, and their reads. */
export function createSessionStore({ db, cipher }: StoreParts) {
	const readSessions = (service: string) =>
		from(db.read, 'watched_sessions', { service }).where('nextReadAt', 'is not', null);

	return {
		/** Leases up to `limit` sessions with a due read, in the order of `PlannedRead.by`. `only` null: of both kinds. */
		async takeDue(service: string, lease: Lease, limit: number, { now, only }: { now: number; only: ReadKind | null }) {
			const where = sql<boolean>`next_read_at <= ${now} and ${isOfKind(only)}`;
			const due = { table: 'watched_sessions', service, where, orderBy: sql`read_by`, limit } as const;
			const rows = await leaseDue(db, due, { lease, now });
			// `view` is null before the first read, and when it cannot be read.
			return rows.map((row) => ({ ...readWatchedSession(row), view: viewColumn.open(row.view, row, cipher) }));
		},

		/** Prolongs these leases by `ms` from `now`; returns the sessions still held. */
		renew: (held: readonly HeldSession[], ms: number, now: number): Promise<readonly SessionKey[]> =>
			db.writeOne(async (trx) => {
				const service = [...new Set(held.map(({ session }) => session.service))];
				const sessionIds = held.map(({ session }) => session.sessionId);
				const own = { service, sessionId: sessionIds, leaseToken: held.map(({ token }) => token) };
				const rows = { ...own, sessionId: locked(trx, 'watched_sessions', own) };
				const renewed = change(trx, 'watched_sessions', rows, { leasedUntil: now + ms });
				return (await renewed.returning(['service', 'sessionId']).execute()).map(sessionOf);
			}),

		...queueOf(db, 'watched_sessions'),

		nextDueAt(service: string, only: ReadKind | null): Promise<number | null> {
			const where = sql<boolean>`service = ${service} and next_read_at is not null and ${isOfKind(only)}`;
			return nextDue(db, 'watched_sessions', where, 'nextReadAt');
		},

		async outlines(service: string, now: number) {
			const rows = await readSessions(service).select(OF_READS).execute();
			const live = from(db.read, 'watches', { service, endedAt: null });
			const watcher = sql<string>`case when mode = 'raisedHand' then channel_id else created_by end`.as('watcher');
			const watches = await live.select(['sessionId', watcher]).distinct().execute();
			const watchers = Map.groupBy(watches, (row) => row.sessionId);
			const claims = await from(db.read, 'claims', { service }).where('until', '>', now).select('sessionId').execute();
			const claimed = new Set(claims.map(({ sessionId }) => sessionId));
			return (await inSlices(each(rows, readWatchedSession))).map((session) => ({
				...session,
				status: session.digest?.status ?? null,
				questionOpen: session.digest !== null && hasOpenQuestion(session.digest),
				watchers: watchers.get(session.session.sessionId)?.map((one) => one.watcher) ?? [],
				isClaimed: claimed.has(session.session.sessionId),
			}));
		},

		/** Whether it could be read while somebody watched it. */
		wasRead: (session: SessionKey): Promise<boolean> =>
			isFound(
				from(db.read, 'watched_sessions', sessionOf(session)).select('service').where('lastReadAt', 'is not', null),
			),

		/** What the newest read showed of a session that is or was watched, and when it began; null: none can be read. */
		async newest(session: SessionKey): Promise<{ readonly snapshot: SessionSnapshot; readonly readAt: number } | null> {
			const row = await from(db.read, 'watched_sessions', sessionOf(session)).selectAll().executeTakeFirst();
			const snapshot = row === undefined ? null : viewColumn.open(row.view, row, cipher);
			const readAt = row?.lastReadAt ?? null;
			return snapshot === null || readAt === null ? null : { snapshot, readAt };
		},

		/** A watched session as stored; null: nobody watches it. */
		async watched({ service, sessionId }: SessionKey) {
			const row = await readSessions(service).where('sessionId', '=', sessionId).selectAll().executeTakeFirst();
			return row === undefined ? null : { ...readWatchedSession(row), view: viewColumn.open(row.view, row, cipher) };
		},

		isWatched: ({ service, sessionId }: SessionKey): Promise<boolean> =>
			isFound(readSessions(service).where('sessionId', '=', sessionId).select('sessionId')),

		count: (service: string): Promise<number> => countOf(readSessions(service)),

		/** When another session than this one was last read, by any process; null: never. */
		async otherReadAt({ service, sessionId }: SessionKey): Promise<number | null> {
			const others = from(db.read, 'watched_sessions', { service }).where('sessionId', '!=', sessionId);
			return (await others.select((eb) => eb.fn.max('lastReadAt').as('at')).executeTakeFirst())?.at ?? null;
		},

		/** Whether reads of a session fail that could be read before. */
		async isFailing(service: string): Promise<boolean> {
			const failing = readSessions(service).where('failures', '>', 0).where('digest', 'is not', null);
			return isFound(failing.select('sessionId'));
		},

		/**
		 * Moves ahead of all others the reads of watched sessions that are listed as waiting and whose newest read does not
		 * show that: it found another status, or is older than `absentAt`. `hasChanged`: since the former move.
		 */
		async readWaiting(service: string, sessions: readonly ListedWaiting[], now: number) {
			if (sessions.length === 0) return [];
			const listed = new Map(sessions.map((session) => [session.sessionId, session]));
			const hasChanged = (row: WatchedSessionRow) =>
				(row.lastChangeAt ?? 0) >= (listed.get(row.sessionId)?.moved?.at ?? 0);
			const isNews = (row: WatchedSessionRow) => {
				const { absentAt = null, moved = null } = listed.get(row.sessionId) ?? {};
				// Where nothing was read, the list itself brought the session, to its place.
				if (row.nextReadAt === null || row.lastReadAt === null) return false;
				if (moved !== null && now < moved.until && !hasChanged(row)) return false;
				return !isWaiting(readDigest(row.digest)?.status ?? '') || row.lastReadAt < (absentAt ?? 0);
			};
			const known = from(db.read, 'watched_sessions', { service, sessionId: [...listed.keys()] });
			const moves: { readonly sessionId: string; readonly hasChanged: boolean }[] = [];
			for (const before of (await known.selectAll().execute()).filter(isNews)) {
				const { sessionId } = before;
				const isMoved = await db.write(async (trx) => {
					const row = await lockSession(trx, { service, sessionId });
					if (row === undefined || !isNews(row)) return false;
					// One read tells. The ones after it are planned as usual.
					await askForRead(trx, row, now - NEWS_AHEAD_MS, now);
					return true;
				});
				if (isMoved) moves.push({ sessionId, hasChanged: hasChanged(before) });
			}
			return moves;
		},

		/** Moves reads still planned for `from` and not leased. */
		reschedule: (moves: readonly { session: SessionKey; from: PlannedRead; to: PlannedRead }[]) =>
			db.write(async (trx) => {
				for (const { session, from: planned, to } of inLockOrder(moves, (move) => move.session.sessionId)) {
					const row = { ...sessionOf(session), nextReadAt: planned.at, leaseToken: null };
					const moved = { nextReadAt: Math.round(to.at), readBy: Math.round(to.by) };
					await change(trx, 'watched_sessions', row, moved).execute();
				}
			}),
	};
}

export type SessionStore = ReturnType<typeof createSessionStore>;
export type TakenSession = Awaited<ReturnType<SessionStore['takeDue']>>[number];

function isOfKind(kind: ReadKind | null) {
	if (kind === null) return sql<boolean>`true`;
	return kind === 'awaited' ? sql<boolean>`read_by < next_read_at` : sql<boolean>`read_by >= next_read_at`;
}
