import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../core/clock.ts';
import { HandraiseError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { isPostgres, lockFor, nameInSql, type StoreDatabase } from './database.ts';
import { COLUMNS, type Db } from './tables.ts';

/** Migrations wait for those of another replica, and may rewrite a table. */
export const MIGRATION_MS = 300_000;

/** One step of the schema. Never change one that was released; add another. */
export interface Migration {
	readonly number: number;
	readonly name: string;
	/** Runs in the transaction of all pending migrations. Untyped, because `Tables` describes the newest schema. */
	up(db: Kysely<unknown>): Promise<void>;
}

const KEYS: Readonly<Partial<Record<keyof typeof COLUMNS, readonly string[]>>> = {
	claims: ['primary key (service, session_id, message_index, team_id, user_id)'],
	watched_sessions: ['primary key (service, session_id)'],
	questions: ['unique (service, session_id, number)'],
	posts: ['unique (stream, unique_key)', 'unique (stream, number)'],
	channel_settings: ['primary key (team_id, channel_id)'],
	snoozes: ['primary key (team_id, user_id, service, session_id)'],
	waiting_sessions: ['primary key (service, session_id)'],
	discoveries: ['primary key (team_id, channel_id)'],
};

const INDEXES = [
	// One live answer for a question, from any team, click or replica.
	`create unique index answers_one_live on answers (service, session_id, message_index)
		where state in ('accepted', 'delivering')`,
	// One replica at a time works on a session.
	`create unique index answers_one_lease on answers (service, session_id) where lease_token is not null`,
	`create index answers_ended on answers (ended_at) where content is not null`,
	`create index answers_undelivered on answers (accepted_at)
		where state in ('accepted', 'delivering', 'waiting')`,
	`create index answers_question on answers (service, session_id, message_index, accepted_at)`,
	`create index answers_state on answers (state)`,
	`create index answers_due on answers (service, next_attempt_at) where next_attempt_at is not null`,
	`create index answers_secret on answers (id) where secrets is not null`,
	`create index answers_person on answers (user_id, accepted_at)`,
	`create index drafts_question on drafts (service, session_id, message_index, team_id, user_id, updated_at)`,
	`create index drafts_updated on drafts (updated_at)`,
	`create index drafts_person on drafts (user_id, updated_at)`,
	`create index windows_session on windows (service, session_id)`,
	`create index windows_due on windows (due_at) where due_at is not null`,
	`create index claims_until on claims (until)`,
	`create unique index watches_one_live on watches (team_id, channel_id, service, session_id)
		where ended_at is null`,
	`create index watches_session on watches (service, session_id) where ended_at is null`,
	`create index watches_ended on watches (ended_at) where ended_at is not null`,
	`create index watches_of_session on watches (service, session_id)`,
	`create index watched_sessions_due on watched_sessions (service, next_read_at) where next_read_at is not null`,
	`create unique index questions_one_open on questions (service, session_id) where settled_at is null`,
	`create index questions_held on questions (held_watch_id) where held_watch_id is not null`,
	`create index questions_settled on questions (settled_at) where settled_at is not null`,
	`create index questions_asked on questions (service, asked_at)`,
	`create index posts_due on posts (due_at) where due_at is not null`,
	`create index posts_planned on posts (stream, number) where state = 'planned'`,
	`create index posts_done on posts (created_at) where state not in ('planned', 'shown')`,
	`create index posts_session on posts (service, session_id, state)`,
	`create index posts_watch on posts (watch_id)`,
	`create index posts_ts on posts (ts)`,
	`create index posts_handed_over on posts (team_id, created_at) where kind = 'handedOver'`,
	`create index posts_digests on posts (place_id) where kind = 'digest' and state = 'shown'`,
	`create index inboxes_due on inboxes (next_update_at) where next_update_at is not null`,
	`create index ladders_due on ladders (service, due_at) where due_at is not null`,
	`create index ladders_session on ladders (service, session_id)`,
	`create index ladders_channel on ladders (team_id, channel_id)`,
];

type Added = { readonly [Table in keyof typeof COLUMNS]?: Partial<(typeof COLUMNS)[Table]> };

/** Never changes once it is released: the columns of a later migration stand in a list of their own. */
const COLUMNS_OF_30 = {
	answers: { questionId: 'text', evidence: 'text', missingSince: 'bigint' },
	questions: { evidence: 'text' },
	watched_sessions: { reads: 'text' },
} as const satisfies Added;

/** What `COLUMNS` has and the schema of 1.0.0 does not, by migration. */
const ADDED_LATER: readonly Added[] = [COLUMNS_OF_30];

const column = ([name, type]: readonly [string, string]) => sql`${sql.ref(name)} ${sql.raw(type)}`;

function createTable(table: keyof typeof COLUMNS) {
	const later = ADDED_LATER.flatMap((added) => Object.keys(added[table] ?? {}));
	const columns = Object.entries(COLUMNS[table]).filter(([name]) => !later.includes(name));
	const keys = (KEYS[table] ?? []).map((key) => sql.raw(key));
	return sql`create table if not exists ${sql.table(table)} (${sql.join([...columns.map(column), ...keys])})`;
}

/** The schema of 1.0.0, which never changes again: `test/database/released-schema.test.ts` keeps it. */
const initialSchema: Migration = {
	number: 29,
	name: 'initial',
	async up(db) {
		for (const table of Object.keys(COLUMNS)) await createTable(table as keyof typeof COLUMNS).execute(db);
		for (const index of INDEXES) await sql.raw(index).execute(db);
		// The salt for a passphrase, for each database its own.
		await sql`insert into meta (name, value) values ('key_salt', ${randomBytes(16).toString('base64')})`.execute(db);
	},
};

const evidence: Migration = {
	number: 30,
	name: 'what reads have shown',
	async up(db) {
		for (const [table, columns] of Object.entries(COLUMNS_OF_30)) {
			for (const added of Object.entries(columns)) {
				await sql`alter table ${sql.table(table)} add column ${column(added)}`.execute(db);
			}
		}
	},
};

export const MIGRATIONS: readonly [Migration, ...Migration[]] = [initialSchema, evidence];

const newestOf = (migrations: readonly Migration[]) => Math.max(...migrations.map(({ number }) => number));

export const OWN_SCHEMA = newestOf(MIGRATIONS);

/** `database_newer` or `database_older` with what to do; null for no schema, this version's or one to migrate. */
export function refuseSchema(schema: number | null, migrations: readonly Migration[] = MIGRATIONS) {
	if (schema === null || migrations.some(({ number }) => number === schema)) return null;
	const own = newestOf(migrations);
	if (schema > own) {
		return new HandraiseError(
			`The database has schema ${schema}, which a newer Handraise made; this version has schema ${own}. ` +
				'Start the newer version, or restore the backup made before the upgrade.',
			{ code: 'database_newer' },
		);
	}
	return new HandraiseError(
		`The database has schema ${schema}, which an older Handraise made and this version, with schema ${own}, cannot ` +
			'take over. Start the older version, or set DATA_DIR to an empty directory or DATABASE_URL to an empty database.',
		{ code: 'database_older' },
	);
}

/** Whether the schema is still this version's: a condition of what takes due rows or lets people change answers. */
export function isOwnSchema() {
	return sql<boolean>`(select max(number) from migrations) = ${OWN_SCHEMA}`;
}

/** For a statement that `isOwnSchema` kept from its row. Also tells the program, which then stops. */
export function stopBesideNewer({ onNewer }: Pick<StoreDatabase, 'onNewer'>): HandraiseError {
	const error = new HandraiseError(
		`The database no longer has schema ${OWN_SCHEMA}: a newer Handraise has changed it, so this process stops. ` +
			'Start the newer version on all replicas.',
		{ code: 'database_newer' },
	);
	onNewer?.(error);
	return error;
}

/** `create table if not exists` needs the right to create, also where the table exists. */
async function hasMigrations(db: Db): Promise<boolean> {
	if (!isPostgres(db)) return false;
	const { rows } = await sql<{ is: boolean }>`select to_regclass('migrations') is not null as is`.execute(db);
	return rows[0]?.is === true;
}

/** In one transaction; replicas that start together wait for each other. Whether any was pending. Throws what `refuseSchema` returns. */
export async function migrate(
	db: StoreDatabase,
	{ clock, log, migrations = MIGRATIONS }: { clock: Clock; log: Log; migrations?: readonly Migration[] },
): Promise<boolean> {
	const applied = await db.write(async (trx) => {
		// A pooler may not pass on the time-out of the connection.
		if (isPostgres(trx)) await sql`set local statement_timeout = ${sql.lit(MIGRATION_MS)}`.execute(trx);
		await lockFor(trx, 'migrating');
		if (!(await hasMigrations(trx))) await createTable('migrations').execute(trx);
		const { schema } = await trx
			.selectFrom('migrations')
			.select(({ fn }) => fn.max<number | null>('number').as('schema'))
			.executeTakeFirstOrThrow();
		const refusal = refuseSchema(schema, migrations);
		if (refusal !== null) throw refusal;
		const pending = migrations.filter(({ number }) => number > (schema ?? 0));
		// Statements with `isOwnSchema` wait for the commit and then see the new number.
		if (pending.length > 0 && db.dialect === 'postgres') {
			await sql`lock table migrations in access exclusive mode`.execute(trx);
		}
		for (const { number, name, up } of pending) {
			await up(trx as unknown as Kysely<unknown>);
			await trx.insertInto('migrations').values({ number, name, appliedAt: clock.now() }).execute();
		}
		return pending.map(({ name }) => name);
	});
	if (applied.length > 0) log.info({ migrations: applied }, 'database schema updated');
	return applied.length > 0;
}

/** Logs what of others runs in the database. An operator may have a trigger of their own, so that it is no reason to stop. */
export async function warnOfForeignCode({ dialect, read }: StoreDatabase, log: Log): Promise<void> {
	const code = await readForeignCode(dialect, async (query) => (await sql.raw<object>(query).execute(read)).rows);
	if (code.length > 0) log.warn('foreign_code', { code });
}

const OURS = Object.keys(COLUMNS)
	.map((name) => `'${name}'`)
	.join(', ');
const NAMED = new RegExp(`\\b(?:${Object.keys(COLUMNS).join('|')})\\b`, 'i');

/**
 * What is on our tables, or reached from them, and may change their rows, such as a trigger that moves answers; with the SQL of
 * what `isOwn` compares. Statistics, and indexes whose functions an extension or nobody brought, are other people's.
 */
const QUERIES = {
	// SQLite reads the types in its schema in any case.
	sqlite: `select case lower(type) when 'trigger' then 'trigger' when 'table' then 'changed table'
			else 'view in place of the table' end as kind, name, tbl_name as "on", sql from sqlite_schema
		where lower(type) = 'trigger' or (lower(type) <> 'index' and lower(tbl_name) in (${OURS})) order by 1, 2`,
	postgres: `
		with ours as (select oid as id, relname as "on", relkind from pg_class where relname in (${OURS}) and pg_table_is_visible(oid))
		select 'trigger' as kind, tgname as name, "on", null as sql from ours join pg_trigger on tgrelid = id where not tgisinternal
		union select 'rule', rulename, "on", null from ours join pg_rewrite on ev_class = id where rulename <> '_RETURN'
		union select 'policy', polname, "on", null from ours join pg_policy on polrelid = id
		union select 'view in place of the table', "on", "on", null from ours where relkind <> 'r'
		union select 'child table', inhrelid::regclass::text, "on", null from ours join pg_inherits on inhparent = id
		union select 'constraint', conname, conrelid::regclass::text, null from ours join pg_constraint on (conrelid = id
			and contype in ('c', 'f', 'x')) or (confrelid = id and not ('{a,r}' @> array[confupdtype, confdeltype]))
		union select 'column', attname, "on", format('"%s" %s', attname, format_type(atttypid, atttypmod))
				|| case when attcollation >= 16384 then ' collate ' || attcollation::regcollation else '' end
				|| coalesce(' default ' || replace(pg_get_expr(adbin, adrelid), '::text', ''), '')
			from ours join pg_attribute on attrelid = id and attnum > 0 and not attisdropped and relkind = 'r'
			left join pg_attrdef on adrelid = attrelid and adnum = attnum
		union select part.type, part.identity, "on", null from ours join pg_depend as place on place.refobjid = id
			join pg_depend as use using (classid, objid), pg_identify_object(use.refclassid, use.refobjid, 0) as part
			where classid in ('pg_class'::regclass, 'pg_statistic_ext'::regclass) and place.refclassid = 'pg_class'::regclass
				and part.type in ('function', 'operator', 'type', 'operator class') and not exists (select from pg_depend
					where deptype = 'e' and classid = use.refclassid and objid = use.refobjid)
		order by 1, 2`,
} as const;

type Found = { readonly kind: string; readonly name: string; readonly on: string; readonly sql: string | null };

/** Whether our migrations make it so (keys and NOT NULL only refuse rows), or it is a trigger that names none of our tables. */
function isOwn({ kind, on, sql: text }: Found): boolean {
	if (text === null || kind === 'trigger') return text !== null && !NAMED.test(text);
	const partsOf = (sql: string) => sql.replaceAll(/ (?:not null|primary key|unique)\b/g, '').split(', ');
	const table = on.toLowerCase() as keyof typeof COLUMNS;
	const columns = Object.entries(COLUMNS[table]).map(([name, type]) => `"${nameInSql(name)}" ${type}`);
	const own = new Set(partsOf([...columns, ...(KEYS[table] ?? [])].join(', ')));
	return partsOf(/^create table "?\w+"? ?\((.*)\)$/is.exec(text)?.[1] ?? text).every((part) => own.has(part));
}

/** Each as `trigger "name" on "table"`, with at most 100 characters of a name. */
export async function readForeignCode(
	dialect: StoreDatabase['dialect'],
	query: (statement: string) => Promise<readonly object[]> | readonly object[],
): Promise<readonly string[]> {
	const quoted = (name: string) => JSON.stringify(name.slice(0, 100));
	const found = ((await query(QUERIES[dialect])) as readonly Found[]).filter((one) => !isOwn(one));
	return found.map(({ kind, name, on }) => `${kind} ${quoted(name)}${name === on ? '' : ` on ${quoted(on)}`}`);
}
