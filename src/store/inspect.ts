import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { type Answerers, namesAnybody } from '../domain/answerers.ts';
import { channelSettings } from '../domain/channel-settings.ts';
import { parseOrNull } from '../kernel/values.ts';
import { nameInSql, placeIn, placeInSql, SEALED_COLUMNS, TABLE_NAMES } from './database.ts';
import { ciphersOf, type GivenKeys, prefixOf, secretsCipher, secretsKeyName } from './encryption.ts';
import { OWN_SCHEMA } from './migrate.ts';
import { readDatabaseUrl, tlsProblemOf } from './postgres-address.ts';
import { COMPACTION_DUE } from './secret-wiping.ts';
import { ADDRESSES_QUERY, type AddressRows } from './service-address.ts';
import { isSqliteBusy, openUnchanged } from './sqlite.ts';
import { type LiveWorkspace, WORKSPACES_QUERY } from './workspaces.ts';

/** What `npm run doctor` reads from a database without changing it. */
export type DatabaseLook = Awaited<ReturnType<typeof inspectTables>>;

type Rows = readonly Readonly<Record<string, unknown>>[];

const TABLES_QUERY = {
	sqlite: "select name from sqlite_schema where type = 'table'",
	postgres: "select relname as name from pg_class where relname in ('migrations', 'meta') and pg_table_is_visible(oid)",
};

export type Query = (statement: string, values?: unknown[]) => Promise<Rows> | Rows;

export async function inspectTables(dialect: keyof typeof TABLES_QUERY, query: Query, keys: GivenKeys | null = null) {
	const tables = new Set((await query(TABLES_QUERY[dialect])).map(({ name }) => name));
	const [newest] = tables.has('migrations') ? await query('select max(number) as number from migrations') : [];
	const facts = tables.has('meta') ? await query('select name, value from meta') : [];
	const schema = typeof newest?.number === 'number' ? newest.number : null;
	const factOf = (wanted: string) => facts.find(({ name }) => name === wanted)?.value as string | undefined;
	return {
		dialect,
		/** The number of the schema; null in a database that Handraise has not set up. */
		schema,
		keyCheck: factOf('key_check') ?? null,
		keySalt: factOf('key_salt') ?? null,
		isCompactionDue: factOf(COMPACTION_DUE) !== undefined,
		/** Null without keys, and for a database of another version. */
		values: keys !== null && schema === OWN_SCHEMA ? await countValues(query, keys, factOf) : null,
		/** Whom channels name as those who may answer, by channel id; null for a database of another version. */
		answerers: schema === OWN_SCHEMA ? await readAnswerers(query) : null,
		/** For which addresses of the session service it has rows; null for a database of another version. */
		addresses: schema === OWN_SCHEMA ? ((await query(ADDRESSES_QUERY)) as unknown as readonly AddressRows[]) : null,
		/** Empty for a database of another version. */
		workspaces: (schema === OWN_SCHEMA ? await query(WORKSPACES_QUERY) : []) as readonly LiveWorkspace[],
	};
}

async function readAnswerers(query: Query): Promise<ReadonlyMap<unknown, Answerers>> {
	// Where settings cannot be read and a list decided before, the list counts as `nobody`.
	const closes = 'exists (select 1 from answer_rules where answer_rules.channel_id = channel_settings.channel_id)';
	const rows = await query(`select channel_id, settings, ${closes} as closes from channel_settings`);
	const listIn = ({ settings, closes }: (typeof rows)[number]): Answerers =>
		parseOrNull(channelSettings, String(settings))?.answerers ?? { userIds: closes ? ['nobody'] : [], groupIds: [] };
	return new Map(rows.map((row) => [row.channel_id, listIn(row)] as const).filter(([, list]) => namesAnybody(list)));
}

const PREFIX_LENGTH = prefixOf('12345678').length;
/** In each column at most this many values of former keys are decrypted, to find damaged ones. */
const MAX_TRIED = 1_000;

/**
 * Counts encrypted values: of the first key (`own`), of the other given keys (`needed`), of a key that is not given
 * (`otherKey`), and those that no key opens (`damaged`).
 */
async function countValues(query: Query, keys: GivenKeys, factOf: (name: string) => string | undefined) {
	const opened = ciphersOf([keys.own, ...keys.formers], factOf('key_salt') ?? null).map((one) =>
		[one, secretsCipher(one, factOf(secretsKeyName(one)))].filter((key) => key !== null),
	);
	const ciphers = opened.flat();
	const counts = { own: 0, needed: 0, otherKey: 0, damaged: 0 };
	const kinds = new Map<string, keyof typeof counts>(
		ciphers.map((key) => [prefixOf(key.keyId), opened[0]?.includes(key) ? 'own' : 'needed']),
	);
	const isOfKey = (begin: string) => /^2\.\w{8}\.$/.test(begin);
	for (const column of SEALED_COLUMNS) {
		const [value, table] = [nameInSql(column.column), column.table];
		const prefix = `substr(${value}, 1, ${PREFIX_LENGTH})`;
		const groups = `select ${prefix} as begin, count(*) as total from ${table} where ${value} is not null group by 1`;
		for (const { begin, total } of await query(groups)) {
			const kind = kinds.get(String(begin)) ?? (isOfKey(String(begin)) ? 'otherKey' : 'damaged');
			const some =
				`select ${placeInSql(column)}, ${value} as sealed from ${table} where ${prefix} = '${begin}' limit ` +
				`${MAX_TRIED}`;
			const tried = kind === 'needed' ? await query(some) : [];
			const isDamaged = (one: (typeof tried)[number]) =>
				ciphers.every((cipher) => cipher.decrypt(String(one.sealed), placeIn(column, one)) === null);
			const damaged = tried.filter(isDamaged).length;
			counts[kind] += Number(total) - damaged;
			counts.damaged += damaged;
		}
	}
	return counts;
}

/**
 * Looks at SQLite's database without changing or creating a file. Not for the process that has it open: closing a
 * file releases the locks of its process (POSIX).
 */
export async function inspectSqlite(dataDir: string, keys: GivenKeys | null) {
	const path = join(resolve(dataDir), 'handraise.db');
	try {
		if (sizeOf(path) === 0) return { kind: 'absent' } as const;
		// The latest commits are in `handraise.db-wal`, which cannot be read without creating `handraise.db-shm`.
		if (sizeOf(`${path}-wal`) > 0 && !existsSync(`${path}-shm`)) return { kind: 'unsettled' } as const;
		const inUse = isLocked(join(resolve(dataDir), 'handraise.lock'));
		using database = openUnchanged(path, { inUse });
		if (!inUse && Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0] !== 'ok')
			return { kind: 'unreadable', reason: 'damaged' } as const;
		// One transaction: the running program may replace the key of secrets in between.
		database.exec('begin');
		const look = await inspectTables('sqlite', (statement) => database.prepare(statement).all(), keys);
		return { kind: 'database', inUse, ...look } as const;
	} catch (error) {
		const { errcode, code } = error as { errcode?: number; code?: string };
		return { kind: 'unreadable', reason: REASONS.get(errcode ?? code) ?? 'unknown' } as const;
	}
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Whether another process holds the lock. The shared lock taken here is released at once. */
function isLocked(path: string): boolean {
	if (!existsSync(path)) return false;
	using lock = new DatabaseSync(path, { readOnly: true, timeout: 0 });
	try {
		lock.prepare('select count(*) from sqlite_schema').get();
		return false;
	} catch (error) {
		if (isSqliteBusy(error)) return true;
		throw error;
	}
}

/** Result codes of SQLite (sqlite.org/rescode.html) and of the system. */
const REASONS = new Map<unknown, 'damaged' | 'no database' | 'not allowed'>([
	[11, 'damaged'],
	[26, 'no database'],
	[3, 'not allowed'],
	[14, 'not allowed'],
	['EACCES', 'not allowed'],
]);

export type PostgresLook = Awaited<ReturnType<typeof inspectPostgres>>;

interface PostgresFacts {
	/** As the server reports it: `18.4`. */
	readonly version: string;
	readonly major: number;
	/** A standby, or a server or role that is set to read-only. */
	readonly readOnly: boolean;
	readonly inUse: boolean;
	/** The role may create tables and change existing ones, which takes their owner. */
	readonly mayMigrate: boolean;
	/** A power cut may lose: any commits (`never`), the latest ones (`late`), none (`always`). */
	readonly synced: 'never' | 'late' | 'always';
	/** The level of transactions that state none: `read committed`, unless somebody has set another. */
	readonly isolation: string;
	/** A standby copies it and no commit waits for that. */
	readonly isAhead: boolean;
	/** What this role may not do and the program does: `UPDATE answers`. */
	readonly forbidden: readonly string[];
}

const FACTS = `
	select split_part(current_setting('server_version'), ' ', 1) as version,
		current_setting('server_version_num')::int / 10000 as major,
		pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "readOnly",
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) and not exists (select from pg_class
			where oid = to_regclass('answers') and not pg_has_role(relowner, 'USAGE')) as "mayMigrate",
		exists (select from pg_stat_activity
			where application_name = 'handraise' and datname = current_database()) as "inUse",
		case when current_setting('fsync') <> 'on' then 'never'
			when current_setting('synchronous_commit') = 'off' then 'late' else 'always' end as synced,
		current_setting('default_transaction_isolation') as isolation,
		exists (select from pg_stat_replication) and (current_setting('synchronous_standby_names') = ''
			or current_setting('synchronous_commit') in ('local', 'off')) as "isAhead",
		array(select verb || ' ' || name from unnest($1::text[]) as name, unnest($2::text[]) as verb
			where not has_table_privilege(to_regclass(name), verb)
				and (name <> 'migrations' or verb = 'SELECT')) as forbidden`;

const FACTS_PARAMETERS = [TABLE_NAMES, ['SELECT', 'INSERT', 'UPDATE', 'DELETE']];

/** Never throws: `code` is an SQLSTATE, or the system's for a failed connection. */
export async function inspectPostgres(databaseUrl: string, keys: GivenKeys | null) {
	const { protection, isLocal } = readDatabaseUrl(databaseUrl);
	try {
		return await readPostgres(databaseUrl, async (query) => {
			const [facts] = (await query(FACTS, FACTS_PARAMETERS)) as unknown as [PostgresFacts];
			// The look reads two of these tables.
			if (facts.forbidden.length > 0) return { kind: 'forbidden', forbidden: facts.forbidden } as const;
			return {
				kind: 'database',
				protection,
				isLocal,
				...facts,
				...(await inspectTables('postgres', query, keys)),
			} as const;
		});
	} catch (error) {
		const code = (error as { code?: unknown } | null)?.code;
		return { kind: 'unreachable', code: typeof code === 'string' ? code : null, tls: tlsProblemOf(error) } as const;
	}
}

/** Runs `read` in one read-only transaction on its own connection. */
export async function readPostgres<T>(databaseUrl: string, read: (query: Query) => Promise<T>): Promise<T> {
	const client = new pg.Client({
		...readDatabaseUrl(databaseUrl).options,
		application_name: 'handraise doctor',
		connectionTimeoutMillis: 5_000,
		// Counting the values of each key reads all of them.
		query_timeout: 60_000,
		// The program sets these too. A pooler may refuse them.
		statement_timeout: 60_000,
		idle_in_transaction_session_timeout: 10_000,
	});
	// Comes outside of any call when the connection breaks; without a listener it ends the process.
	client.on('error', () => {});
	try {
		await client.connect();
		await client.query('begin isolation level read committed, read only');
		return await read(async (...asked) => (await client.query(...asked)).rows);
	} finally {
		await client.end().catch(() => {});
	}
}
