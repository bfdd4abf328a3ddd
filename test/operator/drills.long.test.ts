import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';
import { OWN_SCHEMA } from '../../src/store/migrate.ts';
import { installedPostgres, startInstalledPostgres } from '../../tools/ops/installed-postgres.ts';
import { copySource, isCommit } from '../faults/source-copy.ts';
import { runRekey } from '../support/commands.ts';
import { startProgram } from '../support/program.ts';
import { headline } from '../support/sentences.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { createWorld } from '../support/world.ts';
import { RELEASES } from '../upgrade/releases.ts';

// The drills of docs/operations.md, with its commands, against the program as a process. `DRILL_OUTPUT=1` prints them.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const POSTGRES = installedPostgres();

type Settings = Record<string, string>;

function note(output: string): void {
	if (process.env.DRILL_OUTPUT !== undefined) process.stdout.write(output);
}

/** A folder with the program, in which commands of the documents run. `ofOwner`: with PostgreSQL, what differs for its owner. */
async function createPlace(settingsOf: (directory: string) => Settings, ofOwner: Settings = {}) {
	const directory = await mkdtemp(join(tmpdir(), 'handraise-drill-'));
	for (const name of ['src', 'package.json', 'node_modules']) await symlink(join(ROOT, name), join(directory, name));
	const world = await createWorld({}, { resumeAfterMs: 50, pace: 0.02 });
	const { slack, service } = world;
	const settings: Settings = { ...world.env, ...settingsOf(directory) };
	const documented = (await readFile(join(ROOT, 'docs/operations.md'), 'utf8')).matchAll(/^```sh\n([\s\S]*?)^```$/gm);
	const commands = [...documented].flatMap(([, block = '']) => block.replaceAll(/&&\n/g, '&& ').trim().split('\n'));

	/** Runs the one documented line that begins so. */
	function run(beginning: string, input = '') {
		const [command = '', ...others] = new Set(commands.filter((line) => line.startsWith(beginning)));
		expect({ command, others }).toEqual({ command: expect.stringMatching(/./), others: [] });
		const path = [join(ROOT, 'node_modules/.bin'), POSTGRES, process.env.PATH].join(':');
		const env = { HOME: directory, ...COMPILE_CACHE, ...settings, ...ofOwner, PATH: path };
		const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
			cwd: directory,
			env,
			input,
			encoding: 'utf8',
		});
		note(`$ ${command}\n${stdout}${stderr}[exit code ${status}]\n`);
		return { status, stdout, stderr };
	}

	/** With PostgreSQL, its owner sets up the tables of this version. */
	async function migrate(main = join(ROOT, 'src/main.ts')): Promise<void> {
		if (ofOwner.DATABASE_URL === undefined) return;
		const migration = startProgram({ ...settings, ...ofOwner }, join(dirname(main), 'migrate.ts'));
		expect(await migration.closed).toMatchObject({ code: 0 });
	}

	async function start(changed: Settings = {}, main?: string) {
		const program = startProgram({ ...settings, ...changed }, main);
		onTestFinished(() => void program.child.kill('SIGKILL'));
		await program.says('Handraise is ready');
		return async () => {
			program.child.kill('SIGTERM');
			expect((await program.closed).code).toBe(0);
		};
	}

	/** Sends an answer by the window. `refused`: the service then refuses each request for the session, so nothing is sent. */
	async function answer(who: string, sessionId: string, refused = false) {
		const person = slack.as(who);
		await person.command('#agents', `/session ${sessionId}`);
		const modal = await person.waitForModal('Which flight?');
		await modal.fill(0, 'LH 1173');
		if (refused) service.faults.add({ kind: 'unauthorized', sessionId });
		expect((await modal.submit()).outcome).toBe('updated');
		await modal.close();
	}

	const saved = async (id: string) => {
		await expect.poll(() => service.log.savedPuts(id).length, { timeout: 90_000 }).toBe(1);
	};
	/** What `npm run doctor` prints, with PostgreSQL as the program's role. */
	const doctor = async (changed: Settings = {}) =>
		(await startProgram({ ...settings, ...changed }, join(ROOT, 'src/doctor.ts')).closed).stdout;
	/** The version whose programs `run` runs. */
	async function install(source: string): Promise<void> {
		await rm(join(directory, 'src'));
		await symlink(source, join(directory, 'src'));
	}
	return {
		slack,
		service,
		settings,
		run,
		doctor,
		install,
		migrate,
		start,
		answer,
		saved,
		async [Symbol.asyncDispose]() {
			await world[Symbol.asyncDispose]();
			await rm(directory, { recursive: true });
		},
	};
}

type Place = Awaited<ReturnType<typeof createPlace>>;

/** Two answers that the service does not take yet, and one that it has. */
async function answersBefore({ service, answer, saved }: Place) {
	for (const id of ['before', 'meanwhile', 'kept', 'since']) service.sessions.put(id, askingSession(['Which flight?']));
	await answer('ada', 'before');
	await saved('before');
	// No PUT begins without a read, so no attempt is under way in a backup, however long the machine takes for it.
	for (const sessionId of ['meanwhile', 'kept']) await answer('grace', sessionId, true);
}

/** One of the two is delivered, and another answer is given. */
async function answersSince({ service, answer, saved }: Place) {
	service.faults.clear();
	service.faults.add({ kind: 'unauthorized', sessionId: 'kept' });
	await saved('meanwhile');
	await answer('ada', 'since');
	await saved('since');
}

/** Starts it on the restored database: nothing is sent twice, and what the backup has is delivered. */
async function expectRestored({ slack, service, start, saved }: Place, changed: Settings = {}) {
	service.faults.clear();
	const stop = await start(changed);
	await saved('kept');
	const told = () => slack.as('grace').dm((message) => message.text().includes('meanwhile'));
	await expect.poll(() => told().at(-1)?.text(), { timeout: 90_000 }).toContain(headline('conflicted'));
	for (const id of ['before', 'meanwhile', 'since', 'kept']) {
		expect([id, service.log.savedPuts(id).length, service.sessions.values(id, 1)]).toEqual([id, 1, ['LH 1173']]);
	}
	expect(slack.violations()).toEqual([]);
	await stop();
}

/** A version with one more migration, as the next release may have. */
let newer: Awaited<ReturnType<typeof copySource>>;
beforeAll(async () => {
	newer = await copySource({
		edits: [
			{
				file: 'store/migrate.ts',
				constant: 'MIGRATIONS',
				becomes: `[...$value, { number: ${OWN_SCHEMA + 1}, name: 'next',
					up: async (db) => void (await sql\`alter table answers add column next text\`.execute(db)) }]`,
			},
		],
	});
});
afterAll(() => newer[Symbol.asyncDispose]());

/** Upgrades to a version that changes the schema; people answer; the former version cannot start any more. */
async function badUpgrade(place: Place) {
	await place.migrate(newer.entry);
	const stop = await place.start({}, newer.entry);
	await answersSince(place);
	await stop();
	const former = await startProgram(place.settings).closed;
	expect(former).toMatchObject({
		code: 1,
		stderr: expect.stringContaining('restore the backup made before the upgrade'),
	});
	note(`$ npm start   # the former version\n${former.stderr}[exit code ${former.code}]\n`);
}

const [{ version: VERSION, commit: RELEASE, schema: RELEASED_SCHEMA }] = RELEASES;
const WITH_RELEASE = skipUnless(await isCommit(RELEASE), 'a shallow clone lacks the commit of the release');
const NEW_KEY = { ENCRYPTION_KEY: 'cd'.repeat(32) };

/** The steps from the release, with answers that wait; then the key is changed, as the page says for one process. */
async function upgradeAndChangeKey(place: Place, backup: 'npm run backup' | 'pg_dump', former: Settings) {
	await using released = await copySource({ commit: RELEASE });
	await place.install(dirname(released.entry));
	await place.migrate(released.entry);
	const stopReleased = await place.start({}, released.entry);
	await answersBefore(place);
	expect(place.run(backup).status).toBe(0);
	await stopReleased();

	await place.install(join(ROOT, 'src'));
	const isOfOwner = backup === 'pg_dump';
	const before = await place.doctor();
	note(before);
	const toMigrate = isOfOwner ? 'npm run migrate' : `The first start migrates it to schema ${OWN_SCHEMA}`;
	expect(before).toContain(RELEASED_SCHEMA < OWN_SCHEMA ? toMigrate : `, at schema ${OWN_SCHEMA}.`);
	await place.migrate();
	const stop = await place.start();
	expect(await place.doctor()).toContain(`, at schema ${OWN_SCHEMA}.`);
	place.service.faults.clear();
	place.service.faults.add({ kind: 'unauthorized', sessionId: 'kept' });
	await place.saved('meanwhile');
	await stop();

	const both = { ...NEW_KEY, ...former };
	expect(await place.doctor(both)).toContain('`npm run rekey` encrypts it with ENCRYPTION_KEY');
	expect(await runRekey({ ...place.settings, ...both })).toMatchObject({ code: 0, stderr: '' });
	expect(await place.doctor(both)).toContain('no stored value needs');
	const stopChanged = await place.start(NEW_KEY);
	expect(await place.doctor(NEW_KEY)).toContain('ENCRYPTION_KEY is that of the database');
	place.service.faults.clear();
	await place.saved('kept');
	await stopChanged();
	for (const id of ['before', 'meanwhile', 'kept']) expect(place.service.sessions.values(id, 1)).toEqual(['LH 1173']);
	expect(place.slack.violations()).toEqual([]);
}

const LIST = [
	/^Answers that were given or have changed since the backup: \d$/m,
	/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}U0GRACE \(T0ACME\) {2}session meanwhile, message 1: (resumed|delivered) \(in the backup: accepted\)$/m,
	/^.* UTC {2}U0ADA \(T0ACME\) {2}session since, message 1: (resumed|delivered)$/m,
];

describe('SQLite', { timeout: 180_000 }, () => {
	it('rollback and restore drill: the list of the answers since, the disk is lost, then the former version', async () => {
		await using drill = await createPlace((directory) => ({ DATA_DIR: join(directory, 'data') }));
		const stop = await drill.start();
		await answersBefore(drill);
		expect(drill.run('npm run backup').status).toBe(0);
		await stop();
		await badUpgrade(drill);
		const restored = drill.run('npm run restore', 'yes\n');
		expect(restored.status).toBe(0);
		for (const line of LIST) expect(restored.stdout).toMatch(line);
		expect(restored.stdout).not.toContain('LH 1173');

		const { DATA_DIR: dataDir = '' } = drill.settings;
		const [key, database] = [join(dataDir, 'encryption.key'), join(dataDir, 'handraise.db')];
		const [theKey, rolledBack] = [await readFile(key), await readFile(database)];
		await rm(dataDir, { recursive: true });
		await mkdir(dataDir);
		await writeFile(key, theKey);
		const lost = drill.run('npm run restore', 'yes\n');
		expect(lost).toMatchObject({ status: 0, stdout: expect.stringContaining('nobody knows which answers') });
		expect(rolledBack.equals(await readFile(database))).toBe(true);
		await expectRestored(drill);
	});
});

it(`upgrade drill: SQLite of ${VERSION} by the steps of the page, then another key`, {
	...WITH_RELEASE,
	timeout: 240_000,
}, async () => {
	await using drill = await createPlace((directory) => ({ DATA_DIR: join(directory, 'data') }));
	const file = join(drill.settings.DATA_DIR ?? '', 'encryption.key');
	await upgradeAndChangeKey(drill, 'npm run backup', { ENCRYPTION_KEY_FORMER_FILE: file });
});

// pg_dump is in no package of npm.
describe('PostgreSQL', { ...skipUnless(POSTGRES !== null, 'pg_dump is not installed'), timeout: 180_000 }, () => {
	it('restore and rollback drill: a second database, the list, then the former version on it', async () => {
		await using postgres = await startInstalledPostgres(POSTGRES ?? '');
		const ofOwner = {
			DATABASE_URL: postgres.url('handraise_owner', 'handraise'),
			RESTORED_URL: postgres.url('handraise_owner', 'restored'),
		};
		await using drill = await createPlace(
			() => ({ DATABASE_URL: postgres.url('handraise', 'handraise'), ENCRYPTION_KEY: 'ab'.repeat(32) }),
			ofOwner,
		);
		await drill.migrate();
		const stop = await drill.start();
		await answersBefore(drill);
		expect(drill.run('pg_dump').status).toBe(0);
		await stop();
		await badUpgrade(drill);
		const { status, stdout } = drill.run('psql');
		expect(status).toBe(0);
		for (const line of LIST) expect(stdout).toMatch(line);
		await expectRestored(drill, { DATABASE_URL: postgres.url('handraise', 'restored') });
	});

	it(`upgrade drill: PostgreSQL of ${VERSION} by the steps of the page, then another key`, WITH_RELEASE, async () => {
		await using postgres = await startInstalledPostgres(POSTGRES ?? '');
		const former = 'ab'.repeat(32);
		await using drill = await createPlace(
			() => ({ DATABASE_URL: postgres.url('handraise', 'handraise'), ENCRYPTION_KEY: former }),
			{ DATABASE_URL: postgres.url('handraise_owner', 'handraise') },
		);
		await upgradeAndChangeKey(drill, 'pg_dump', { ENCRYPTION_KEY_FORMER: former });
	});
});
