import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { StoreDatabase } from '../../src/store/database.ts';
import { MIGRATIONS, type Migration, migrate, OWN_SCHEMA } from '../../src/store/migrate.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { usePostgres, useSqlite } from './empty-databases.ts';
import { context, newerMigrations, openAt } from './migrating-process.ts';
import { accepted, createRecordingLog, KEY, keyFits, open, submission } from './support.ts';

const CHILD = fileURLToPath(new URL('migrating-process.ts', import.meta.url));

const broken: Migration = {
	number: OWN_SCHEMA + 2,
	name: 'broken',
	async up(db) {
		await sql`create table half_done (id integer primary key)`.execute(db);
		throw new Error('this migration is wrong');
	},
};

const NUMBERS = MIGRATIONS.map(({ number }) => number);

const numbersOf = async (db: StoreDatabase) =>
	(await db.read.selectFrom('migrations').select('number').orderBy('number').execute()).map(({ number }) => number);

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('migrations on %s', (name, useAt) => {
	const use = (work: (db: StoreDatabase) => Promise<void>) =>
		useAt(async (place) => {
			const db = openAt(place);
			await work(db).finally(() => db.close());
		});

	it('sets up a new database and leaves an up-to-date one unchanged', () =>
		use(async (db) => {
			const first = context();
			await migrate(db, first);
			expect(first.log.lines).toMatchObject([{ fields: { migrations: MIGRATIONS.map((one) => one.name) } }]);
			const again = context();
			await migrate(db, again);
			expect(again.log.lines).toEqual([]);
			expect(await numbersOf(db)).toEqual(NUMBERS);
		}));

	it('refuses a newer schema and changes nothing', () =>
		use(async (db) => {
			await migrate(db, { ...context(), migrations: newerMigrations() });
			await expect(migrate(db, context())).rejects.toMatchObject({ code: 'database_newer', retryable: false });
			await migrate(db, { ...context(), migrations: newerMigrations() });
		}));

	it('rolls back all migrations when one of them fails, and migrates a known older schema', () =>
		use(async (db) => {
			await migrate(db, context());
			const migrations = [...newerMigrations(), broken];
			await expect(migrate(db, { ...context(), migrations })).rejects.toThrow('wrong');
			expect(await numbersOf(db)).toEqual(NUMBERS);
			const newer = context();
			await migrate(db, { ...newer, migrations: newerMigrations() });
			expect(newer.log.lines).toMatchObject([{ fields: { migrations: ['artificial'] } }]);
			await expect(sql`select * from half_done`.execute(db.read)).rejects.toThrow();
		}));

	it('loses nothing when it is killed half way, and the next start repeats it', () =>
		useAt(async (place) => {
			const own = { dataDir: place, databaseUrl: name === 'SQLite' ? null : place, encryptionKey: KEY };
			const store = await open(own);
			const { id } = await accepted(store, submission());
			await store.close();

			const child = spawn(process.execPath, [CHILD, place], { stdio: ['ignore', 'pipe', 'inherit'] });
			expect(String(await once(child.stdout, 'data'))).toBe('half\n');
			// On PostgreSQL, a replica that starts meanwhile waits for it.
			const waiting = name === 'SQLite' ? null : openAt(place);
			const waited = waiting && migrate(waiting, { ...context(), migrations: newerMigrations() });
			child.kill('SIGKILL');
			await once(child, 'exit');
			await waited;
			await waiting?.close();

			if (waiting === null) {
				const before = await open(own);
				expect(await before.answers.get(id)).toMatchObject({ state: 'accepted', timeline: [{ state: 'accepted' }] });
				await before.close();
			}
			const db = openAt(place);
			await migrate(db, { ...context(), migrations: newerMigrations() });
			expect((await sql`select id, history from answers`.execute(db.read)).rows).toEqual([{ id, history: '"moved"' }]);
			expect(await numbersOf(db)).toEqual([...NUMBERS, OWN_SCHEMA + 1]);
			await expect(sql`select * from half_done`.execute(db.read)).rejects.toThrow();
			await db.close();
			await expect(open(own)).rejects.toMatchObject({ code: 'database_newer' });
		}));
});

it('sets up an empty PostgreSQL once when several replicas start together', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const logs = Array.from({ length: 6 }, () => createRecordingLog());
	const stores = await Promise.all(
		logs.map((log) => open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY, log })),
	);
	expect(logs.flatMap((log) => log.lines)).toHaveLength(1);
	for (const store of stores) {
		expect(keyFits(store)).toBe(true);
		await accepted(store, submission({ sessionId: crypto.randomUUID() }));
		await store.close();
	}
});

it('does not wait behind a long transaction, such as a backup: replicas would wait behind it', () =>
	usePostgres(async (place) => {
		const db = openAt(place);
		await migrate(db, context());
		const backup = new pg.Client({ connectionString: place });
		await backup.connect();
		await backup.query('begin; select from answers');
		const start = { ...context(), migrations: newerMigrations(), lookMs: 200 };
		await expect(migrate(db, start)).rejects.toMatchObject({
			code: 'database_in_use',
			message: expect.stringContaining('a transaction that takes long, such as a backup'),
		});
		expect(await numbersOf(db)).toEqual(NUMBERS);
		await backup.end();
		await migrate(db, start);
		await db.close();
	}));
