import { type RawBuilder, sql } from 'kysely';
import { nextTurn } from '../kernel/slices.ts';
import {
	type ChangeQuery,
	columnsOf,
	countChanged,
	type Db,
	isPostgres,
	lastKeyOf,
	remove,
	type StoreDatabase,
	TABLES,
	type TableName,
} from './database.ts';

/** Rows changed in one transaction: on SQLite it blocks the event loop. */
const BATCH = 200;

/** Repeats `work` until it changes fewer rows than its limit. Returns the total. */
export async function inBatches(work: (limit: number) => Promise<number>, limit = BATCH): Promise<number> {
	let removed = 0;
	for (;;) {
		const batch = await work(limit);
		removed += batch;
		if (batch < limit) return removed;
		await nextTurn();
	}
}

/**
 * Rows that one statement looks at. On PostgreSQL a statement blocks no event loop, and more of them hold locks for
 * longer.
 */
const PART = { sqlite: 2_000, postgres: 100_000 };

/** A value below the last key column of every row of a table. */
export const beforeKeys = (table: TableName): string | number =>
	columnsOf(table).some(([name, { type }]) => name === lastKeyOf(table) && type !== 'text') ? -1 : '';

/**
 * Runs `work` on all rows of a table, part by part; `isIn` is the condition of a part. Returns the sum of its
 * results.
 */
export async function inParts(db: Db, table: TableName, work: (isIn: RawBuilder<boolean>) => Promise<number>) {
	const key = sql.ref(lastKeyOf(table));
	const part = isPostgres(db) ? PART.postgres : PART.sqlite;
	let total = 0;
	for (let after = beforeKeys(table); ; ) {
		const { rows } = await sql<{ last: string | number }>`select ${key} as last from ${sql.table(table)}
			where ${key} > ${after} order by ${key} limit 1 offset ${part - 1}`.execute(db);
		const last = rows[0]?.last;
		total += await work(sql`${key} > ${after} and ${last === undefined ? sql`true` : sql`${key} <= ${last}`}`);
		if (last === undefined) return total;
		after = last;
		await nextTurn();
	}
}

/** `inBatches` with a query that changes at most `limit` rows, each time as one transaction. */
export function changeInBatches(db: StoreDatabase, query: (trx: Db, limit: number) => ChangeQuery): Promise<number> {
	return inBatches((limit) => db.writeOne((trx) => countChanged(query(trx, limit))));
}

/** Removes the rows for which `isOver` holds, in batches. Returns how many. */
export function removeInBatches(db: StoreDatabase, table: TableName, isOver: RawBuilder<boolean>): Promise<number> {
	const key = sql.join(TABLES[table].key.map((name: string) => sql.ref(name)));
	return changeInBatches(db, (trx, limit) => {
		const over = sql`select ${key} from ${sql.table(table)} where ${isOver} limit ${limit}`;
		return remove(trx, table as 'snoozes').where(sql<boolean>`(${key}) in (${over})`);
	});
}
