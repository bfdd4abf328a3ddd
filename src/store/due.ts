import { type Kysely, type RawBuilder, sql } from 'kysely';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import { LONGEST_LOOK_MS } from '../inbox/ladder.ts';
import { LONGEST_SNOOZE_MS } from '../inbox/snooze.ts';
import type { Lease } from '../lease-loop.ts';
import { LONGEST_INTERVAL_MS } from '../watches/schedule.ts';
import { ADVISORY_LOCKS, isPostgres, type StoreDatabase } from './database.ts';
import { isOwnSchema, stopBesideNewer } from './migrate.ts';
import type { Row, Tables } from './tables.ts';

/**
 * The longest legal delay of each kind of row. `now` is the database's time on PostgreSQL (`database-clock.ts`) and the
 * machine's on SQLite. A stored time further ahead than the delay was written before a clock was put back, or by a clock
 * that was ahead. It counts as due; otherwise the row would wait until that time.
 */
export const LONGEST_DELAY_MS = {
	/** The last confirmation check comes 10 minutes after a delivery; a receipt is retried after 10 minutes. */
	answer: 15 * 60_000,
	/** The schedule reads every session at least this often. */
	read: LONGEST_INTERVAL_MS,
	/** Posts and cards: the longest retry delay, and the longest Retry-After of Slack that is honored. */
	post: 15 * 60_000,
	/** A claim ("(name) is answering") lasts 5 minutes. */
	claim: 10 * 60_000,
	/** The longest retry delay of an inbox for which somebody waits. */
	askedInbox: 10 * 60_000,
	/** Other inboxes wait for the end of a snooze. */
	inbox: LONGEST_SNOOZE_MS,
	/** A ladder is looked at at least this often while a reminder lies ahead. */
	ladder: LONGEST_LOOK_MS,
} as const;

/** Whether a row is of the workspace to whose Slack this process writes. While that is unknown, none is. */
export function isOurs({ workspace }: StoreDatabase, column = 'team_id') {
	return workspace === undefined ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = ${workspace()}`;
}

/** How long an unreadable row waits: damaged, or for another encryption key. */
export const UNREADABLE_RETRY_MS = 10 * 60_000;

const LONGEST_LEASE_MS = 60_000;

/** Whether the time in `column` is due at `now`. */
export function isDue(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<boolean>`(${at} <= ${now} or ${at} > ${now + longestMs})`;
}

/** The time in `column`, or `now` when it is too far ahead and counts as due. */
export function dueAt(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<number | null>`case when ${at} > ${now + longestMs} then ${now} else ${at} end`;
}

/** Whether the time in `column` is ahead of `now` by no more than clocks may differ. */
export function isPast(column: string, now: number) {
	return sql<boolean>`${sql.ref(column)} <= ${now + CLOCK_ALLOWANCE_MS}`;
}

/** Whether a lease that ends at the time in `column` has lapsed. */
export function hasLapsed(column: string, now: number) {
	return isDue(column, now, LONGEST_LEASE_MS);
}

/**
 * The earliest time at which a row can be taken: when it is due, but not before a lease on it lapses.
 *
 * @param due the expression of `dueAt`
 * @param lease the table with the lease, when the query joins several
 */
export function earliest(due: RawBuilder<number | null>, now: number, lease: string | null = null) {
	const column = (name: string) => (lease === null ? name : `${lease}.${name}`);
	const lapse = dueAt(column('leased_until'), now, LONGEST_LEASE_MS);
	return sql<number | null>`min(case when ${sql.ref(column('lease_token'))} is not null and ${lapse} > ${due}
		then ${lapse} else ${due} end)`;
}

/** When `leaseDue` next finds a row of `table` among those that match `where`; `due`: see `earliest`. */
export async function nextDue(
	db: StoreDatabase,
	table: LeasedTable,
	where: RawBuilder<boolean>,
	{ due, now }: { due: RawBuilder<number | null>; now: number },
): Promise<number | null> {
	const { rows } = await sql<{ at: number | null }>`select ${earliest(due, now)} as at
		from ${sql.table(table)} where ${where}`.execute(db.read);
	return rows[0]?.at ?? null;
}

type LeasedTable = 'answers' | 'watches' | 'watched_sessions' | 'announcements' | 'inboxes' | 'ladders';

/**
 * Leases up to `limit` rows that match `where` and have no lease, in the order of `orderBy`. Skips rows that other replicas
 * lock at this moment. All work is taken by this function.
 */
export function leaseDue<T extends LeasedTable>(
	db: StoreDatabase,
	{ table, key, service, where, orderBy, limit, before, takingLock }: DueQuery<T>,
	{ lease, now }: { lease: Lease; now: number },
): Promise<Row<T>[]> {
	const ofService = service === undefined ? sql`` : sql`service = ${service} and`;
	// PostgreSQL checks the condition again when it locks a row, so a row that another replica just took is skipped.
	const lock = isPostgres(db.read) ? sql`for update skip locked` : sql``;
	return db.write(async (trx) => {
		if (takingLock !== undefined && !(await tryLock(trx, takingLock))) return [];
		await before?.(trx);
		const due = await sql<{ key: string }>`select ${sql.ref(key)} as key from ${sql.table(table)}
			where ${ofService} ${where} and (lease_token is null or ${hasLapsed('leased_until', now)})
			order by ${orderBy} limit ${limit} ${lock}`.execute(trx);
		if (due.rows.length === 0) return [];
		const keys = due.rows.map((row) => row.key);
		const { rows } = await sql<Row<T>>`update ${sql.table(table)}
			set lease_token = ${lease.token}, leased_until = ${now + lease.ms}
			where ${ofService} ${sql.ref(key)} in (${sql.join(keys)}) and ${isOwnSchema()} returning *`.execute(trx);
		// This transaction has locked the rows, so only the schema can have kept all of them.
		if (rows.length === 0) throw stopBesideNewer(db);
		const indexOf = (row: Row<T>) => keys.indexOf(String(row[key as keyof typeof row]));
		return rows.sort((a, b) => indexOf(a) - indexOf(b));
	});
}

interface DueQuery<T extends LeasedTable> {
	readonly table: T;
	/** Unique, within `service` when that is given. */
	readonly key: string & keyof Tables[T];
	readonly service?: string;
	readonly where: RawBuilder<boolean>;
	readonly orderBy: RawBuilder<unknown>;
	readonly limit: number;
	/** Runs first in the same transaction. */
	readonly before?: (trx: Kysely<Tables>) => Promise<void>;
	/**
	 * An advisory lock, for rows that belong together: rows are locked one by one, so two replicas at once would each take
	 * some. While one takes, others take nothing.
	 */
	readonly takingLock?: keyof typeof ADVISORY_LOCKS;
}

/** Whether this transaction has the lock now. SQLite has a single writer. */
async function tryLock(trx: Kysely<Tables>, purpose: keyof typeof ADVISORY_LOCKS): Promise<boolean> {
	if (!isPostgres(trx)) return true;
	const { rows } = await sql<{ locked: boolean }>`
		select pg_try_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS[purpose])}) as locked`.execute(trx);
	return rows[0]?.locked === true;
}
