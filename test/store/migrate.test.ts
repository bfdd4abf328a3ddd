import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations/index.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { accepted, createRecordingLog, KEY, makeDataDir, open, submission } from './support.ts';

const context = () => ({ clock: systemClock, log: createRecordingLog() });

const last = MIGRATIONS.length;
const next: Migration = {
	number: last + 1,
	name: 'one-more',
	async up(db) {
		await sql`create table one_more (id integer primary key)`.execute(db);
	},
};
const broken: Migration = {
	number: last + 2,
	name: 'broken',
	async up(db) {
		await sql`create table half_done (id integer primary key)`.execute(db);
		throw new Error('this migration is wrong');
	},
};

test('the migrations are numbered from 1 without gaps', () => {
	expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('migrating %s', (_name, use) => {
	test('brings a new database up to date, and one that is up to date nowhere', () =>
		use(async (db) => {
			const first = context();
			await migrate(db, first);
			expect(first.log.lines).toMatchObject([{ fields: { migrations: MIGRATIONS.map(({ name }) => name) } }]);
			const again = context();
			await migrate(db, again);
			expect(again.log.lines).toEqual([]);
		}));

	test('applies only what is new', () =>
		use(async (db) => {
			await migrate(db, context());
			const { log, clock } = context();
			await migrate(db, { log, clock, migrations: [...MIGRATIONS, next] });
			expect(log.lines).toMatchObject([{ fields: { migrations: ['one-more'] } }]);
		}));

	test('refuses a database that a newer version has migrated, and changes nothing', () =>
		use(async (db) => {
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(migrate(db, context())).rejects.toMatchObject({ code: 'database_newer', retryable: false });
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
		}));

	test('leaves nothing half done when one of them fails', () =>
		use(async (db) => {
			await migrate(db, context());
			await expect(migrate(db, { ...context(), migrations: [...MIGRATIONS, next, broken] })).rejects.toThrow('wrong');
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(sql`select * from half_done`.execute(db.read)).rejects.toThrow();
		}));
});

test('several replicas that start together on an empty PostgreSQL migrate it once', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const logs = Array.from({ length: 6 }, () => createRecordingLog());
	const stores = await Promise.all(
		logs.map((log) => open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY, log })),
	);
	expect(logs.flatMap((log) => log.lines)).toHaveLength(1);
	for (const store of stores) {
		expect(store.keyMatches).toBe(true);
		await accepted(store, submission({ sessionId: crypto.randomUUID() }));
		await store.close();
	}
});

async function useSqlite(work: (db: StoreDatabase) => Promise<void>): Promise<void> {
	const directory = makeDataDir();
	const db = openSqlite(directory.path);
	try {
		await work(db);
	} finally {
		await db.close();
		await directory.remove();
	}
}

async function usePostgres(work: (db: StoreDatabase) => Promise<void>): Promise<void> {
	const db = openPostgres(await (await sharedPostgres()).createDatabase(), createRecordingLog());
	try {
		await work(db);
	} finally {
		await db.close();
	}
}
