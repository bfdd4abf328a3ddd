import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fill } from './faults/keys/values.ts';
import { filesHold, NEW } from './store/key-values.ts';
import { KEY, keyFits, open } from './store/support.ts';
import { runRekey, startCommand } from './support/commands.ts';
import { connectTo } from './support/postgres.ts';
import { startProgram } from './support/program.ts';
import { createRandom } from './support/random.ts';
import { refusedStart } from './support/refused-start.ts';
import { sharedPostgres } from './support/shared-postgres.ts';
import { createWorld } from './support/world.ts';

/** SQLite writes what does not fit into its memory before the commit. */
const VALUES = { sqlite: 1_000, postgres: 700 };
const UNFINISHED = /^npm run rekey has begun to encrypt the database with another key, and has not finished: .*$/;
const BOTH = { ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: KEY };

/** A database with that many answers and drafts, a fourth of the answers with a secret; and a world for the program. */
async function filled(databaseUrl: string | null) {
	const world = await createWorld();
	onTestFinished(() => world[Symbol.asyncDispose]());
	const { service, dataDir } = world;
	const opened = (encryptionKey: string) => open({ dataDir, databaseUrl, encryptionKey });
	const store = await opened(KEY);
	const values = await fill(store, VALUES[store.db.dialect], createRandom(1));
	// Without a row of its own, the program does not start on those of another service.
	const own = { teamId: 'T1', channelId: 'C1', service: service.url, sessionId: 's1', enteredAt: Date.now() };
	await store.db.writeOne((trx) => trx.insertInto('answer_rules').values(own).execute());
	await store.close();
	const place = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
	const envOf = (keys: Readonly<Record<string, string>>) => ({ ...world.env, ...place, ...keys });
	return {
		place,
		dataDir,
		start: (keys: Readonly<Record<string, string>>) => startProgram(envOf(keys)),
		/** Expects that no program starts with these keys. */
		async expectRefusal(keys: Readonly<Record<string, string>>): Promise<void> {
			expect(await refusedStart(envOf(keys))).toMatch(UNFINISHED);
		},
		async expectDone(): Promise<void> {
			const after = await opened(NEW);
			expect(keyFits(after)).toBe(true);
			expect(await values.lost(after)).toBe(0);
			await after.close();
		},
	};
}

describe('npm run rekey', () => {
	it('lets no program start when it is killed half way on SQLite, and does all when it is run again', {
		timeout: 300_000,
	}, async () => {
		const database = await filled(null);
		const log = join(database.dataDir, 'handraise.db-wal');
		const size = () => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
		const paths = () => ['.', ...readdirSync(database.dataDir)].map((name) => join(database.dataDir, name));
		// Root runs it, and Handraise as another user.
		if (process.getuid?.() === 0) for (const path of paths()) chownSync(path, 65_534, 65_534);
		const owner = statSync(database.dataDir).uid;
		for (let kill = 1; kill <= 3; kill++) {
			const running = startCommand('rekey', [], { ...database.place, ...BOTH });
			const isOver = running.closed.then(() => true);
			// Pages of the transaction, which is far from committed.
			while (size() < kill * 100_000 && !(await Promise.race([isOver, delay(2, false)])));
			running.child.kill('SIGKILL');
			expect((await running.closed).code).toBeNull();
			expect(new Set(paths().map((path) => statSync(path).uid))).toEqual(new Set([owner]));
		}
		for (const keys of [{ ENCRYPTION_KEY: KEY }, { ENCRYPTION_KEY: NEW }, BOTH]) await database.expectRefusal(keys);
		expect(await startCommand('rekey', [], { ...database.place, ...BOTH }).closed).toMatchObject({
			code: 0,
			stderr: '',
		});
		expect(filesHold(database.dataDir, ['kept under the former key'], KEY)).toEqual([]);
		await database.expectDone();
	});

	it('stops replicas of PostgreSQL, lets none start while it works or was killed, and does all when it is run again', {
		timeout: 300_000,
	}, async () => {
		const databaseUrl = await (await sharedPostgres()).createDatabase();
		const database = await filled(databaseUrl);
		await using other = await connectTo(databaseUrl, 'an operator');
		// A transaction sees the activity of its beginning.
		await using looking = await connectTo(databaseUrl, 'an operator');
		const replicas = [database.start({ ENCRYPTION_KEY: KEY }), database.start({ ENCRYPTION_KEY: KEY })];
		for (const replica of replicas) await replica.says('Handraise is ready');
		for (const [table, key] of [
			['answers', KEY],
			['drafts', NEW],
		] as const) {
			// Where it stops until it is killed.
			await other.query('begin');
			await other.query(`select 1 from ${table} order by 1 offset 600 limit 1 for update`);
			const running = startCommand('rekey', [], { ...database.place, ...BOTH });
			const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and application_name = 'handraise'`;
			const isWaiting = async () => (await looking.query(waiting)).rowCount === 1;
			const ended = running.closed.then(({ stderr }) => Promise.reject(new Error(`It did not wait: ${stderr}`)));
			// A replica may wait for a lock as well, before the mark by which it stops.
			await Promise.race([ended, Promise.all(replicas.map(({ closed }) => closed))]);
			await Promise.race([ended, expect.poll(isWaiting, { timeout: 90_000 }).toBe(true)]);
			await database.expectRefusal({ ENCRYPTION_KEY: key });
			running.child.kill('SIGKILL');
			expect((await running.closed).code).toBeNull();
			await other.query('rollback');
			await database.expectRefusal(BOTH);
		}
		for (const replica of replicas) {
			const { code, stdout, stderr } = await replica.closed;
			expect([code, stderr]).toEqual([1, '']);
			const lines = stdout.trimEnd().split('\n');
			const events = lines.map((line) => JSON.parse(line) as { level: string; event: string; msg: string });
			expect(events.filter(({ level }) => level === 'error')).toMatchObject([
				{
					event: 'database_rekeyed',
					msg: expect.stringMatching(/^npm run rekey encrypts the database with another key/),
				},
			]);
		}
		expect(await runRekey({ ...database.place, ...BOTH })).toMatchObject({ code: 0, stderr: '' });
		await database.expectDone();
		const replica = database.start({ ENCRYPTION_KEY: NEW });
		await replica.says('Handraise is ready');
		replica.child.kill('SIGTERM');
		expect((await replica.closed).code).toBe(0);
	});
});
