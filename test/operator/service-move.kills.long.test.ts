import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/stores.ts';
import { fill } from '../faults/keys/values.ts';
import { KEY, makeDataDir, open, SERVICE } from '../store/support.ts';
import { runMigrate, startCommand } from '../support/commands.ts';
import { connectTo } from '../support/postgres.ts';
import { startProgram } from '../support/program.ts';
import { createRandom } from '../support/random.ts';
import { refusedStart } from '../support/refused-start.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createWorld } from '../support/world.ts';

const NOW = 'https://now.example';
/** SQLite writes what does not fit into its memory before the commit. */
const VALUES = { sqlite: 1_000, postgres: 400 };
const KILLS = 3;

/** A database with that many answers and drafts, a fourth of the answers with a secret. */
async function filled(databaseUrl: string | null) {
	const directory = makeDataDir();
	onTestFinished(directory.remove);
	const opened = () => open({ dataDir: directory.path, databaseUrl, encryptionKey: KEY });
	const store = await opened();
	const values = await fill(store, VALUES[store.db.dialect], createRandom(1));
	await store.close();
	const env = {
		DATA_DIR: directory.path,
		ENCRYPTION_KEY: KEY,
		SESSION_SERVICE_URL: NOW,
		...(databaseUrl && { DATABASE_URL: databaseUrl }),
	};
	async function look<T>(work: (store: Store) => Promise<T>): Promise<T> {
		const looked = await opened();
		return work(looked).finally(looked.close);
	}
	return {
		env,
		dataDir: directory.path,
		/** The addresses that rows have, and how many values are not what they were. */
		state: () =>
			look(async (looked) => {
				const rows = await looked.db.read.selectFrom('answers').select('service').distinct().execute();
				return { addresses: rows.map(({ service }) => service), lost: await values.lost(looked) };
			}),
	};
}

const BEFORE = { addresses: [SERVICE], lost: 0 };
const AFTER = { addresses: [NOW], lost: 0 };

describe('npm run migrate -- --service-moved', () => {
	it('changes nothing when it is killed half way on SQLite, and does all when it is run again', async () => {
		const database = await filled(null);
		const log = join(database.dataDir, 'handraise.db-wal');
		const size = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
		for (let kill = 1; kill <= KILLS; kill++) {
			const running = startCommand('migrate', ['--service-moved'], database.env);
			const isOver = running.closed.then(() => true);
			// Pages of the transaction, which is not committed.
			while (size() < kill * 300_000 && !(await Promise.race([isOver, turn(false)])));
			running.child.kill('SIGKILL');
			const { code, stdout } = await running.closed;
			expect([code, stdout]).toEqual([null, '']);
			expect(await database.state()).toEqual(BEFORE);
		}
		expect((await runMigrate(['--service-moved'], database.env)).stdout).toContain(
			`Answers that wait: ${VALUES.sqlite} to be sent`,
		);
		expect(await database.state()).toEqual(AFTER);
	});

	it('changes nothing when it is killed half way on PostgreSQL, and does all when it is run again', async () => {
		const databaseUrl = await (await sharedPostgres()).createDatabase();
		const database = await filled(databaseUrl);
		await using other = await connectTo(databaseUrl, 'an operator');
		// A transaction sees the activity of its beginning.
		await using looking = await connectTo(databaseUrl, 'an operator');
		for (let kill = 1; kill <= KILLS; kill++) {
			// Where it stops until it is killed.
			await other.query('begin');
			await other.query(
				`select 1 from ${['drafts', 'answers', 'answers'][kill - 1]} order by 1 offset ${kill * 100} limit 1 for update`,
			);
			const running = startCommand('migrate', ['--service-moved'], database.env);
			const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = 'handraise'`;
			await expect.poll(async () => (await looking.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1);
			running.child.kill('SIGKILL');
			const { code, stdout } = await running.closed;
			expect([code, stdout]).toEqual([null, '']);
			await other.query('rollback');
			expect(await database.state()).toEqual(BEFORE);
		}
		expect((await runMigrate(['--service-moved'], database.env)).stdout).toContain(
			`Answers that wait: ${VALUES.postgres} to be sent`,
		);
		expect(await database.state()).toEqual(AFTER);
	});

	it('is refused while a replica runs, and a replica at the former address does not start afterwards', async () => {
		const databaseUrl = await (await sharedPostgres()).createDatabase();
		const world = await createWorld();
		onTestFinished(() => world[Symbol.asyncDispose]());
		const { service, dataDir } = world;
		const env = { ...world.env, DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY };
		const replica = startProgram(env);
		await replica.says('Handraise is ready');
		const store = await open({ dataDir, databaseUrl, encryptionKey: KEY });
		await store.db.writeOne((trx) =>
			trx
				.insertInto('answer_rules')
				.values({ teamId: 'T1', channelId: 'C1', service: service.url, sessionId: 's1', enteredAt: Date.now() })
				.execute(),
		);
		await store.close();
		const moved = { ...env, SESSION_SERVICE_URL: NOW };
		const refused = await runMigrate(['--service-moved'], moved);
		expect([refused.code, refused.stdout]).toEqual([1, '']);
		expect(refused.stderr).toMatch(/^A Handraise, or one of its commands, is connected to this database: .*\n$/);
		replica.child.kill('SIGTERM');
		await replica.closed;
		expect(await refusedStart(moved)).toContain('npm run migrate -- --service-moved');
		expect(await runMigrate(['--service-moved'], moved)).toMatchObject({ code: 0, stderr: '' });
		expect(await refusedStart(env)).toContain(`are for ${NOW}, and SESSION_SERVICE_URL is ${service.url}`);
	});
});
