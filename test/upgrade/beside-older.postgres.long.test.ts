import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { copySource, isCommit } from '../faults/source-copy.ts';
import { KEY } from '../store/support.ts';
import { connectTo } from '../support/postgres.ts';
import { startProgram } from '../support/program.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { createWorld, type World } from '../support/world.ts';
import { RELEASES } from './releases.ts';

const MIGRATE = fileURLToPath(new URL('../../src/migrate.ts', import.meta.url));
/** One line. */
const REFUSED =
	/^The database is not migrated, because a replica still runs on it \("handraise".*\)\. Nothing was changed\. Stop all .*\n$/;

let world: World;
beforeAll(async () => {
	world = await createWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A program that a test started. */
type Running = ReturnType<typeof startProgram>;
let running: Running[] = [];
afterEach(async () => {
	for (const { child } of running) child.kill('SIGKILL');
	await Promise.all(running.map(({ closed }) => closed));
	running = [];
});

function start(place: Readonly<Record<string, string>>, entry?: string): Running {
	const program = startProgram({ ...world.env, ...place }, entry);
	running.push(program);
	return program;
}

async function startReady(place: Readonly<Record<string, string>>, entry?: string): Promise<Running> {
	const program = start(place, entry);
	await program.says('Handraise is ready');
	return program;
}

async function end(program: Running, signal: NodeJS.Signals): Promise<void> {
	program.child.kill(signal);
	await program.closed;
}

async function schemaIn({ DATABASE_URL }: { DATABASE_URL: string }): Promise<number> {
	await using client = await connectTo(DATABASE_URL);
	const { rows } = await client.query('select max(number) as schema from migrations');
	return rows[0]?.schema;
}

const newDatabase = async () => ({
	DATABASE_URL: await (await sharedPostgres()).createDatabase(),
	ENCRYPTION_KEY: KEY,
});

/** Starts today's program, and `npm run migrate`: both say in one line that a replica runs. */
async function expectRefusals(place: Readonly<Record<string, string>>): Promise<void> {
	for (const entry of [undefined, MIGRATE]) {
		const program = start(place, entry);
		const ended = await program.says('Handraise is ready').then(
			() => 'it started',
			() => program.closed,
		);
		expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(REFUSED) });
	}
}

/** A shallow clone lacks the commits. */
const HAS_RELEASES = (await Promise.all(RELEASES.map(({ commit }) => isCommit(commit)))).every(Boolean);

describe.each(RELEASES)(
	'beside a replica of $version',
	skipUnless(HAS_RELEASES, 'a shallow clone lacks the commits of the releases'),
	({ commit, schema }) => {
		let copy: Awaited<ReturnType<typeof copySource>>;
		beforeAll(async () => {
			copy = await copySource({ commit });
		});
		afterAll(() => copy[Symbol.asyncDispose]());

		it('PostgreSQL is not migrated until all have stopped', async () => {
			const place = await newDatabase();
			const first = await startReady(place, copy.entry);
			const second = await startReady(place, copy.entry);
			await expectRefusals(place);
			await end(first, 'SIGTERM');
			await expectRefusals(place);
			expect([second.child.exitCode, await schemaIn(place)]).toEqual([null, schema]);
			await end(second, 'SIGTERM');
			expect(await start(place, MIGRATE).closed).toMatchObject({ code: 0, stderr: '' });
			await startReady(place);
		});

		it('PostgreSQL is migrated as soon as they were killed or are frozen, also by several that start together', async () => {
			const place = await newDatabase();
			const replicas = await Promise.all([startReady(place, copy.entry), startReady(place, copy.entry)]);
			replicas[0].child.kill('SIGSTOP');
			await end(replicas[1], 'SIGKILL');
			await Promise.all([startReady(place), startReady(place)]);
			expect(await schemaIn(place)).toBeGreaterThan(schema);
		});

		it('the file of SQLite is refused until it has ended', async () => {
			const place = { DATA_DIR: await mkdtemp(join(world.dataDir, 'file-')) };
			const replica = await startReady(place, copy.entry);
			const { code, stderr } = await start(place).closed;
			expect([code, stderr]).toEqual([1, expect.stringMatching(/^Another process is using the database in .*\n$/)]);
			await end(replica, 'SIGKILL');
			await startReady(place);
		});
	},
);
