import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { HandraiseError, type Log, pick } from '../core/basics.ts';
import { AUDIT_ACTIONS, type AuditRow } from './audit.ts';
import { type Db, isPostgres, sql } from './database.ts';
import { openUnchanged } from './inspect.ts';
import { openPostgres } from './postgres.ts';
import { kyselyOn } from './sqlite.ts';

/** The place of a row in the order of reading. */
export type AuditCursor = Pick<AuditRow, 'transactionId' | 'number'>;
export const BEFORE_ALL: AuditCursor = { transactionId: -1, number: -1 };

/**
 * Rows after `after`, in the order in which whoever follows them misses none. On PostgreSQL a lower number may be
 * committed later: only rows of transactions before the oldest that still runs are read, by transaction. A page is one
 * statement: SQLite can empty its log between two.
 */
export async function readEvents(
	db: Db,
	after: AuditCursor,
	{ since = 0, limit = 1_000 }: { readonly since?: number; readonly limit?: number } = {},
): Promise<readonly AuditRow[]> {
	const isSettled = isPostgres(db)
		? sql<boolean>`transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`
		: sql<boolean>`true`;
	const isAfter = isPostgres(db)
		? sql<boolean>`(transaction_id, number) > (${after.transactionId}, ${after.number})`
		: sql<boolean>`number > ${after.number}`;
	return db
		.selectFrom('audit_events')
		.selectAll()
		.where(isAfter)
		.where(isSettled)
		.where('at', '>=', since)
		.$if(isPostgres(db), (query) => query.orderBy('transactionId'))
		.orderBy('number')
		.limit(limit)
		.execute();
}

export const cursorOf = (row: AuditRow): AuditCursor => pick(row, 'transactionId', 'number');

const word = z.string().nullable();

/** A line that `npm run audit` prints. */
export const AUDIT_LINE = z.strictObject({
	number: z.int(),
	cursor: z.string().regex(/^\d+\.\d+$/),
	at: z.iso.datetime(),
	action: z.enum(AUDIT_ACTIONS),
	count: z.int(),
	actor: word,
	operator: word,
	about: word,
	session: word,
	channel: word,
	answer: word,
	fingerprint: word,
	outcome: word,
	request: word,
});
export type AuditLine = Readonly<z.infer<typeof AUDIT_LINE>>;

export function lineOf(row: AuditRow): AuditLine {
	return {
		number: row.number,
		cursor: `${row.transactionId}.${row.number}`,
		at: new Date(row.at).toISOString(),
		action: row.action as AuditLine['action'],
		...pick(row, 'count', 'actor', 'operator', 'about'),
		session: row.sessionId,
		channel: row.channelId,
		answer: row.answerId,
		...pick(row, 'fingerprint', 'outcome', 'request'),
	};
}

/** The schema that has the table. */
const SCHEMA = 34;
/** `since` may be at the end of a large table. */
const POOL = { size: 1, statementMs: 60_000 };

const absent = (words: string) => new HandraiseError(words, { code: 'no_database' });

/** Opens a database for reading beside the running program, by the settings of this shell. */
export async function openAudit({
	databaseUrl,
	dataDir,
	log,
}: {
	readonly databaseUrl: string | null;
	readonly dataDir: string;
	readonly log: Log;
}): Promise<{ readonly read: Db; close(): Promise<void> }> {
	const db = databaseUrl === null ? openFile(resolve(dataDir)) : openPostgres(databaseUrl, log, { pool: POOL });
	try {
		const newest = sql<{ schema: number | null }>`select max(number) as schema from migrations`.execute(db.read);
		const { rows } = await newest.catch((error: unknown) => {
			throw error instanceof HandraiseError ? error : absent('No Handraise has set up this database.');
		});
		const schema = rows[0]?.schema ?? 0;
		if (schema >= SCHEMA) return db;
		throw absent(`The database has schema ${schema}, and the audit begins with ${SCHEMA}: start this version first.`);
	} catch (error) {
		await db.close();
		throw error;
	}
}

function openFile(directory: string) {
	const path = join(directory, 'handraise.db');
	if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) throw absent(`There is no database ${path}.`);
	if (existsSync(`${path}-wal`) && !existsSync(`${path}-shm`))
		throw absent(`${path} was not closed: start Handraise, which reads its log.`);
	const database = openUnchanged(path);
	return { read: kyselyOn(database), close: async () => database.close() };
}
