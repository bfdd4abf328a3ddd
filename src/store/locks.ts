import { sql } from 'kysely';
import type { SessionKey } from '../domain/session.ts';
import { type Db, type Filter, from, isPostgres, type LeasedTable, lastKeyOf, sessionOf } from './database.ts';

/*
 * The order of locks. Transactions that lock in different orders could wait for each other. Several rows of one kind
 * are locked in the order of their keys. Whoever calls a function that writes questions or posts of a session in a
 * transaction has locked the session before.
 *
 * 1. what `lockFor` locks, or the question of an answer (`lockQuestion` of `accept-store.ts`)
 * 2. the discovery of a channel
 * 3. answers and drafts
 * 4. sessions: `lockSession`
 * 5. watches
 * 6. posts, and with them the reminders of several questions in their channels
 * 7. held reminders, which are rows of `posts`, in the order of their streams
 * 8. views; that of a form that is sent goes first, with nothing after it
 */

/** The query that locks these rows in the order of their keys, and selects the keys. */
export function locked<Table extends LeasedTable | 'watches'>(trx: Db, table: Table, filter: Filter<Table>) {
	const key = lastKeyOf(table) as 'id';
	const rows = from(trx, table as 'watches', filter as Filter<'watches'>);
	// By bytes, like `inLockOrder`: the database may sort texts in another way.
	const isCollated = table === 'watched_sessions' && isPostgres(trx);
	const bytes = isPostgres(trx) ? sql` collate "C"` : sql``;
	const heldIn = sql`case when kind = 'reminder' and state = 'planned' then stream else '' end${bytes}`;
	return (table === 'posts' ? rows.orderBy(heldIn) : rows)
		.select(key)
		.orderBy(isCollated ? sql`session_id collate "C"` : sql.ref(key))
		.forUpdate();
}

/** The order in which sessions, or streams of held reminders, are locked one after the other. */
export function inLockOrder<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
	return items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** Locks the session's row. Whoever adds or ends a watch does this first, then decides whether it is still watched. */
export async function lockSession(trx: Db, key: SessionKey) {
	return from(trx, 'watched_sessions', sessionOf(key)).selectAll().forUpdate().executeTakeFirst();
}

/** Locks the session of a watch; null without one. */
export async function lockSessionOf(trx: Db, watchId: string | null): Promise<SessionKey | null> {
	if (watchId === null) return null;
	const row = await from(trx, 'watches', { id: watchId }).select(['service', 'sessionId']).executeTakeFirst();
	if (row === undefined) return null;
	await lockSession(trx, sessionOf(row));
	return sessionOf(row);
}

/** Serializes transactions on PostgreSQL until their end. SQLite has a single writer. */
export async function lockFor(trx: Db, purpose: keyof typeof ADVISORY_LOCKS): Promise<void> {
	if (isPostgres(trx)) await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS[purpose])})`.execute(trx);
}

/** `lockFor` within a statement, which then selects only what is true after it. Selected once, before any row. */
export const lockedFor = (trx: Db, purpose: keyof typeof ADVISORY_LOCKS) =>
	isPostgres(trx)
		? sql<boolean>`(select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS[purpose])})) is not null`
		: sql<boolean>`true`;

/** The numbers are arbitrary. */
export const ADVISORY_LOCKS = {
	migrating: 0x68616e64,
	/** Two replicas at once would add the last allowed watch. */
	addingWatches: 7_205_759_403,
	/** Two lists that each remove what the other one has added would wait for each other. */
	replacingLists: 7_205_759_405,
	/** Two that have the same posts drawn again would wait for each other. */
	spreadingMarks: 7_205_759_406,
	/** Hand-overs at the same moment are counted one after the other. */
	handingOver: 0x68646f76,
} as const;
