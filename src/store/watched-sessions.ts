// Owns `watched_sessions`: when each session is read, and what was last read of it.
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import type { SessionKey } from '../domain/session.ts';
import { type Digest, digest } from '../domain/session-digest.ts';
import { maskedSnapshot, type SessionSnapshot, sessionSnapshot } from '../domain/session-snapshot.ts';
import type { Lease } from '../kernel/lease-loop.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import {
	add,
	type Cipher,
	change,
	countOf,
	type Db,
	type Filter,
	from,
	hasChanged,
	isFound,
	type Row,
	remove,
	type StoreParts,
	sealedColumn,
	sessionOf,
	WITHOUT_LEASE,
} from './database.ts';
import { leaseDue, nextDue, queueOf } from './due.ts';
import { locked, lockSession } from './locks.ts';
import { arrivedIn } from './question-store.ts';
import { NEWS_AHEAD_MS, sessionReads } from './session-reads.ts';

export type WatchedSessionRow = Row<'watched_sessions'>;

const SNAPSHOT = sessionSnapshot.transform((stored) => maskedSnapshot(new Set(), stored));
/** `open` gives null when there is none yet, it was written with another key, or it is damaged. */
export const snapshotColumn = sealedColumn('watched_sessions.snapshot', SNAPSHOT as z.ZodType<SessionSnapshot>);

/** Null for a damaged digest: the next read stores a new one. An open question keeps its row. */
export const readDigest = (text: string | null): Digest | null => parseOrNull(digest, text);

/** A session that at least one channel watches. All its watches share this row. */
export type WatchedSession = Readonly<ReturnType<typeof readWatchedSession>>;

export function readWatchedSession(row: Omit<WatchedSessionRow, 'snapshot'>) {
	return {
		...pick(row, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
		session: sessionOf(row),
		/** Null before the first read. */
		digest: readDigest(row.digest),
		nextRead: { at: row.nextReadAt ?? row.readBy, by: row.readBy },
		earlyReadAskedAt: row.earlyReadAskedAt,
		earlyReadCount: row.earlyReadCount,
		listed: row.listed,
		reads: readReads(row),
	};
}

export function readReads({ reads }: Pick<WatchedSessionRow, 'reads'>) {
	return parseOrNull(sessionReads, reads) ?? sessionReads.parse({});
}

export const changeSession = (trx: Db, session: SessionKey, columns: Partial<WatchedSessionRow>) =>
	change(trx, 'watched_sessions', sessionOf(session), columns).execute();

export const changeReads = (trx: Db, filter: Filter<'watched_sessions'>, columns: Partial<WatchedSessionRow>) =>
	change(trx, 'watched_sessions', filter, columns).execute();

/**
 * Locks the session's row and plans its read; adds the row if there is none. Returns the row as it was; null where
 * `firstRead` is stored now.
 */
export async function startReading(
	trx: Db,
	{ session, readAt, readBy = readAt }: { session: SessionKey; readAt: number; readBy?: number },
	firstRead: Pick<WatchedSessionRow, 'failures'> & Partial<WatchedSessionRow>,
): Promise<WatchedSessionRow | null> {
	const row = await lockSession(trx, session);
	const planned = { nextReadAt: readAt, readBy };
	if (row === undefined) {
		const unread = { ...sessionOf(session), earlyReadCount: 1 };
		// Of two replicas that find none, one fails on the key and runs again.
		await add(trx, 'watched_sessions', { ...unread, ...firstRead, ...planned }).execute();
		return null;
	}
	const { nextReadAt: before, readBy: by, earlyReadCount } = row;
	const at = Math.min(before ?? readAt, readAt);
	// `by` before `at` sends a read ahead of others (see `PlannedRead`). `at - 1` does so for one that was due already.
	const place = readBy < readAt ? Math.min(by, readBy, at - 1) : Math.min(by, readBy);
	const next = before === null ? { overSince: null, ...planned } : { nextReadAt: at, readBy: place };
	// Not beside a read that is under way: it has begun with the row as it was.
	const isFirst = before === null || (row.snapshot === null && row.leaseToken === null);
	const columns = { ...(isFirst && firstRead), ...next, earlyReadCount: earlyReadCount + 1 };
	await changeSession(trx, session, columns);
	return isFirst ? null : row;
}

/**
 * Moves the read of a session forward to `at`, and its next reads for a short time after `askedAt`. `by`: its place
 * among due reads (see `PlannedRead`).
 */
export async function readEarly(
	trx: Db,
	session: SessionKey,
	{ askedAt, at, by }: { askedAt: number | null; at: number; by: number },
): Promise<void> {
	// While the session is being read, `nextReadAt` is the past time of that read.
	const earlier = sql<number>`case when lease_token is null and next_read_at < ${at} then next_read_at
		else cast(${at} as bigint) end`;
	// As in `startReading`: `at - 1` at most, so that the read goes ahead of others.
	const readBy = sql<number>`case when ${earlier} - 1 < ${by} then ${earlier} - 1 else cast(${by} as bigint) end`;
	const columns = {
		earlyReadAskedAt: askedAt,
		earlyReadCount: sql<number>`early_read_count + 1`,
		nextReadAt: earlier,
		readBy,
	};
	const early = change(trx, 'watched_sessions', sessionOf(session), columns);
	await early.where('nextReadAt', 'is not', null).execute();
}

/** Whether the read of a session has the place `by` or a better one. While the service is away, exactly this one. */
export function hasPlace(
	row: Pick<WatchedSessionRow, 'nextReadAt' | 'readBy' | 'failures'>,
	by: number,
	now: number,
): boolean {
	const { nextReadAt, readBy, failures } = row;
	if (nextReadAt === null) return true;
	return failures === 0 ? nextReadAt <= now && readBy < nextReadAt && readBy <= by : readBy === by;
}

/** Moves the read of a session to `at` and the place `by`, ahead of others. */
export async function askForRead(trx: Db, row: WatchedSessionRow, by: number, at: number): Promise<void> {
	// Not before its time: the service is away. But ahead of others when it is back.
	if (row.failures > 0) await changeSession(trx, row, { readBy: by });
	// `earlyReadAskedAt` stays: no answer was delivered, so no further early reads follow.
	else await readEarly(trx, row, { askedAt: row.earlyReadAskedAt, at, by });
}

/** What a read writes to the row of its session. `earlyReadCount`: as it was when the read was taken. */
export interface SessionRead extends Omit<WatchedSession, 'session' | 'digest' | 'earlyReadAskedAt' | 'listed'> {
	/** Left out when it shows what is stored already. */
	readonly snapshot?: SessionSnapshot;
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
	const { earlyReadCount, leaseToken, nextReadAt: plannedAt, readBy: by } = row;
	const isEarly = earlyReadCount !== read.earlyReadCount && plannedAt !== null;
	const at = Math.round(isEarly ? Math.min(plannedAt, read.nextRead.at) : read.nextRead.at);
	const { nextReadAt, readBy, ...noted } = columnsOfRead(read);
	const columns = {
		...noted,
		...(!keepsPlan && {
			nextReadAt: isEarly ? at : nextReadAt,
			readBy: isEarly ? Math.min(by, at) : readBy,
			...WITHOUT_LEASE,
		}),
		...(read.snapshot !== undefined && {
			digest: JSON.stringify(read.snapshot.digest),
			snapshot: snapshotColumn.seal(read.snapshot, row, cipher),
		}),
	};
	await change(trx, 'watched_sessions', { ...sessionOf(row), leaseToken }, columns).execute();
}

const columnsOfRead = (read: SessionRead) => ({
	reads: JSON.stringify(read.reads),
	nextReadAt: Math.round(read.nextRead.at),
	readBy: Math.round(read.nextRead.by),
	...pick(read, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
});

/**
 * Notes a read that found nothing new, in one statement, and gives the lease back. False: the lease is lost, or
 * something was stored or asked for since, or the read before failed, so `noteRead` has to see what it means.
 */
export function notePlainRead(
	trx: Db,
	{ session, token, lastReadAt }: HeldSession & { readonly lastReadAt: number | null },
	read: SessionRead,
): Promise<boolean> {
	const asTaken = {
		...sessionOf(session),
		leaseToken: token,
		lastReadAt,
		earlyReadCount: read.earlyReadCount,
		failures: 0,
	};
	const noted = change(trx, 'watched_sessions', asTaken, { ...columnsOfRead(read), ...WITHOUT_LEASE });
	// In the JSON of `sessionReads`: no failed read is noted.
	return hasChanged(noted.where(sql<boolean>`next_read_at is not null and reads like '%"unread":null%'`));
}

export const removeSession = (trx: Db, session: SessionKey) =>
	remove(trx, 'watched_sessions', sessionOf(session)).execute();

export interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

/** The interval of a session that was never read, or whose reads fail, when due reads take turns. */
const UNREAD_INTERVAL_MS = 2_500;

/** `arrived`: how many answers of ours have arrived; `laterAt`: when the next read is due that is not due yet. */
type AlsoRead = { readonly arrived: number; readonly laterAt: number | null };

/** The sessions that are watched, and their reads. */
export function createSessionStore({ db, cipher }: StoreParts) {
	const readSessions = (service: string) =>
		from(db.read, 'watched_sessions', { service }).where('nextReadAt', 'is not', null);

	/**
	 * The last read of a session that fails, or was not followed for some time, may be long ago: it gives no
	 * interval.
	 */
	const lastOfMany = sql`case when failures = 0 and digest is not null then last_read_at end`;
	const readBefore = sql`coalesce(${lastOfMany}, next_read_at - ${UNREAD_INTERVAL_MS})`;
	const interval = sql`abs(next_read_at - ${readBefore}) + 1`;
	/** The order by how many of its intervals a session has waited since it was due. */
	const inTurn = (now: number) => sql`cast(1.0 * (next_read_at - ${now}) / (${interval}) as double precision)`;

	async function take(
		service: string,
		lease: Lease,
		due: { limit: number; now: number; orderBy: readonly RawBuilder<unknown>[] },
	) {
		const { now, ...order } = due;
		const where = sql<boolean>`next_read_at <= ${now}`;
		const laterAt = sql`(select min(next_read_at) from watched_sessions where service = ${service}
			and next_read_at > ${now})`;
		const alsoRead = [sql`${arrivedIn('watched_sessions')} as arrived`, sql`${laterAt} as "laterAt"`];
		const query = { table: 'watched_sessions', service, where, alsoRead, ...order } as const;
		const rows = (await leaseDue(db, query, { lease, now })) as (WatchedSessionRow & AlsoRead)[];
		return rows.map(({ arrived, laterAt, ...row }) => ({ ...readStored(row), arrived, laterAt }));
	}

	/** `snapshot` is null before the first read, and when it cannot be read. */
	const readStored = (row: WatchedSessionRow) => ({
		...readWatchedSession(row),
		snapshot: snapshotColumn.open(row.snapshot, row, cipher),
	});

	return {
		/** Leases up to `limit` sessions with a due read, in the order of `PlannedRead`. */
		takeDue: (service: string, lease: Lease, limit: number, now: number) =>
			take(service, lease, {
				limit,
				now,
				orderBy: [
					sql`case when read_by < next_read_at then 0 else 1 end`,
					sql`case when read_by < next_read_at then read_by end`,
					inTurn(now),
				],
			}),

		/** Leases one as if none were awaited. */
		takeInTurn: (service: string, lease: Lease, now: number) =>
			take(service, lease, { limit: 1, now, orderBy: [inTurn(now)] }),

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

		nextDueAt: (service: string): Promise<number | null> =>
			nextDue(db, 'watched_sessions', sql<boolean>`service = ${service} and next_read_at is not null`, 'nextReadAt'),

		/** Whether it could be read while somebody watched it. */
		wasRead: (session: SessionKey): Promise<boolean> =>
			isFound(
				from(db.read, 'watched_sessions', sessionOf(session)).select('service').where('lastReadAt', 'is not', null),
			),

		/** What the newest read showed of a session that is or was watched, and when it began; null: none can be read. */
		async newest(session: SessionKey): Promise<{ readonly snapshot: SessionSnapshot; readonly readAt: number } | null> {
			const row = await from(db.read, 'watched_sessions', sessionOf(session)).selectAll().executeTakeFirst();
			const snapshot = row === undefined ? null : snapshotColumn.open(row.snapshot, row, cipher);
			const readAt = row?.lastReadAt ?? null;
			return snapshot === null || readAt === null ? null : { snapshot, readAt };
		},

		/** A watched session as stored; null: nobody watches it. */
		async watched({ service, sessionId }: SessionKey) {
			const row = await readSessions(service).where('sessionId', '=', sessionId).selectAll().executeTakeFirst();
			return row === undefined ? null : readStored(row);
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
		 * Notes what the newest list says of the watched sessions: `listed`, by id, when each was last saved. Moves
		 * the reads of sessions with news ahead of all others. A session that the list named before is not read more
		 * often than each `leastMs`. Returns how many were moved. A session that is no longer listed counts as news
		 * too, even if the list is incomplete: nothing else tells of it then.
		 */
		async noteListed(
			service: string,
			listed: ReadonlyMap<string, number>,
			{ now, leastMs }: { now: number; leastMs: (session: Pick<WatchedSession, 'reads'>) => number },
		) {
			const known = await readSessions(service).select(['sessionId', 'listed']).execute();
			let count = 0;
			const savedAt = (sessionId: string) => listed.get(sessionId) ?? null;
			for (const { sessionId } of known.filter((row) => savedAt(row.sessionId) !== row.listed)) {
				const isNews = await db.write(async (trx) => {
					const row = await lockSession(trx, { service, sessionId });
					if (row === undefined || row.nextReadAt === null) return false;
					await changeSession(trx, row, { listed: savedAt(sessionId) });
					// Its first read is due, in its turn.
					if (row.lastReadAt === null) return false;
					// A session that the list did not name before has asked something: it is read, whatever that costs.
					const leastAt = row.listed === null ? now : row.lastReadAt + leastMs({ reads: readReads(row) });
					await askForRead(trx, row, now - NEWS_AHEAD_MS, Math.max(now, Math.round(leastAt)));
					return true;
				});
				count += Number(isNews);
			}
			return count;
		},

		/** Plans reads for at most `withinMs` after the last one: no list tells of sessions any more. */
		readWithin: (service: string, withinMs: number) =>
			db.writeOne((trx) => {
				const at = sql<number>`last_read_at + ${withinMs}`;
				const later = locked(trx, 'watched_sessions', { service, leaseToken: null, failures: 0 });
				const rows = { service, sessionId: later.where(sql<boolean>`next_read_at > ${at}`) };
				return change(trx, 'watched_sessions', rows, { nextReadAt: at, readBy: at }).execute();
			}),

		/** Plans reads for now where they failed, because the service is back. Each session keeps its place. */
		readFailing: (service: string, now: number) =>
			db.writeOne((trx) => {
				const failing = locked(trx, 'watched_sessions', { service, leaseToken: null });
				const rows = { service, sessionId: failing.where(sql<boolean>`failures > 0 and next_read_at > ${now}`) };
				const readBy = sql<number>`case when read_by < ${now} then read_by else ${now} end`;
				return change(trx, 'watched_sessions', rows, { nextReadAt: now, readBy }).execute();
			}),
	};
}

export type SessionStore = ReturnType<typeof createSessionStore>;
export type DueSession = Awaited<ReturnType<SessionStore['takeDue']>>[number];
export type TakenSession = Omit<DueSession, keyof AlsoRead>;
