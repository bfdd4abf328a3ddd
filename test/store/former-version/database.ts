import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import pg from 'pg';
import type { StoreDatabase } from '../../../src/store/database.ts';
import { openPostgres } from '../../../src/store/postgres.ts';
import { openSqlite } from '../../../src/store/sqlite.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { createRecordingLog, makeDataDir } from '../support.ts';
import { dumpPostgres, dumpSqlite } from './dump.ts';
import { type FormerVersion, readFormerVersion, type Which } from './fixture.ts';

export type Row = Readonly<Record<string, unknown>>;

/** All rows of these tables. */
export async function rowsOf(
	db: StoreDatabase,
	tables: readonly string[],
): Promise<ReadonlyMap<string, readonly Row[]>> {
	const all = new Map<string, readonly Row[]>();
	for (const table of tables) {
		const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(db.read);
		all.set(
			table,
			rows.map((row) => ({ ...row })),
		);
	}
	return all;
}

/** Opens a database of a former version without migrating it. */
export async function useDatabaseOf(
	which: Which,
	work: (opened: { db: StoreDatabase; former: FormerVersion; dump: () => Promise<string> }) => Promise<void>,
): Promise<void> {
	const former = await readFormerVersion(which);
	const directory = makeDataDir();
	const url = which.kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
	const database = url === null ? sqliteIn(directory.path) : postgresAt(url);
	await database.load(former.sql);
	const db = url === null ? openSqlite(directory.path) : openPostgres(url, createRecordingLog());
	try {
		await work({ db, former, dump: database.dump });
	} finally {
		await db.close();
		await directory.remove();
	}
}

/** A database that the program may have open. */
export interface Database {
	load(sql: string): Promise<void>;
	/** The first row of this query. */
	first(query: string): Promise<Row>;
	dump(): Promise<string>;
}

export function sqliteIn(dataDir: string): Database {
	const path = join(dataDir, 'handraise.db');
	return {
		async load(text) {
			using database = new DatabaseSync(path);
			database.exec(text);
		},
		async first(query) {
			using database = new DatabaseSync(path, { readOnly: true });
			return database.prepare(query).get() ?? {};
		},
		dump: async () => dumpSqlite(path),
	};
}

export function postgresAt(url: string): Database {
	async function ask(text: string): Promise<Row> {
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		try {
			const { rows } = await client.query<Row>(text);
			return rows?.[0] ?? {};
		} finally {
			await client.end();
		}
	}

	return {
		async load(text) {
			await ask(text);
		},
		first: ask,
		dump: () => dumpPostgres(url),
	};
}
