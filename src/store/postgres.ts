import {
	Kysely,
	PostgresDialect,
	type PostgresPool,
	type PostgresPoolClient,
	PostgresQueryCompiler,
	type PostgresQueryResult,
	sql,
} from 'kysely';
import pg from 'pg';
import { HandraiseError, StoreUnavailableError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { workAndRecord } from './audit.ts';
import { createCommits, nameInSql, rowsOf, type StoreDatabase, type Tables } from './database.ts';
import { MIGRATION_MS, stopReplaced } from './migrate.ts';
import { type PoolOptions, readDatabaseUrl, SERVING, tlsProblemOf } from './postgres-address.ts';

/** The options of commands. A migration may rewrite a table, and a query by time may read a large one to its end. */
export const OF_COMMAND: PoolOptions = { size: 1, statementMs: MIGRATION_MS };

const CONNECT_MS = 2_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
/** The server ends a statement at its time-out. This much later we do, because a server may be silent. */
const SILENT_MS = 500;

/** How often each loop looks for rows that other replicas stored. */
const LOOK_EVERY_MS = 1_000;

/** Each run sees the rows that made the previous one fail: so many failures have another cause. */
const MAX_RUNS = 20;

/** Connects lazily to PostgreSQL. While it restarts, calls fail with `StoreUnavailableError`; the process stays up. */
export function openPostgres(
	databaseUrl: string,
	log: Log,
	options: { pool?: PoolOptions | undefined } & Pick<StoreDatabase, 'onReplaced'> = {},
): StoreDatabase {
	const { pool: { size, statementMs } = SERVING, onReplaced } = options;
	const pool = new pg.Pool({
		...readDatabaseUrl(databaseUrl).options,
		application_name: 'handraise',
		max: size,
		connectionTimeoutMillis: CONNECT_MS,
		statement_timeout: statementMs,
		query_timeout: statementMs + SILENT_MS,
		idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
		keepAlive: true,
		types: { getTypeParser: typeParser },
	});
	let closed: Promise<void> | null = null;
	// pg emits these outside of any call; without listeners they end the process.
	pool.on('error', (error) => {
		if (closed !== null) return;
		log.warn('database_connection_lost', { code: (error as { code?: string }).code ?? null });
	});
	pool.on('connect', (client) => void client.on('error', () => {}));
	const dialect = new PostgresDialect({ pool: guardPool(pool, onReplaced) });
	dialect.createQueryCompiler = () => new SnakeCaseCompiler();
	const kysely = new Kysely<Tables>({ dialect });
	const { record, ...commits } = createCommits(LOOK_EVERY_MS);

	async function retryConflicts<T>(attempt: Parameters<typeof record<T>>[0]): Promise<T> {
		for (let run = 1; ; run++) {
			try {
				return await record(attempt);
			} catch (error) {
				if (!CONCURRENCY_CODES.has(sqlState(error) ?? '')) throw error;
				const message = `PostgreSQL: concurrent writes made this one fail ${MAX_RUNS} times.`;
				if (run === MAX_RUNS) throw new StoreUnavailableError(message, { cause: error });
			}
		}
	}

	return {
		dialect: 'postgres',
		read: kysely,
		// Stated in each BEGIN, because a database may have another default, and a pooler keeps no setting of a session.
		write: (work) =>
			retryConflicts((bound) =>
				kysely
					.transaction()
					.setIsolationLevel('read committed')
					.execute((trx) => workAndRecord(bound(trx), work)),
			),
		writeOne: (work) => retryConflicts((bound) => work(bound(kysely))),
		...commits,
		ping: () => sql`select 1 from migrations limit 1`.execute(kysely),
		close() {
			// Not Kysely's `destroy`: after it Kysely would throw errors without a code.
			closed ??= pool.end();
			return closed;
		},
	};
}

class SnakeCaseCompiler extends PostgresQueryCompiler {
	protected override sanitizeIdentifier(identifier: string): string {
		return super.sanitizeIdentifier(nameInSql(identifier));
	}
}

/** Parses 64-bit integers as numbers, where pg gives strings: our times and counts are far below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary') {
	if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number;
	return pg.types.getTypeParser(oid, format);
}

/** The pool for Kysely, with mapped errors. Connections in an unknown state are closed. */
function guardPool(pool: pg.Pool, onReplaced: StoreDatabase['onReplaced']): PostgresPool {
	return {
		options: pool.options,
		end: () => pool.end(),
		async connect() {
			const client = await pool.connect().catch((error: unknown) => {
				throw mapPostgresError(error, { sent: false });
			});
			return guardClient(client, onReplaced);
		},
	};
}

function guardClient(client: pg.PoolClient, onReplaced: StoreDatabase['onReplaced']): PostgresPoolClient {
	let broken = false;
	let isInTransaction = false;
	async function query<R>(
		text: string,
		parameters: readonly unknown[],
		runsLeft = MAX_RUNS,
	): Promise<PostgresQueryResult<R>> {
		try {
			const asked = { text, values: [...parameters], rowMode: 'array' } as const;
			const { command, rowCount, fields, rows } = await client.query<unknown[]>(asked);
			isInTransaction = command === 'START' || (isInTransaction && command !== 'COMMIT' && command !== 'ROLLBACK');
			return { command, rowCount, rows: rows.map(rowsOf(fields)) } as PostgresQueryResult<R>;
		} catch (error) {
			// A single statement has the database's default isolation: where that is serializable, a read fails too.
			const isRepeatable = !isInTransaction && sqlState(error) === '40001' && runsLeft > 1;
			if (isRepeatable) return query(text, parameters, runsLeft - 1);
			if (onReplaced !== undefined && SCHEMA_CODES.has(sqlState(error) ?? '')) throw stopReplaced({ onReplaced });
			const mapped = mapPostgresError(error, { sent: true });
			broken ||= mapped instanceof StoreUnavailableError;
			throw mapped;
		}
	}
	return {
		query: query as PostgresPoolClient['query'],
		release: (destroy) => client.release(broken || destroy === true),
	};
}

/** SQLSTATE classes (postgresql.org/docs/current/errcodes-appendix.html) not about our statement. */
const UNAVAILABLE_CLASSES = new Set([
	'08', // connection exception
	'28', // invalid authorization: a wrong password, or one that is being rotated
	'3D', // the database does not exist (yet)
	'53', // insufficient resources: disk full, out of memory, too many connections
	'57', // operator intervention: shutting down, cancelled by a time-out
	'58', // system error: I/O
	'F0', // configuration file error
]);

const UNAVAILABLE_CODES = new Set([
	'25006', // read-only transaction: connected to a standby during a failover
	'25P03', // idle in transaction for too long
	'25P04', // transaction time-out
	'40003', // the outcome of a statement is unknown
	'55P03', // lock not available within lock_timeout
]);

/** The role of `DATABASE_URL` lacks a right, or cannot use the schema. The server's message names nothing but these. */
const FORBIDDEN_CODES = new Set(['42501', '3F000']);

/** What a statement names (a table, a column) does not exist: a newer version has changed it. */
const SCHEMA_CODES = new Set(['42P01', '42703']);

/** The connection was lost: a COMMIT that was sent may have taken effect. */
const CONNECTION_ENDED = /^(?:08...|57P0.|40003)$/;

/** The same transaction may succeed when it runs again at once. */
const CONCURRENCY_CODES = new Set([
	'23505', // unique violation: another replica was first, and the next run sees its row
	'40001', // serialization failure
	'40P01', // deadlock
]);

function sqlState(error: unknown): string | null {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** A failed connection (no SQLSTATE) or a state above becomes `StoreUnavailableError`. `sent`: it may be committed. */
export function mapPostgresError(error: unknown, { sent }: { sent: boolean }): unknown {
	if (error instanceof HandraiseError) return error;
	const state = sqlState(error);
	if (state === null) {
		const code = (error as { code?: unknown } | null)?.code;
		const what = typeof code === 'string' ? code : 'connection lost or timed out';
		const reason = tlsProblemOf(error) ?? `${what}; npm run doctor says more`;
		const lost = { cause: error, commitUnknown: sent };
		return new StoreUnavailableError(`PostgreSQL cannot be reached: ${reason}.`, lost);
	}
	if (FORBIDDEN_CODES.has(state)) {
		const what = `PostgreSQL refuses it: ${(error as Error).message} (SQLSTATE ${state}).`;
		return new StoreUnavailableError(`${what} npm run doctor names what is missing.`, { cause: error });
	}
	if (!UNAVAILABLE_CODES.has(state) && !UNAVAILABLE_CLASSES.has(state.slice(0, 2))) return error;
	const ended = { cause: error, commitUnknown: sent && CONNECTION_ENDED.test(state) };
	return new StoreUnavailableError(`PostgreSQL is unavailable (SQLSTATE ${state}): npm run doctor says why.`, ended);
}
