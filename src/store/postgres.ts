import {
	Kysely,
	PostgresDialect,
	type PostgresPool,
	type PostgresPoolClient,
	type PostgresQueryResult,
	sql,
} from 'kysely';
import pg from 'pg';
import type { Log } from '../log.ts';
import type { StoreDatabase } from './database.ts';
import { StoreUnavailableError } from './errors.ts';
import { isConcurrencyError, mapPostgresError } from './postgres-errors.ts';
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
