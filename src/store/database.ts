import { type Expression, type Kysely, sql, type UpdateResult } from 'kysely';
import { HandraiseError } from '../errors.ts';
import type { QueuedRows } from '../lease-loop.ts';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** An open SQLite or PostgreSQL database. Failures of the environment (disk, I/O, network) throw `StoreUnavailableError`. */
export interface StoreDatabase {
	readonly dialect: Dialect;
	/** See `StoreOptions.workspace`. */
	readonly workspace?: (() => string | null) | undefined;
	/** Called when the schema is a newer version's. Left out: nobody wants to know. */
	readonly onNewer?: ((reason: HandraiseError) => void) | undefined;
	/** For single SELECT statements. Never use it inside `write`: on SQLite it deadlocks. */
	readonly read: Kysely<Tables>;
	/**
	 * Runs `work` as one transaction. Resolves after the commit (on SQLite: synced to disk); rolls back and rejects when
	 * `work` throws. `work` must only use the given handle and await nothing else: PostgreSQL runs it again after a unique
	 * violation, a deadlock or a serialization failure. On SQLite, writes that arrive in one turn of the event loop share
	 * one commit and its fdatasync; each still fails alone.
	 */
	write<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
	/** Like `write`, for a single INSERT, UPDATE or DELETE. Saves the round trips of BEGIN and COMMIT on PostgreSQL. */
	writeOne<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
	/** The rows of these tables, for the loop that takes them. */
	queuedRows(tables: readonly (keyof Tables)[]): QueuedRows;
	/** Rejects with `StoreUnavailableError` when the database does not answer. */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/**
 * FOR UPDATE on PostgreSQL, for a SELECT before an UPDATE in the same `write`. SQLite has a single writer and needs no
 * lock. Use as `query.$call(lockRows(db.dialect))`.
 */
export function lockRows(dialect: Dialect, options: { skipLocked: boolean } = { skipLocked: false }) {
	return <Q extends Lockable<Q>>(query: Q): Q => {
		if (dialect === 'sqlite') return query;
		return options.skipLocked ? query.forUpdate().skipLocked() : query.forUpdate();
	};
}

interface Lockable<Q> {
	forUpdate(): Q;
	skipLocked(): Q;
}

/** For INSERT … SELECT: the values of `row` in the order of its keys, or no row where `blocker` finds something. */
export function rowUnlessExists(db: Kysely<Tables>, row: object, blocker: Expression<unknown>) {
	return db
		.selectNoFrom(Object.entries(row).map(([column, value]) => sql<never>`${value}`.as(column)))
		.where(({ not, exists }) => not(exists(blocker)));
}

/** Runs an UPDATE; returns how many rows it changed. */
export async function countUpdated(query: { executeTakeFirst(): Promise<UpdateResult | undefined> }): Promise<number> {
	return Number((await query.executeTakeFirst())?.numUpdatedRows ?? 0n);
}

/** Rows removed in one transaction: on SQLite it blocks the event loop. */
const REMOVAL_BATCH = 200;

/** Repeats `remove` until it removes fewer rows than its limit; returns the total. */
export async function inBatches(remove: (limit: number) => Promise<number>): Promise<number> {
	let removed = 0;
	for (;;) {
		const batch = await remove(REMOVAL_BATCH);
		removed += batch;
		if (batch < REMOVAL_BATCH) return removed;
	}
}

/** The disk is full, I/O failed, or the database is unreachable or too slow. The same call may work later. */
export class StoreUnavailableError extends HandraiseError {
	/** Whether the write may be committed: the connection was lost, or the database did not respond in time. */
	readonly commitUnknown: boolean;

	constructor(message: string, { cause, commitUnknown = false }: { cause?: unknown; commitUnknown?: boolean } = {}) {
		super(message, { code: 'store_unavailable', retryable: true, cause });
		this.commitUnknown = commitUnknown;
	}
}
