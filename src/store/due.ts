import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { CLOCK_ALLOWANCE_MS } from '../clock.ts';
import type { Lease } from '../lease-loop.ts';
import { LONGEST_INTERVAL_MS } from '../watches/schedule.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * The one rule for stored times that processes compare. `now` is the database's time on PostgreSQL (`database-clock.ts`)
 * and the machine's on SQLite. A time further ahead than the longest legal delay of its kind of row was written before a
 * clock was put back, or by a clock that was ahead: it counts as due, or its row would wait until that time comes.
 */
export const LONGEST_DELAY_MS = {
	/** The last confirmation check comes 10 minutes after a delivery; a receipt is tried again after 10 minutes. */
	answer: 15 * 60_000,
	/** The schedule leaves no session unread for longer. */
	read: LONGEST_INTERVAL_MS,
	/** Posts and cards: the longest retry, and the longest pause that Slack is believed. */
	post: 15 * 60_000,
	/** "(name) is answering" holds for 5 minutes. */
	claim: 10 * 60_000,
} as const;

/** When a row that cannot be read is tried again: a replica of another version may have mended it. */
export const UNREADABLE_RETRY_MS = 10 * 60_000;

/** No lease is longer. */
const LONGEST_LEASE_MS = 60_000;

/** Whether the time in `column` has come at `now`. */
export function isDue(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<boolean>`(${at} <= ${now} or ${at} > ${now + longestMs})`;
}

/** The time in `column`, or `now` for one that counts as due because it is too far ahead. */
export function dueAt(column: string, now: number, longestMs: number) {
	const at = sql.ref(column);
	return sql<number | null>`case when ${at} > ${now + longestMs} then ${now} else ${at} end`;
}

/** Whether the time in `column`, at which something was done, is not ahead of `now` by more than clocks may differ. */
export function isPast(column: string, now: number) {
	return sql<boolean>`${sql.ref(column)} <= ${now + CLOCK_ALLOWANCE_MS}`;
}

/** Whether nobody holds the row: no lease, or one that has lapsed. */
function isFree(now: number) {
	return sql<boolean>`(lease_token is null or ${hasLapsed('leased_until', now)})`;
}

/** Whether a lease that ends at the time in `column` has lapsed. */
export function hasLapsed(column: string, now: number) {
	return isDue(column, now, LONGEST_LEASE_MS);
}

/**
 * The earliest time at which a row can be had: when it is due, but not before a lease on it lapses.
 *
 * @param due what `dueAt` made
 * @param lease the table that has the lease, when a query joins several
 */
export function earliest(due: RawBuilder<number | null>, now: number, lease: string | null = null) {
	const column = (name: string) => (lease === null ? name : `${lease}.${name}`);
	const lapse = dueAt(column('leased_until'), now, LONGEST_LEASE_MS);
	return sql<number | null>`min(case when ${sql.ref(column('lease_token'))} is not null and ${lapse} > ${due}
		then ${lapse} else ${due} end)`;
}

type LeasedTable = 'answers' | 'watches' | 'watched_sessions' | 'announcements';

/**
 * Leases up to `limit` rows that `where` says are due and that nobody holds, in the order of `orderBy`; rows that other
 * replicas lock at this moment are passed over. The only statement that takes work.
 */
export function leaseDue<T extends LeasedTable>(
	db: StoreDatabase,
	{ table, key, service, where, orderBy, limit, before }: DueQuery<T>,
	{ lease, now }: { lease: Lease; now: number },
): Promise<Selectable<Tables[T]>[]> {
	const ofService = service === undefined ? sql`` : sql`service = ${service} and`;
	// PostgreSQL judges a row again when it locks it: one that another replica has just taken is not free then.
	const lock = db.dialect === 'postgres' ? sql`for update skip locked` : sql``;
	return db.write(async (trx) => {
		await before?.(trx);
		const due = await sql<{ key: string }>`select ${sql.ref(key)} as key from ${sql.table(table)}
			where ${ofService} ${where} and ${isFree(now)} order by ${orderBy} limit ${limit} ${lock}`.execute(trx);
		if (due.rows.length === 0) return [];
		const keys = due.rows.map((row) => row.key);
		const { rows } = await sql<Selectable<Tables[T]>>`update ${sql.table(table)}
			set lease_token = ${lease.token}, leased_until = ${now + lease.ms}
			where ${ofService} ${sql.ref(key)} in (${sql.join(keys)}) returning *`.execute(trx);
		const place = (row: Selectable<Tables[T]>) => keys.indexOf(String(row[key as keyof typeof row]));
		return rows.sort((a, b) => place(a) - place(b));
	});
}

interface DueQuery<T extends LeasedTable> {
	readonly table: T;
	/** Tells rows apart, within `service` when that is given. */
	readonly key: string & keyof Tables[T];
	readonly service?: string;
	readonly where: RawBuilder<boolean>;
	readonly orderBy: RawBuilder<unknown>;
	readonly limit: number;
	/** What the same transaction does first. */
	readonly before?: (trx: Kysely<Tables>) => Promise<void>;
}
