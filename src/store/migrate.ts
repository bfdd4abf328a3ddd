// Owns `migrations`.
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { type Db, isPostgres, nameInSql, type StoreDatabase, TABLES } from './database.ts';
import { LOOK_EVERY_MS } from './in-use.ts';
import { lockFor } from './locks.ts';
import type { Column, Table } from './schema/columns.ts';

/** Migrations wait for those of another replica, and may rewrite a table. */
export const MIGRATION_MS = 300_000;

/** For how long a migration looks for a running replica: replicas of every version look for due answers each second. */
const LOOK_FOR_REPLICA_MS = 3_000;

/** One step of the schema. Never change one that was released; add another. */
export interface Migration {
	readonly number: number;
	readonly name: string;
	/**
	 * Runs in the transaction of all pending migrations. Untyped, because `Tables` describes the newest schema. `now`:
	 * clock milliseconds.
	 */
	up(db: Kysely<unknown>, now: number): Promise<void>;
}

/** The schema of 2.0.0, which never changes again: `test/store/released-schema.test.ts` keeps it. */
const BASE = 35;
/** All tables, in the order of `create table`. */
const DESCRIBED = Object.entries<Table>(TABLES);
/** By name. */
const SORTED = DESCRIBED.toSorted(([one], [other]) => (one < other ? -1 : 1));
const columnsOf = ({ columns }: Table) => Object.entries<Column>(columns);

/** The parts of `create table` as of a migration. A key of one column is part of that column. */
function definitionsOf(table: Table, migration: number): string[] {
	const { key, unique = [] } = table;
	const columns = columnsOf(table).filter(([, { since = BASE }]) => since <= migration);
	const list = (names: readonly string[]) => `(${names.map(nameInSql).join(', ')})`;
	return [
		...columns.map(([column, described]) => {
			const definition = columnDefinition(column, described);
			return String(key) === column ? definition.replace('not null', 'primary key') : definition;
		}),
		...(key.length > 1 ? [`primary key ${list(key)}`] : []),
		...unique.map((names) => `unique ${list(names)}`),
	];
}

function columnDefinition(column: string, { type, isNull, isUnique, default: value }: Column): string {
	const limits = `${isNull ? '' : ' not null'}${isUnique ? ' unique' : ''}`;
	return `"${nameInSql(column)}" ${type}${limits}${value === undefined ? '' : ` default ${value}`}`;
}

const createTable = (name: string, table: Table, migration: number) =>
	sql.raw(`create table if not exists "${name}" (${definitionsOf(table, migration).join(', ')})`);

/** Creates what a migration adds: tables, indexes, and columns of older tables. */
async function make(db: Kysely<unknown>, migration: number): Promise<void> {
	const made = DESCRIBED.filter(([, { since = BASE }]) => since === migration);
	for (const [name, table] of made) await createTable(name, table, migration).execute(db);
	for (const [name, { indexes = {}, since: first = BASE }] of DESCRIBED) {
		for (const [index, described] of Object.entries(indexes)) {
			const [on, since] = typeof described === 'string' ? [described, first] : described;
			const at = `$&index ${name}_${index} on ${name} `;
			if (since === migration) await sql.raw(`create ${on.replace(/^(?:unique )?/, at)}`).execute(db);
		}
	}
	for (const [name, table] of SORTED) {
		for (const [column, described] of columnsOf(table).filter(([, { since }]) => since === migration))
			await sql.raw(`alter table "${name}" add column ${columnDefinition(column, described)}`).execute(db);
	}
}

export const MIGRATIONS: readonly [Migration, ...Migration[]] = [
	{
		number: BASE,
		name: '2.0.0',
		async up(db) {
			await make(db, BASE);
			const numbered = sql`alter table audit_events alter column number add generated always as identity`;
			if (isPostgres(db)) await numbered.execute(db);
			// The salt for a passphrase, for each database its own.
			await sql`insert into meta (name, value) values ('key_salt', ${randomBytes(16).toString('base64')})`.execute(db);
		},
	},
	// Its number alone stops replicas of 2.0.0, which send nothing on a database that 3.0.0 has taken over.
	{ number: 36, name: '3.0.0', up: (db) => make(db, 36) },
];

const newestOf = (migrations: readonly Migration[]) => Math.max(...migrations.map(({ number }) => number));

export const OWN_SCHEMA = newestOf(MIGRATIONS);

/** Null before any migration. */
async function schemaOf(trx: Db): Promise<number | null> {
	const newest = trx.selectFrom('migrations').select(({ fn }) => fn.max<number | null>('number').as('schema'));
	return (await newest.executeTakeFirstOrThrow()).schema;
}

/**
 * Why this version cannot use a schema: `database_newer` or `database_older`, with what to do. Null: there is none
 * yet, it is this version's, or it can be migrated.
 */
export function refuseSchema(schema: number | null, migrations: readonly Migration[] = MIGRATIONS) {
	if (schema === null || migrations.some(({ number }) => number === schema)) return null;
	const own = newestOf(migrations);
	const isNewer = schema > own;
	const words = isNewer
		? `a newer Handraise made; this version has schema ${own}. Start the newer version, or restore the backup made ` +
			'before the upgrade.'
		: `a Handraise before 2.0.0 made; this version takes over databases of 2.0.0 (schema ${BASE}). Start 2.0.0 with ` +
			'it once, then this version. Nothing was changed.';
	const code = isNewer ? 'database_newer' : 'database_older';
	return new HandraiseError(`The database has schema ${schema}, which ${words}`, { code });
}

/** @throws HandraiseError what `refuseSchema` returns, or `database_older` before this version's migration */
export async function needSchema(db: Db): Promise<void> {
	const schema = await schemaOf(db);
	const refusal = refuseSchema(schema);
	if (refusal !== null) throw refusal;
	if (schema !== OWN_SCHEMA) throw new HandraiseError(NOT_MIGRATED, { code: 'database_older' });
}

const NOT_MIGRATED =
	`The database does not have schema ${OWN_SCHEMA}. Start Handraise once, or run npm run migrate, with the keys that ` +
	'it has. Nothing was changed.';

const IS_OWN = sql<boolean>`(select max(number) from migrations) = ${OWN_SCHEMA}`;

/**
 * SQL: whether schema and key are still those of this process. A condition of statements that take due rows or let
 * people change answers. `npm run rekey` changes the check value of the key when it begins.
 */
export function isUnchanged({ keyCheck }: Pick<StoreDatabase, 'keyCheck'>) {
	const check = keyCheck?.() ?? null;
	if (check === null) return IS_OWN;
	return sql<boolean>`(${IS_OWN} and (select value from meta where name = 'key_check') = ${check})`;
}

/** The error of a statement whose `isUnchanged` did not hold. Also tells the program, which then stops. */
export function stopReplaced({ onReplaced }: Pick<StoreDatabase, 'onReplaced'>): HandraiseError {
	onReplaced?.();
	return new HandraiseError(
		`A newer Handraise has changed the schema of the database, which is no longer ${OWN_SCHEMA}, or npm run rekey ` +
			'its key: this process stops.',
		{ code: 'database_newer' },
	);
}

/** The name of the log line when this process stops. */
export async function whyReplaced({ read }: StoreDatabase) {
	const looked = await sql<{ isOwn: unknown }>`select ${IS_OWN} as "isOwn"`.execute(read).catch(() => null);
	return looked?.rows[0]?.isOwn ? 'database_rekeyed' : 'database_newer';
}

/**
 * Throws `database_in_use` while a replica of any version runs: only this transaction may work on the database. It
 * locks the answers, which every replica reads each second, so whoever waits for the lock is alive. A process that
 * was killed, or whose machine is gone, does not wait, even if its connection is still open. A frozen one is not
 * found; under the new schema it takes and stores nothing. The locks stay until the end of the transaction.
 */
async function refuseBesideReplica(trx: Db, lookMs: number): Promise<void> {
	// While we wait for a long transaction, such as a backup, replicas wait behind us.
	await sql`set local lock_timeout = ${sql.lit(lookMs)}`.execute(trx);
	// In this order, as transactions of replicas do. Statements with `isUnchanged` wait, and then see the new number.
	await sql`lock table answers, migrations in access exclusive mode`.execute(trx).catch((error: unknown) => {
		throw isLockTimeout(error) ? replicaRuns('a transaction that takes long, such as a backup') : error;
	});
	await sql`set local lock_timeout = 0`.execute(trx);
	const waiting = sql<{ pid: number; name: string | null; host: string | null }>`
		select pid, application_name as name, host(client_addr) as host
		from pg_locks left join pg_stat_activity using (pid)
		where not granted and relation in ('answers'::regclass, 'migrations'::regclass)
			and database = (select oid from pg_database where datname = current_database()) order by pid limit 1`;
	for (let lookedMs = 0; lookedMs < lookMs; lookedMs += LOOK_EVERY_MS) {
		await sql`select pg_sleep(${LOOK_EVERY_MS / 1_000})`.execute(trx);
		const [found] = (await waiting.execute(trx)).rows;
		if (found === undefined) continue;
		const { pid, name, host } = found;
		const at = host === null ? '' : ` at ${host}`;
		throw replicaRuns(`${JSON.stringify((name || 'unnamed').slice(0, 100))}${at}, PostgreSQL process ${pid}`);
	}
}

/** `sign`: what shows that it runs. */
function replicaRuns(sign: string): HandraiseError {
	return new HandraiseError(
		`The database is not migrated, because a replica still runs on it (${sign}). Nothing was changed. Stop all ` +
			'replicas of the former version, and start this one when they have ended: one that is told to stop needs up to ' +
			'9.5 s, and one that was killed is gone at once.',
		{ code: 'database_in_use' },
	);
}

/** PostgreSQL's `lock_not_available`. */
const isLockTimeout = (error: unknown) => (error as { cause?: { code?: unknown } }).cause?.code === '55P03';

export interface MigrationContext {
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Applies pending migrations in one transaction, for which other replicas wait. Throws what `refuseSchema` returns, and
 * on PostgreSQL `database_in_use` after up to `lookMs`. SQLite's file has one process.
 */
export async function migrate(
	db: StoreDatabase,
	{
		clock,
		log,
		migrations = MIGRATIONS,
		lookMs = LOOK_FOR_REPLICA_MS,
	}: MigrationContext & { migrations?: readonly Migration[]; lookMs?: number },
): Promise<void> {
	const isShared = db.dialect === 'postgres';
	const applied = await db.write(async (trx) => {
		// A pooler may not pass on the time-out of the connection.
		if (isShared) await sql`set local statement_timeout = ${sql.lit(MIGRATION_MS)}`.execute(trx);
		await lockFor(trx, 'migrating');
		// `create table if not exists` needs the right to create, also where the table exists.
		const found = sql<{ is: boolean }>`select to_regclass('migrations') is not null as is`;
		const isThere = isShared && (await found.execute(trx)).rows[0]?.is === true;
		if (!isThere) await createTable('migrations', TABLES.migrations, BASE).execute(trx);
		const schema = await schemaOf(trx);
		const refusal = refuseSchema(schema, migrations);
		if (refusal !== null) throw refusal;
		const pending = migrations.filter(({ number }) => number > (schema ?? 0));
		if (pending.length > 0 && schema !== null && isShared) await refuseBesideReplica(trx, lookMs);
		for (const { number, name, up } of pending) {
			await up(trx as unknown as Kysely<unknown>, clock.now());
			await trx.insertInto('migrations').values({ number, name, appliedAt: clock.now() }).execute();
		}
		return pending.map(({ name }) => name);
	});
	if (applied.length > 0) log.info({ migrations: applied }, 'database schema updated');
}
