import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

type Row = Readonly<Record<string, unknown>>;

/** Dumps schema and rows of a SQLite database, which another connection may have open. */
export function dumpSqlite(path: string): string {
	const database = new DatabaseSync(path, { readOnly: true });
	try {
		const schema = database
			.prepare(`select type, name, sql from sqlite_schema where sql is not null order by type = 'index', name`)
			.all() as { type: string; name: string; sql: string }[];
		const rows = schema
			.filter(({ type }) => type === 'table')
			.map(({ name }) => inserts(name, database.prepare(`select * from "${name}" order by rowid`).all()));
		return [...schema.map(({ sql }) => `${sql};\n`), ...rows].join('\n');
	} finally {
		database.close();
	}
}

const CREATE_TABLES = `
	select format('create table %I (%s)', table_name, string_agg(
		format('%I %s%s%s', column_name, data_type, ' default ' || column_default,
			case is_nullable when 'NO' then ' not null' else '' end), ', ' order by ordinal_position
	)) as sql
	from information_schema.columns where table_schema = 'public' group by table_name order by table_name`;
const ADD_CONSTRAINTS = `
	select format('alter table %I add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as sql
	from pg_constraint where connamespace = 'public'::regnamespace and contype in ('p', 'u') order by conname`;
const CREATE_INDEXES = `
	select indexdef as sql from pg_indexes
	where schemaname = 'public' and indexname not in (select conname from pg_constraint) order by indexname`;

/** Dumps a PostgreSQL database from one snapshot. */
export async function dumpPostgres(url: string): Promise<string> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		await client.query('begin isolation level repeatable read read only');
		const schema: string[] = [];
		for (const query of [CREATE_TABLES, ADD_CONSTRAINTS, CREATE_INDEXES]) {
			const { rows } = await client.query<{ sql: string }>(query);
			schema.push(...rows.map(({ sql }) => `${sql};\n`));
		}
		const { rows: tables } = await client.query<{ name: string }>(
			`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
		);
		const rows: string[] = [];
		for (const { name } of tables) {
			const { rows: found, fields } = await client.query<Row>(`select * from "${name}"`);
			const numbers = fields
				.filter(({ dataTypeID }) => dataTypeID === pg.types.builtins.INT8)
				.map((field) => field.name);
			// pg returns these as text.
			const typed = found.map((row) =>
				Object.fromEntries(
					Object.entries(row).map(([key, value]) => [
						key,
						numbers.includes(key) && value !== null ? Number(value) : value,
					]),
				),
			);
			rows.push(inserts(name, typed));
		}
		return [...schema, ...rows].join('\n');
	} finally {
		await client.end();
	}
}

function inserts(table: string, rows: readonly Row[]): string {
	const [first] = rows;
	if (first === undefined) return `-- ${table} is empty.\n`;
	const columns = Object.keys(first);
	const values = rows.map((row) => `\t(${columns.map((column) => literal(row[column])).join(', ')})`);
	return `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')}) values\n${values.join(',\n')};\n`;
}

function literal(value: unknown): string {
	if (value === null) return 'null';
	if (typeof value === 'number') return String(value);
	if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
	throw new TypeError(`no literal for a ${typeof value}`);
}
