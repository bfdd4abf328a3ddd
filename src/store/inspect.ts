import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type Cipher, sealsKeyCheck } from './encryption.ts';
import { OWN_SCHEMA } from './migrate.ts';
import { isSqliteBusy } from './sqlite-file.ts';

/** How many live watches, unsent posts and unfinished answers of a workspace a database has. */
export type LiveWorkspace = { readonly teamId: string; readonly count: number };

/** Selects them, also on the doctor's own connections, so without parameters. */
export const WORKSPACES_QUERY = `
	select team_id as "teamId", cast(count(*) as integer) as count from (
		select team_id from watches where ended_at is null
		union all select team_id from announcements where state = 'pending'
		union all select team_id from answers where next_attempt_at is not null
	) as live group by team_id order by team_id`;

/** What `npm run doctor` reads from a database without changing it. */
export interface DatabaseLook {
	/** The number of the schema; null in a database that Handraise has not set up. */
	readonly schema: number | null;
	/** The check value of the encryption key. */
	readonly keyCheck: string | null;
	/** The salt for a passphrase. */
	readonly keySalt: string | null;
	/** Empty for a database of another version. */
	readonly workspaces: readonly LiveWorkspace[];
}

export { OWN_SCHEMA, refuseSchema } from './migrate.ts';

export const NEW_DATABASE: DatabaseLook = { schema: null, keyCheck: null, keySalt: null, workspaces: [] };

/** Whether `cipher` has the database's key; true for a database without a key. */
export function keyFits({ keyCheck }: DatabaseLook, cipher: Cipher): boolean {
	return keyCheck === null || sealsKeyCheck(keyCheck, cipher);
}

const SCHEMA_QUERY = 'select max(number) as number from migrations';

const KEY_QUERY = "select name, value from meta where name in ('key_check', 'key_salt')";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Makes a `DatabaseLook` of the results of `SCHEMA_QUERY`, `KEY_QUERY` and `WORKSPACES_QUERY`. */
function lookFrom(schema: unknown, keyRows: Rows, workspaces: readonly unknown[]): DatabaseLook {
	const values = new Map(keyRows.map(({ name, value }) => [name, String(value)]));
	return {
		schema: typeof schema === 'number' ? schema : null,
		keyCheck: values.get('key_check') ?? null,
		keySalt: values.get('key_salt') ?? null,
		workspaces: workspaces as readonly LiveWorkspace[],
	};
}

export type SqliteLook =
	| { readonly kind: 'absent' }
	| ({ readonly kind: 'database'; readonly inUse: boolean } & DatabaseLook)
	/** The latest commits are in `handraise.db-wal`, which cannot be read without creating `handraise.db-shm`. */
	| { readonly kind: 'unsettled' }
	| { readonly kind: 'unreadable'; readonly reason: 'damaged' | 'no database' | 'not allowed' | 'unknown' };

/**
 * Inspects `dataDir/handraise.db` without changing or creating a file, also while Handraise has it open. Never call it in
 * the process that has it open: closing the file would release the locks (POSIX).
 */
export function inspectSqlite(dataDir: string): SqliteLook {
	const path = join(resolve(dataDir), 'handraise.db');
	try {
		if (sizeOf(path) === 0) return { kind: 'absent' };
		if (sizeOf(`${path}-wal`) > 0 && !existsSync(`${path}-shm`)) return { kind: 'unsettled' };
		const inUse = isLocked(join(resolve(dataDir), 'handraise.lock'));
		const database = openUnchanged(path);
		try {
			if (!inUse && isDamaged(database)) return { kind: 'unreadable', reason: 'damaged' };
			return { kind: 'database', inUse, ...lookAtSqlite(database) };
		} finally {
			database.close();
		}
	} catch (error) {
		return { kind: 'unreadable', reason: reasonOf(error) };
	}
}

/** Bytes; 0 for a missing file. */
function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether another process holds the lock. The shared lock taken here is released at once. */
function isLocked(path: string): boolean {
	if (!existsSync(path)) return false;
	const lock = new DatabaseSync(path, { readOnly: true, timeout: 0 });
	try {
		lock.prepare('select count(*) from sqlite_schema').get();
		return false;
	} catch (error) {
		if (isSqliteBusy(error)) return true;
		throw error;
	} finally {
		lock.close();
	}
}

/**
 * Opening a database in WAL mode creates missing `-wal` and `-shm` files, even read-only. While no process has it open they
 * are not needed, and `immutable` reads only the database file.
 */
function openUnchanged(path: string): DatabaseSync {
	if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`))
		return new DatabaseSync(path, { readOnly: true, timeout: 500 });
	const url = pathToFileURL(path);
	url.searchParams.set('immutable', '1');
	return new DatabaseSync(url, { readOnly: true });
}

function isDamaged(database: DatabaseSync): boolean {
	return Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0] !== 'ok';
}

function lookAtSqlite(database: DatabaseSync): DatabaseLook {
	const tables = new Set(
		database
			.prepare("select name from sqlite_schema where type = 'table'")
			.all()
			.map((row) => row.name),
	);
	const schema = tables.has('migrations') ? database.prepare(SCHEMA_QUERY).get()?.number : null;
	const workspaces = schema === OWN_SCHEMA ? database.prepare(WORKSPACES_QUERY).all() : [];
	return lookFrom(schema, tables.has('meta') ? database.prepare(KEY_QUERY).all() : [], workspaces);
}

/** Result codes of SQLite (sqlite.org/rescode.html) and of the system. */
const REASONS = new Map<unknown, 'damaged' | 'no database' | 'not allowed'>([
	[11, 'damaged'],
	[26, 'no database'],
	[3, 'not allowed'],
	[14, 'not allowed'],
	['EACCES', 'not allowed'],
]);

function reasonOf(error: unknown) {
	const { errcode, code } = error as { errcode?: number; code?: string };
	return REASONS.get(errcode ?? code) ?? 'unknown';
}

export type PostgresLook =
	| ({
			readonly kind: 'database';
			/** As the server reports it: `18.4`. */
			readonly version: string;
			readonly major: number;
			/** A standby, or a server or role that is set to read-only. */
			readonly readOnly: boolean;
			/** Whether Handraise is connected to it. */
			readonly inUse: boolean;
			/** Whether the role may create tables, as migrations do. */
			readonly mayCreate: boolean;
			/** A power cut may lose: any commits (`never`), the latest ones (`late`), none (`always`). */
			readonly synced: 'never' | 'late' | 'always';
	  } & DatabaseLook)
	/** `code`: an SQLSTATE, or the system's code of a connection that failed. */
	| { readonly kind: 'unreachable'; readonly code: string | null };

const FACTS = `
	select current_setting('server_version') as version,
		current_setting('server_version_num')::int / 10000 as major,
		pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "readOnly",
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
		exists (select from pg_stat_activity where application_name = 'handraise' and datname = current_database()) as "inUse",
		current_setting('fsync') as fsync,
		current_setting('synchronous_commit') as synchronous_commit,
		to_regclass('migrations') is not null as has_migrations,
		to_regclass('meta') is not null as has_meta`;

/** Inspects the database in one read-only transaction. Never throws. */
export async function inspectPostgres(databaseUrl: string): Promise<PostgresLook> {
	try {
		const client = new pg.Client({
			connectionString: databaseUrl,
			application_name: 'handraise doctor',
			connectionTimeoutMillis: 5_000,
			query_timeout: 5_000,
		});
		// Emitted outside of any call when the connection breaks; without a listener it ends the process.
		client.on('error', () => {});
		try {
			await client.connect();
			return await lookAtPostgres(client);
		} finally {
			await client.end().catch(() => {});
		}
	} catch (error) {
		const code = (error as { code?: unknown } | null)?.code;
		return { kind: 'unreachable', code: typeof code === 'string' ? code : null };
	}
}

async function lookAtPostgres(client: pg.Client): Promise<PostgresLook> {
	await client.query('begin read only');
	const facts = (await client.query(FACTS)).rows[0];
	const schema = facts.has_migrations ? (await client.query(SCHEMA_QUERY)).rows[0]?.number : null;
	const keyRows = facts.has_meta ? (await client.query(KEY_QUERY)).rows : [];
	const workspaces = schema === OWN_SCHEMA ? (await client.query(WORKSPACES_QUERY)).rows : [];
	await client.query('rollback');
	return {
		kind: 'database',
		version: String(facts.version).split(' ')[0] ?? '',
		major: facts.major,
		readOnly: facts.readOnly,
		inUse: facts.inUse,
		mayCreate: facts.mayCreate,
		synced: facts.fsync !== 'on' ? 'never' : facts.synchronous_commit === 'off' ? 'late' : 'always',
		...lookFrom(schema, keyRows, workspaces),
	};
}
