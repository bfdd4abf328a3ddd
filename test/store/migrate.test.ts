import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations/index.ts';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { accepted, createRecordingLog, KEY, makeDataDir, open, SERVICE, submission, T0 } from './support.ts';

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

it('the migrations are numbered from 1 without gaps', () => {
	expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('migrating %s', (_name, use) => {
	it('brings a new database up to date, and one that is up to date nowhere', () =>
		use(async (db) => {
			const first = context();
			await migrate(db, first);
			expect(first.log.lines).toMatchObject([{ fields: { migrations: MIGRATIONS.map(({ name }) => name) } }]);
			const again = context();
			await migrate(db, again);
			expect(again.log.lines).toEqual([]);
		}));

	it('applies only what is new', () =>
		use(async (db) => {
			await migrate(db, context());
			const { log, clock } = context();
			await migrate(db, { log, clock, migrations: [...MIGRATIONS, next] });
			expect(log.lines).toMatchObject([{ fields: { migrations: ['one-more'] } }]);
		}));

	it('refuses a database that a newer version has migrated, and changes nothing', () =>
		use(async (db) => {
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(migrate(db, context())).rejects.toMatchObject({ code: 'database_newer', retryable: false });
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
		}));

	it('leaves nothing half done when one of them fails', () =>
		use(async (db) => {
			await migrate(db, context());
			await expect(migrate(db, { ...context(), migrations: [...MIGRATIONS, next, broken] })).rejects.toThrow('wrong');
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(sql`select * from half_done`.execute(db.read)).rejects.toThrow();
		}));
});

/** An answer of the version before migration 4: its state, and whether the outcome of its PUT is not known. */
type Former = readonly [id: string, state: string, outcome?: 'unknown'];

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('answers of the version before lease tokens, on %s,', (_name, use) => {
	/** What becomes of answers to one question, in the order of their ids. */
	async function migrated(db: StoreDatabase, rows: readonly Former[]) {
		await migrate(db, { ...context(), migrations: MIGRATIONS.filter(({ number }) => number < 4) });
		await db.write(async (trx) => {
			for (const [index, [id, state, outcome]] of rows.entries()) {
				const holder = index === 0 ? 'process-1' : null;
				await sql`insert into answers (id, submission_key, view_id, team_id, user_id, service, session_id,
					message_index, fingerprint, positions, left_empty, state, attempts, form_read_at, accepted_at, give_up_at,
					put_started_at, timeline, told, lease_owner, lease_until, lease_revoked)
					values (${id}, ${id}, 'V1', 'T1', 'U1', ${SERVICE}, 's1', 1, 'f', '[0]', '[]', ${state}, 1, ${T0}, ${T0},
					${T0 + 1_000}, ${outcome === 'unknown' ? T0 : null}, '[]', '{}', ${holder}, ${T0}, 0)`.execute(trx);
			}
		});
		await migrate(db, context());
		const columns = ['id', 'state', 'put_started_at', 'next_attempt_at', 'lease_token', 'edit_count'] as const;
		return db.read.selectFrom('answers').select(columns).orderBy('id').execute();
	}

	it('are held by nobody any more, and are looked at once more where one was given up with its outcome unknown', () =>
		use(async (db) => {
			const rows = await migrated(db, [
				['a', 'delivered'],
				['b', 'waiting', 'unknown'],
			]);
			const free = { lease_token: null, edit_count: 0 };
			expect(rows).toEqual([
				{ ...free, id: 'a', state: 'delivered', put_started_at: null, next_attempt_at: null },
				{ ...free, id: 'b', state: 'delivering', put_started_at: T0, next_attempt_at: T0 + 1_000 },
			]);
		}));

	it.each<[string, readonly Former[]]>([
		[
			'one that is live',
			[
				['a', 'accepted'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'one that is under way',
			[
				['a', 'delivering', 'unknown'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'another one like it',
			[
				['a', 'waiting', 'unknown'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'one that waits and was not sent',
			[
				['a', 'waiting'],
				['b', 'waiting', 'unknown'],
			],
		],
	])('stay as they are beside %s', (_beside, rows) =>
		use(async (db) => {
			const after = await migrated(db, rows);
			expect(after.map(({ id, state }) => [id, state])).toEqual(rows.map(([id, state]) => [id, state]));
			expect(after.map(({ next_attempt_at }) => next_attempt_at)).toEqual([null, null]);
		}),
	);
});

it('several replicas that start together on an empty PostgreSQL migrate it once', async () => {
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
