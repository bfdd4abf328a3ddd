import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { ANSWER_STATES } from '../../src/answers/answer.ts';
import { systemClock } from '../../src/clock.ts';
import { createAnswerStore } from '../../src/store/answer-store.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { createCipher } from '../../src/store/encryption.ts';
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import {
	accepted,
	createRecordingLog,
	KEY,
	keyFits,
	LEASE,
	makeDataDir,
	open,
	SERVICE,
	submission,
	T0,
} from './support.ts';

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

it('numbers the migrations from 1 without gaps', () => {
	expect(MIGRATIONS.map((migration) => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('migrations on %s', (_name, use) => {
	it('migrates a new database and leaves an up-to-date one unchanged', () =>
		use(async (db) => {
			const first = context();
			await migrate(db, first);
			expect(first.log.lines).toMatchObject([{ fields: { migrations: MIGRATIONS.map(({ name }) => name) } }]);
			const again = context();
			await migrate(db, again);
			expect(again.log.lines).toEqual([]);
		}));

	it('applies only pending migrations', () =>
		use(async (db) => {
			await migrate(db, context());
			const { log, clock } = context();
			await migrate(db, { log, clock, migrations: [...MIGRATIONS, next] });
			expect(log.lines).toMatchObject([{ fields: { migrations: ['one-more'] } }]);
		}));

	it('refuses a database that a newer version has migrated and changes nothing', () =>
		use(async (db) => {
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(migrate(db, context())).rejects.toMatchObject({ code: 'database_newer', retryable: false });
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
		}));

	it('rolls back all migrations when one of them fails', () =>
		use(async (db) => {
			await migrate(db, context());
			await expect(migrate(db, { ...context(), migrations: [...MIGRATIONS, next, broken] })).rejects.toThrow('wrong');
			await migrate(db, { ...context(), migrations: [...MIGRATIONS, next] });
			await expect(sql`select * from half_done`.execute(db.read)).rejects.toThrow();
		}));
});

/** An answer from before migration 4: its state, and whether the outcome of its PUT is unknown. */
type Former = readonly [id: string, state: string, outcome?: 'unknown'];

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('answers from before lease tokens on %s', (_name, use) => {
	/** The migrated answers to one question, in the order of their ids. */
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

	it('clears the leases of migrated answers and checks those again whose PUT had an unknown outcome', () =>
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
			'a live answer',
			[
				['a', 'accepted'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'an answer in delivery',
			[
				['a', 'delivering', 'unknown'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'a second waiting answer with an unknown outcome',
			[
				['a', 'waiting', 'unknown'],
				['b', 'waiting', 'unknown'],
			],
		],
		[
			'a waiting answer that was not sent',
			[
				['a', 'waiting'],
				['b', 'waiting', 'unknown'],
			],
		],
	])('leaves an answer with an unknown outcome unchanged beside %s', (_beside, rows) =>
		use(async (db) => {
			const after = await migrated(db, rows);
			expect(after.map(({ id, state }) => [id, state])).toEqual(rows.map(([id, state]) => [id, state]));
			expect(after.map(({ next_attempt_at }) => next_attempt_at)).toEqual([null, null]);
		}),
	);
});

/** A row from before migration 7; optional columns are null by default. */
const FORMER_ROW = {
	origin_channel: null,
	origin_thread: null,
	secrets: null,
	other: null,
	secret_positions: null,
	next_attempt_at: null,
	put_started_at: null,
	before_put: null,
	delivered_at: null,
	aftermath: null,
	ended_at: null,
	last_error: null,
	lease_token: null,
	lease_until: null,
	not_before: null,
	restart_asked_at: null,
} as const;

describe.each([
	['SQLite', useSqlite],
	['PostgreSQL', usePostgres],
])('answers from before the submission column on %s', (_name, use) => {
	const cipher = createCipher(Buffer.from(KEY, 'base64'));
	const former = MIGRATIONS.filter(({ number }) => number < 7);
	const seal = (id: string, column: string, value: unknown) =>
		cipher.encrypt(JSON.stringify(value), { table: 'answers', id, column });

	/** One answer in each state: even ones with all columns, odd ones with null in every optional column. */
	function formerRows() {
		return ANSWER_STATES.map((state, index) => {
			const id = `a-${state}`;
			const items = [
				{ title: 'Colour?', value: 'blue', secret: false, held: false },
				{ title: 'Code?', value: null, secret: true, held: true },
				{ title: 'Else?', value: '', secret: false, held: false },
			];
			return {
				...FORMER_ROW,
				id,
				submission_key: `V${index}:F${index}`,
				view_id: `V${index}`,
				team_id: 'T1',
				user_id: 'U-ANN',
				service: SERVICE,
				session_id: `s-${state}`,
				message_index: 1,
				fingerprint: 'f',
				content: index % 2 === 0 ? seal(id, 'content', items) : null,
				positions: '[0,1,2]',
				left_empty: index % 2 === 0 ? '[2]' : '[]',
				state,
				attempts: index,
				form_read_at: T0 - 5_000 - index,
				accepted_at: T0,
				give_up_at: T0 + 1_000,
				timeline: JSON.stringify([{ state: 'accepted', at: T0 }]),
				told: JSON.stringify({ state: null, aftermath: null, dm: null, modalOpen: true }),
				edit_count: 1,
				missing_count: 2,
				start_failed: 1,
				...(index % 2 === 0 && {
					origin_channel: 'C1',
					origin_thread: '1.2',
					secrets: seal(id, 'secrets', { 1: 'hunter2' }),
					other: seal(id, 'other', { person: null, values: ['red'], at: T0, same: false }),
					secret_positions: '[1]',
					next_attempt_at: T0 + 7,
					put_started_at: T0 + 1,
					before_put: JSON.stringify({ status: 'humanInput', assistantCount: 1, sameCount: null }),
					delivered_at: T0 + 2,
					aftermath: 'unseen',
					ended_at: T0 + 3,
					last_error: 'timed_out',
					lease_token: 'holder',
					lease_until: T0 + 9,
					not_before: T0 + 8,
					restart_asked_at: T0 + 6,
				}),
			};
		});
	}

	async function makeFormer(db: StoreDatabase) {
		await migrate(db, { ...context(), migrations: former });
		const rows = formerRows();
		await db.write(async (trx) => {
			for (const row of rows) {
				await (trx as unknown as Kysely<Record<string, Record<string, unknown>>>)
					.insertInto('answers')
					.values(row)
					.execute();
			}
		});
		return rows;
	}

	const allRows = async (db: StoreDatabase) =>
		(await sql<Record<string, unknown>>`select * from answers order by id`.execute(db.read)).rows;

	it('keeps every value of migrated answers, encrypted ones unchanged', () =>
		use(async (db) => {
			const rows = await makeFormer(db);
			await migrate(db, context());
			const after = await allRows(db);
			expect(after).toHaveLength(ANSWER_STATES.length);
			for (const before of rows) {
				const { view_id, origin_channel, origin_thread, form_read_at, positions, left_empty, lease_until, ...same } =
					before;
				const { submission: details, leased_until, ...others } = after.find(({ id }) => id === before.id) ?? {};
				expect(others).toEqual(same);
				expect(leased_until).toBe(lease_until);
				expect(JSON.parse(String(details))).toEqual({
					viewId: view_id,
					origin: { channelId: origin_channel, threadTs: origin_thread },
					formReadAt: form_read_at,
					positions: JSON.parse(positions),
					leftEmpty: JSON.parse(left_empty),
				});
			}
		}));

	it('reads migrated answers unchanged and rejects another answer while they are live', () =>
		use(async (db) => {
			const rows = await makeFormer(db);
			await migrate(db, context());
			const answers = createAnswerStore({ db, cipher });
			for (const row of rows) {
				expect(await answers.get(row.id)).toMatchObject({
					state: row.state,
					viewId: row.view_id,
					submissionKey: row.submission_key,
					origin: { channelId: row.origin_channel, threadTs: row.origin_thread },
					leftEmpty: JSON.parse(row.left_empty),
					editCount: 1,
					startFailed: true,
					content:
						row.content === null
							? { kind: 'removed' }
							: { kind: 'readable', items: [{ value: 'blue' }, { value: 'hunter2', secret: true }, { value: '' }] },
				});
			}
			const late = await answers.accept(submission({ sessionId: 's-accepted' }));
			expect(late).toMatchObject({ kind: 'taken', by: { id: 'a-accepted' } });
			const [first] = await answers.takeDue(SERVICE, LEASE, 1, T0 + 60_000);
			expect(first).toMatchObject({ viewId: 'V0' });
		}));

	it('leaves answers unchanged when the migration fails halfway', () =>
		use(async (db) => {
			await makeFormer(db);
			const before = await allRows(db);
			await db.write((trx) => sql`update answers set left_empty = 'no JSON' where id = 'a-refused'`.execute(trx));
			await expect(migrate(db, context())).rejects.toThrow();
			await db.write((trx) => sql`update answers set left_empty = '[]' where id = 'a-refused'`.execute(trx));
			expect(await allRows(db)).toEqual(before);
			await migrate(db, context());
			expect(await allRows(db)).toHaveLength(before.length);
		}));

	it('stops a process of the former version from taking, changing or creating answers', () =>
		use(async (db) => {
			await makeFormer(db);
			await migrate(db, context());
			const after = await allRows(db);
			for (const statement of [
				sql`update answers set lease_token = 'x', lease_until = 1 where id = 'a-accepted'`,
				sql`update answers set lease_token = null, lease_until = null where lease_token is not null`,
				sql`update answers set lease_until = 1 where id = 'a-accepted' and lease_token = 'holder'`,
				sql`insert into answers (id, view_id) values ('new', 'V')`,
			]) {
				await expect(db.write((trx) => statement.execute(trx))).rejects.toThrow();
			}
			expect(await allRows(db)).toEqual(after);
		}));
});

it('migrates an empty PostgreSQL once when several replicas start together', async () => {
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
