import {
	Kysely,
	PostgresDialect,
	type PostgresPool,
	type PostgresPoolClient,
	type PostgresQueryResult,
	sql,
} from 'kysely';
import pg from 'pg';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type StoreDatabase, StoreUnavailableError } from './database.ts';
import type { Tables } from './tables.ts';

/** Milliseconds. */
export interface PostgresTimeouts {
	readonly connect: number;
	/** Kept by the server. */
	readonly statement: number;
	/** Kept by us, for a server that has gone silent. */
	readonly query: number;
}

/** A submission has three seconds until Slack gives up on it, so a database that is away must say so earlier. */
const SERVING: PostgresTimeouts = { connect: 2_000, statement: 2_000, query: 2_500 };
/** Migrations wait for those of another replica, and may rewrite a table. */
export const MIGRATING: PostgresTimeouts = { connect: 5_000, statement: 300_000, query: 310_000 };

const IDLE_IN_TRANSACTION_TIMEOUT = 10_000;

const MAX_CONNECTIONS = 10;

/** Each run sees what was in the way of the one before; this many in a row means that something else is wrong. */
const MAX_RUNS = 20;

/** Connects lazily to PostgreSQL. A restart of the database costs failed calls (`StoreUnavailableError`), never the process. */
export function openPostgres(databaseUrl: string, log: Log, timeouts: PostgresTimeouts = SERVING): StoreDatabase {
	const pool = new pg.Pool({
		connectionString: databaseUrl,
		application_name: 'handraise',
		max: MAX_CONNECTIONS,
		connectionTimeoutMillis: timeouts.connect,
		statement_timeout: timeouts.statement,
		query_timeout: timeouts.query,
		idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT,
		keepAlive: true,
		types: { getTypeParser: typeParser },
	});
	let closed: Promise<void> | null = null;
	// pg emits these outside of any call; without listeners they would end the process.
	pool.on('error', (error) => {
		// Connections that are being closed may still hear of a server that goes down.
		if (closed !== null) return;
		log.warn({ code: (error as { code?: string }).code ?? null }, 'idle database connection lost');
	});
	pool.on('connect', (client) => {
		client.on('error', () => {});
	});
	const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guardPool(pool) }) });

	async function persist<T>(attempt: () => Promise<T>): Promise<T> {
		for (let run = 1; ; run++) {
			try {
				return await attempt();
			} catch (error) {
				if (!isConcurrencyError(error)) throw error;
				if (run === MAX_RUNS) {
					throw new StoreUnavailableError('PostgreSQL: other writes were in the way too often.', { cause: error });
				}
			}
		}
	}

	return {
		dialect: 'postgres',
		read: kysely,
		write: (work) => persist(() => kysely.transaction().execute(work)),
		writeOne: (work) => persist(() => work(kysely)),
		async ping() {
			await sql`select 1 from migrations limit 1`.execute(kysely);
		},
		close() {
			// Not Kysely's own `destroy`: it would answer later calls with an error that has no code.
			closed ??= pool.end();
			return closed;
		},
	};
}

/** Our 64-bit integers are times and counts, far below 2^53; pg would hand them out as strings. */
function typeParser(oid: number, format?: 'text' | 'binary') {
	if (oid === pg.types.builtins.INT8 && format !== 'binary') return Number;
	return pg.types.getTypeParser(oid, format);
}

/** The pool as Kysely takes it, with errors mapped where they arise, and connections with an unknown state thrown away. */
function guardPool(pool: pg.Pool): PostgresPool {
	return {
		options: pool.options,
		end: () => pool.end(),
		async connect() {
			let client: pg.PoolClient;
			try {
				client = await pool.connect();
			} catch (error) {
				throw mapPostgresError(error, { sent: false });
			}
			return guardClient(client);
		},
	};
}

function guardClient(client: pg.PoolClient): PostgresPoolClient {
	let broken = false;
	async function query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
		try {
			const { command, rowCount, rows } = await client.query(text, [...parameters]);
			return { command: command as PostgresQueryResult<R>['command'], rowCount: rowCount ?? 0, rows };
		} catch (error) {
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

/** SQLSTATE classes (postgresql.org/docs/current/errcodes-appendix.html) that are not about our statement. */
const UNAVAILABLE_CLASSES = new Set([
	'08', // connection exception
	'28', // invalid authorization: a password being rotated, or a wrong one
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

/** As a connection that is lost: when a COMMIT had been sent, it may have taken effect. */
const CONNECTION_ENDED = /^(?:08...|57P0.|40003)$/;

/** Worth another run of the same transaction, at once. */
const CONCURRENCY_CODES = new Set([
	'23505', // unique violation: another replica was faster, the next run sees its row
	'40001', // serialization failure
	'40P01', // deadlock
]);

function sqlState(error: unknown): string | null {
	const code = (error as { code?: unknown } | null)?.code;
	return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

function isConcurrencyError(error: unknown): boolean {
	const state = sqlState(error);
	return state !== null && CONCURRENCY_CODES.has(state);
}

/**
 * For errors that pg threw: everything without an SQLSTATE is about the connection (refused, reset, timed out, DNS), so it
 * becomes a `StoreUnavailableError`, as do the states above. Other states are about our statement and stay what they are.
 *
 * @param sent whether a statement had been sent, which a lost connection may have cut off before or after its commit
 */
export function mapPostgresError(error: unknown, { sent }: { sent: boolean }): unknown {
	if (error instanceof HandraiseError) return error;
	const state = sqlState(error);
	if (state === null) {
		const code = (error as { code?: unknown } | null)?.code;
		const reason = typeof code === 'string' ? code : 'connection lost or timed out';
		return new StoreUnavailableError(`PostgreSQL cannot be reached (${reason}).`, {
			cause: error,
			commitUnknown: sent,
		});
	}
	if (!UNAVAILABLE_CODES.has(state) && !UNAVAILABLE_CLASSES.has(state.slice(0, 2))) return error;
	return new StoreUnavailableError(`PostgreSQL cannot do this now (SQLSTATE ${state}).`, {
		cause: error,
		commitUnknown: sent && CONNECTION_ENDED.test(state),
	});
}
