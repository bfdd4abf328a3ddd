import type { Kysely, UpdateResult } from 'kysely';
import { HandraiseError } from '../errors.ts';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/**
 * One open database, whichever it is. Whatever goes wrong outside of our own statements (disk full, I/O, database away,
 * time-outs) is thrown as `StoreUnavailableError`.
 */
export interface StoreDatabase {
	readonly dialect: Dialect;
	/** For single SELECT statements. Not inside `write`, which has a handle of its own: on SQLite that would wait for itself. */
	readonly read: Kysely<Tables>;
	/**
	 * Runs `work` as one transaction and resolves once it is committed (on SQLite: synced to disk); rolls back and
	 * rejects when `work` throws. `work` may run more than once (PostgreSQL: a unique violation, a deadlock or a
	 * serialization failure is tried again, so that the next run sees what was in its way), so it must do nothing but
	 * use the handle it is given, and must await nothing else. On SQLite all writes that arrive in one turn of the event
	 * loop are committed together, so that they share one fdatasync; each still fails alone.
	 */
	write<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
	/** As `write`, for a `work` of one INSERT, UPDATE or DELETE: saves PostgreSQL the round trips of BEGIN and COMMIT. */
	writeOne<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
	/** Rejects with `StoreUnavailableError` when the database does not answer. */
	ping(): Promise<void>;
	close(): Promise<void>;
}

/**
 * The locking clause of a SELECT that is followed by an UPDATE in the same `write`: for Kysely's `modifyEnd` this is
 * only needed on PostgreSQL, SQLite has a single writer. Use as `query.$call(lockRows(db.dialect))`.
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

/** Runs an UPDATE; returns how many rows it changed. */
export async function countUpdated(query: { executeTakeFirst(): Promise<UpdateResult | undefined> }): Promise<number> {
	return Number((await query.executeTakeFirst())?.numUpdatedRows ?? 0n);
}

/** As many rows are removed in one transaction: on SQLite it holds the event loop. */
const REMOVAL_BATCH = 200;

/** Repeats `remove` until it finds less than it may take; returns how many it removed in all. */
export async function inBatches(remove: (limit: number) => Promise<number>): Promise<number> {
	let removed = 0;
	for (;;) {
		const batch = await remove(REMOVAL_BATCH);
		removed += batch;
		if (batch < REMOVAL_BATCH) return removed;
	}
}

/** Disk full, I/O error, database away or too slow: the same call may work later. */
export class StoreUnavailableError extends HandraiseError {
	/** Whether it may have been committed all the same: the connection was lost, or the answer did not come in time. */
	readonly commitUnknown: boolean;

	constructor(message: string, { cause, commitUnknown = false }: { cause?: unknown; commitUnknown?: boolean } = {}) {
		super(message, { code: 'store_unavailable', retryable: true, cause });
		this.commitUnknown = commitUnknown;
	}
}
