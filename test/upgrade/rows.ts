import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { expect } from 'vitest';
import type { StoreDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makePrivateFile } from '../../src/store/sqlite.ts';
import { context, openAt } from '../store/migrating-process.ts';
import { connectTo } from '../support/postgres.ts';
import { type Release, type StoreName, schemaOf } from './releases.ts';

/*
 * The rows of a database of any version: what tables and columns it has is read from it, never from the description of
 * today's. A place is an address of PostgreSQL, or the directory of SQLite's file.
 */

/** By table; a row by the names of columns in camel case. */
export type Rows = Readonly<Record<string, readonly Record<string, unknown>[]>>;

const isPostgres = (place: string) => place.startsWith('postgres:');
const untyped = (db: StoreDatabase['read']) => db as unknown as Kysely<Record<string, Record<string, unknown>>>;

/** A column, and what the database says of it. */
interface Column {
	readonly table: string;
	readonly name: string;
	readonly is: string;
}

const COLUMNS = {
	sqlite: `select tables.name as "table", columns.name as name,
			concat_ws(' ', columns.type, iif("notnull", 'not null', ''), 'default', dflt_value, 'key', pk) as "is"
		from sqlite_schema as tables, pragma_table_info(tables.name) as columns
		where tables.type = 'table' and tables.name not like 'sqlite\\_%' escape '\\' order by tables.rowid, cid`,
	postgres: `select table_name as "table", column_name as name,
			concat_ws(' ', data_type, is_nullable, column_default, is_identity, identity_generation) as "is"
		from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
};
const INDEXES = {
	sqlite: `select sql from sqlite_schema where type = 'index' and sql is not null order by name`,
	postgres: `select indexdef as sql from pg_indexes where schemaname = 'public' order by indexname`,
};

async function columnsIn({ dialect, read }: StoreDatabase): Promise<readonly Column[]> {
	return (await sql.raw<Column>(COLUMNS[dialect]).execute(read)).rows;
}

/** Its tables, columns and indexes as the database tells them, whatever statements made them, in whatever order. */
async function schemaAt(place: string): Promise<readonly string[]> {
	const db = openAt(place);
	const columns = (await columnsIn(db)).map(({ table, name, is }) => `${table}.${name}: ${is}`);
	const { rows } = await sql.raw<{ sql: string }>(INDEXES[db.dialect]).execute(db.read);
	await db.close();
	return [...columns.toSorted(), ...rows.map((index) => index.sql)];
}

/** All rows, in the order of their columns. */
export async function dumpRows(place: string): Promise<Rows> {
	const db = openAt(place);
	const dumped: Record<string, Record<string, unknown>[]> = {};
	for (const [table, columns] of Map.groupBy(await columnsIn(db), ({ table }) => table)) {
		const inOrder = sql.raw(columns.map(({ name }) => `"${name}"`).join(', '));
		dumped[table] = await untyped(db.read).selectFrom(table).selectAll().orderBy(inOrder).execute();
	}
	await db.close();
	return dumped;
}

/** Makes a schema by these statements in an empty database. */
async function makeSchema(place: string, statements: string): Promise<void> {
	if (!isPostgres(place)) {
		makePrivateFile(join(place, 'handraise.db'));
		using database = new DatabaseSync(join(place, 'handraise.db'));
		return database.exec(statements);
	}
	await using client = await connectTo(place);
	await client.query(statements);
}

/** Expects of an empty database with the schema of a release that it is migrated to what a new one gets. */
export async function expectSchemaOfNew(of: { release: Release; store: StoreName; upgraded: string; made: string }) {
	const { release, store, upgraded, made } = of;
	const numbered = `insert into migrations values (${release.schema}, '', 0);`;
	await makeSchema(upgraded, `${schemaOf(release, store)}${numbered}`);
	for (const place of [upgraded, made]) {
		const db = openAt(place);
		await migrate(db, context());
		await db.close();
	}
	expect(await schemaAt(upgraded)).toEqual(await schemaAt(made));
}

/** Makes a schema by these statements and puts these rows into it. */
export async function loadRows(place: string, { schema, rows }: { schema: string; rows: Rows }): Promise<void> {
	await makeSchema(place, schema);
	const db = openAt(place);
	// PostgreSQL numbers the audit itself: it has to be told to take other numbers, and from where to go on.
	const given = sql.raw(isPostgres(place) ? 'overriding system value' : '');
	await db.write(async (trx) => {
		for (const [table, ofTable] of Object.entries(rows)) {
			for (const row of ofTable) {
				const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
				const values = sql.join(Object.values(row));
				await sql`insert into ${sql.table(table)} (${names}) ${given} values (${values})`.execute(trx);
			}
		}
		if (isPostgres(place)) await sql.raw(RENUMBER).execute(trx);
	});
	await db.close();
}

const RENUMBER = `do $$ declare one record; begin
	for one in select table_name, column_name from information_schema.columns
		where table_schema = 'public' and is_identity = 'YES'
	loop
		execute format('select setval(pg_get_serial_sequence(%L, %L), (select coalesce(max(%I), 1) from %I))',
			one.table_name, one.column_name, one.column_name, one.table_name);
	end loop;
end $$`;
