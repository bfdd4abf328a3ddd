import { sql } from 'kysely';
import type { Log } from '../core/log.ts';
import type { StoreDatabase } from './database.ts';
import { COLUMNS } from './tables.ts';

const OURS = Object.keys(COLUMNS)
	.map((name) => `'${name}'`)
	.join(', ');

/**
 * What runs inside the database on our tables and is not ours, such as a trigger that moves answers. In SQLite a trigger of any
 * table counts, because it writes to all. Other people's tables, indexes without functions, and statistics do not count.
 */
const QUERIES = {
	sqlite: `select type as kind, name, tbl_name as "on" from sqlite_schema
		where type = 'trigger' or (type = 'view' and lower(name) in (${OURS})) order by 1, 2`,
	postgres: `
		with ours as (select oid, relname from pg_class where relname in (${OURS}) and pg_table_is_visible(oid))
		select 'trigger' as kind, tgname as name, relname as "on" from pg_trigger join ours on ours.oid = tgrelid
			where not tgisinternal
		union select 'rule', rulename, relname from pg_rewrite join ours on ours.oid = ev_class
		union select 'function', proname, relname from pg_depend as use join pg_depend as place using (classid, objid)
			join ours on place.refclassid = 'pg_class'::regclass and place.refobjid = ours.oid
			join pg_proc on use.refclassid = 'pg_proc'::regclass and use.refobjid = pg_proc.oid
			where classid not in ('pg_trigger'::regclass, 'pg_rewrite'::regclass)
		order by 1, 2`,
} as const;

/** Each as `trigger "name" on "table"`, with at most 100 characters of a name. */
export async function readForeignCode(
	dialect: StoreDatabase['dialect'],
	query: (statement: string) => Promise<readonly object[]> | readonly object[],
): Promise<readonly string[]> {
	const quoted = (name: string) => JSON.stringify(name.slice(0, 100));
	const found = (await query(QUERIES[dialect])) as readonly { kind: string; name: string; on: string }[];
	return found.map(({ kind, name, on }) => `${kind} ${quoted(name)} on ${quoted(on)}`);
}

/** An operator may have a trigger of their own, so that it is no reason to stop. */
export async function warnOfForeignCode({ dialect, read }: StoreDatabase, log: Log): Promise<void> {
	const code = await readForeignCode(
		dialect,
		async (statement) => (await sql.raw<object>(statement).execute(read)).rows,
	);
	if (code.length > 0) log.warn('foreign_code', { code });
}
