import { cpSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEncryptionKey } from '../../src/store/encryption.ts';
import type { StoreOptions } from '../../src/stores.ts';
import { createReplica } from '../faults/replica.ts';
import { readableRemains } from '../store/remains.ts';
import { inTurns, item, KEY, open, submission, T0 } from '../store/support.ts';
import { startCommand } from '../support/commands.ts';
import { connectTo } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createWorld, type World } from '../support/world.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ADA = 'U0ADA';
const FORGET = ['forget', ADA, '--yes', ADA];
/** So many that a kill can fall into the work on them. */
const ANSWERS = 1_000;
/** Where a lock holds the work up. */
const HELD_ANSWERS = 10;
/** How long the command waits for a replica. */
const WAIT_MS = 15_000;
/** When the program is killed after the command began, which needs about 300 ms to start; null: as soon as it is committed. */
const KILLED_AFTER_MS = [0, 400, null];

let world: World;
beforeAll(async () => {
	world = await createWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const programOn = (env: Readonly<Record<string, string>>) =>
	createReplica({ entry: MAIN, env: { ...world.env, ENCRYPTION_KEY: KEY, ...env } });

/** A history of hers, of which every row holds her id. */
async function fill(answers: number, options: Partial<StoreOptions> & Pick<StoreOptions, 'dataDir'>): Promise<void> {
	const store = await open({ encryptionKey: KEY, ...options });
	const person = { teamId: 'T0ACME', userId: ADA };
	await inTurns(
		Array.from({ length: answers }, (_, at) => at),
		10,
		(at) =>
			store.answers.accept(
				submission({ person, submissionKey: `press:${ADA}:${at}`, sessionId: `s${at}`, items: [item(`text ${at}`)] }),
			),
	);
	const ended = { state: 'resumed', agentOutcome: 'resumed', endedAt: T0, nextAttemptAt: null };
	await store.db.writeOne((trx) => trx.updateTable('answers').set(ended).execute());
	await store.close();
}

it('forgets all or nothing when the program is killed meanwhile, and finishes with the files at the next start', async () => {
	const full = join(world.dataDir, 'full');
	await fill(ANSWERS, { dataDir: full });
	const dataDir = join(world.dataDir, 'killed');
	const program = programOn({ DATA_DIR: dataDir });
	const outcomes = new Set<number>();
	let left = 0;
	for (const ms of KILLED_AFTER_MS) {
		// Where nothing was forgotten, the program that was started again is the next one to be killed.
		if (left === 0) {
			if (program.running) expect((await program.terminate()).code).toBe(0);
			await rm(dataDir, { recursive: true, force: true });
			cpSync(full, dataDir, { recursive: true });
			await program.start();
		}
		const before = program.lines.length;
		const isForgotten = () => program.lines.slice(before).some((line) => line.includes('a person is forgotten'));
		const command = startCommand('person', FORGET, { DATA_DIR: dataDir }).closed;
		if (ms !== null) await delay(ms);
		while (ms === null && !isForgotten()) await delay(1);
		await program.kill();
		const { code, stderr } = await command;
		expect(statSync(join(dataDir, 'handraise.sock')).isSocket()).toBe(true);
		if (code !== 0) expect(stderr).toMatch(/Run this again to see\.$|Nothing changed: start Handraise/m);
		await program.start();
		const database = new DatabaseSync(join(dataDir, 'handraise.db'), { readOnly: true });
		left = Number(database.prepare('select count(*) as count from answers where user_id = ?').get(ADA)?.count);
		database.close();
		outcomes.add(left);
		if (code === 0) expect(left).toBe(0);
		expect(readableRemains(dataDir, parseEncryptionKey(KEY), [ADA])).toEqual(left === 0 ? [] : [ADA]);
	}
	expect((await program.terminate()).code).toBe(0);
	// The first kill came before, the last after the commit.
	expect([...outcomes].sort((one, other) => one - other)).toEqual([0, ANSWERS]);
}, 180_000);

it('goes on with another replica when the one that began is killed', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	await fill(HELD_ANSWERS, { databaseUrl, dataDir: '/nonexistent' });
	const env = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY };
	const [began, other] = [programOn(env), programOn(env)];
	await began.start();
	await using admin = await connectTo(databaseUrl);
	await using watcher = await connectTo(databaseUrl);
	// Whoever begins waits here, with all else done.
	const state = `insert into shared_states values ('memberships:${ADA}', '{}', ${Date.now()})`;
	await admin.query(state);
	await admin.query("begin; select 1 from shared_states where name like 'memberships:%' for update");
	const command = startCommand('person', FORGET, env).closed;
	const waiting =
		"select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
	await expect.poll(async () => (await watcher.query(waiting)).rows[0]?.count, { interval: 10 }).toBeGreaterThan(0);
	await began.kill();
	await other.start();
	await admin.query('rollback');
	const { code, stdout } = await command;
	expect([code, stdout.split('\n')[1]]).toEqual([0, `  answers, now without author and texts: ${HELD_ANSWERS}`]);
	const left = await admin.query(
		"select (select count(*)::int from answers where user_id = 'U0ADA') as answers, (select count(*)::int from shared_states where name like 'person:%') as letters",
	);
	expect(left.rows).toEqual([{ answers: 0, letters: 0 }]);

	await other.terminate();
	const begin = (args: readonly string[]) => startCommand('person', args, env, { isClockSet: true });
	const asks = "select name from shared_states where name like 'person:%'";
	const hasAsked = () => expect.poll(async () => (await admin.query(asks)).rows.length, { timeout: 10_000 }).toBe(1);
	const lost = begin(['export', ADA]);
	const lose = "delete from shared_states where name like 'person:ask:%'";
	await expect.poll(async () => (await admin.query(lose)).rowCount, { timeout: 10_000 }).toBe(1);
	// As a replica lost it whose clock is minutes ahead: the command goes on as if somebody worked on it.
	lost.child.send(3 * WAIT_MS);
	expect(await lost.closed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Handraise ended or failed, /) });
	const unheard = begin(['export', ADA]);
	await hasAsked();
	unheard.child.send(WAIT_MS);
	const none = await unheard.closed;
	expect([none.code, none.stderr]).toEqual([
		1,
		expect.stringMatching(/^No running Handraise did it within 15 s: the request is taken back, and nothing changed\./),
	]);
	expect((await admin.query(asks)).rows).toEqual([]);
	const unread = startCommand('person', ['export', ADA], env).closed;
	const reply = `update shared_states set name = replace(name, 'ask', 'reply'), state = '1.x' where name like 'person:ask:%'`;
	await expect.poll(async () => (await admin.query(reply)).rowCount, { timeout: 10_000 }).toBe(1);
	expect(await unread).toMatchObject({
		code: 1,
		stderr: expect.stringMatching(/^Handraise replied, but with another key: /),
	});
	const stopped = begin(FORGET);
	await hasAsked();
	stopped.child.kill('SIGINT');
	expect(await stopped.closed).toMatchObject({ code: 1, stderr: 'The request is taken back: nothing changed.\n' });
	expect((await admin.query(asks)).rows).toEqual([]);
}, 120_000);
