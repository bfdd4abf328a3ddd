import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { pick } from '../kernel/values.ts';
import { type AuditRow, transactionNumber } from './audit.ts';
import { type Db, from, isPostgres, sql } from './database.ts';
import { needSchema } from './migrate.ts';
import { OF_COMMAND, openPostgres } from './postgres.ts';
import { kyselyOn, openUnchanged } from './sqlite.ts';

/** The place of a row in the order of reading. */
export type AuditCursor = Pick<AuditRow, 'transactionId' | 'number'>;
export const BEFORE_ALL: AuditCursor = { transactionId: -1, number: -1 };
export const cursorOf = (row: AuditRow): AuditCursor => pick(row, 'transactionId', 'number');

/**
 * Reads a page of rows after `after`, in an order in which a follower misses none. On PostgreSQL a lower number may
 * be committed later, so only transactions before the oldest running one are read. `isSettled: false` reads all that
 * are committed. A page is one statement, so that SQLite can empty its log between two pages.
 */
export function readEvents(
	db: Db,
	after: AuditCursor,
	{ since = 0, limit = 1_000, isSettled = true } = {},
): Promise<AuditRow[]> {
	const oldest = transactionNumber(sql`pg_snapshot_xmin(pg_current_snapshot())`);
	const isReadable = isSettled && isPostgres(db) ? sql<boolean>`transaction_id < ${oldest}` : sql<boolean>`true`;
	const isAfter = sql<boolean>`(transaction_id, number) > (${after.transactionId}, ${after.number})`;
	const rows = from(db, 'audit_events').selectAll().where(isAfter).where(isReadable).where('at', '>=', since);
	return rows.orderBy('transactionId').orderBy('number').limit(limit).execute();
}

/** A row as `npm run audit` prints it and the log has it. `cursor`: for `--after`. */
export function auditLineOf({ number, transactionId, at, ...others }: AuditRow) {
	return { number, cursor: `${transactionId}.${number}`, at: new Date(at).toISOString(), ...others };
}

const absent = (words: string) => new HandraiseError(words, { code: 'no_database' });

/** Opens a database for reading beside the running program. @throws HandraiseError with words for the operator */
export async function openAudit(databaseUrl: string | null, dataDir: string, log: Log) {
	const db = databaseUrl === null ? openFile(resolve(dataDir)) : openPostgres(databaseUrl, log, { pool: OF_COMMAND });
	try {
		await needSchema(db.read);
		return db;
	} catch (error) {
		await db.close();
		if (error instanceof HandraiseError) throw error;
		throw absent('This database has no audit: start this version of Handraise with it first.');
	}
}

function openFile(directory: string) {
	const path = join(directory, 'handraise.db');
	if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) throw absent(`There is no database ${path}.`);
	if (existsSync(`${path}-wal`) && !existsSync(`${path}-shm`))
		throw absent(`${path} was not closed: start Handraise, which reads its log.`);
	const database = openUnchanged(path, { inUse: true });
	return { read: kyselyOn(database), close: async () => database.close() };
}
