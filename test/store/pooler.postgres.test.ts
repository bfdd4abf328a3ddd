import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { lockFor } from '../../src/store/locks.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { migratePostgres } from '../../src/stores.ts';
import { afterAll, askingSession, DELIVERED, describe, expect, it, openSession, startApp, vi } from '../kit.ts';
import { createHarness } from '../operator/doctor/harness.ts';
import { createDocumentedRoles } from '../support/documented-roles.ts';
import { freePort } from '../support/postgres.ts';
import { openTemporaryDirectory } from '../support/postgres-binaries.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { describeManyRaces } from './contract/races.ts';
import { replicasFrom } from './contract.ts';
import { context } from './migrating-process.ts';
import { createRecordingLog, KEY, LEASE, leased, open, submission, T0 } from './support.ts';

/** No npm package has it, so only machines where it is installed run what needs it. */
const PGBOUNCER = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
	.map((folder) => join(folder, 'pgbouncer'))
	.find((path) => existsSync(path));

/** PgBouncer in front of the server of `databaseUrl`, for its user, with these settings. `url`: the same through it. */
async function startPgbouncer(databaseUrl: string, settings: readonly string[]) {
	const target = new URL(databaseUrl);
	const port = await freePort();
	const directory = await mkdtemp(join(openTemporaryDirectory(), 'handraise-pgbouncer-'));
	await chmod(directory, 0o755);
	const path = join(directory, 'pgbouncer.ini');
	await writeFile(join(directory, 'users.txt'), `"${target.username}" "${target.password}"\n`);
	await writeFile(
		path,
		[
			'[databases]',
			`* = host=${target.hostname} port=${target.port}`,
			'[pgbouncer]',
			'listen_addr = 127.0.0.1',
			`listen_port = ${port}`,
			'unix_socket_dir =',
			'auth_type = scram-sha-256',
			`auth_file = ${join(directory, 'users.txt')}`,
			...settings,
		].join('\n'),
	);
	// It refuses to run as root.
	const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
	const child = spawn(PGBOUNCER ?? 'pgbouncer', [...asOther, path], { stdio: ['ignore', 'ignore', 'pipe'] });
	let log = '';
	child.stderr.on('data', (text) => {
		log += text;
	});
	await listens(child, port).catch(() => {
		throw new Error(`pgbouncer did not start:\n${log}`);
	});
	const url = new URL(databaseUrl);
	[url.hostname, url.port] = ['127.0.0.1', String(port)];
	return {
		url: url.href,
		log: () => log,
		async [Symbol.asyncDispose]() {
			const exited = once(child, 'exit');
			child.kill('SIGKILL');
			await exited;
			await rm(directory, { recursive: true, force: true });
		},
	};
}

async function listens(child: ChildProcess, port: number): Promise<void> {
	while (child.exitCode === null) {
		const socket = connect(port, '127.0.0.1');
		const isOpen = await once(socket, 'connect').then(
			() => true,
			() => false,
		);
		socket.destroy();
		if (isOpen) return;
		await pause(20);
	}
	throw new Error('it ended');
}

const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const DOCUMENTED = [...text.matchAll(/`((?:pool_mode|ignore_startup_parameters) = [^`]+)`/g)].map(
	([, line = '']) => line,
);
const [ROLE_SETTING = ''] = /alter role handraise set statement_timeout = '\w+'/.exec(text) ?? [];
/** Fewer connections to the server than a replica opens to the pooler. */
const SETTINGS = [...DOCUMENTED, 'default_pool_size = 3', 'max_client_conn = 200'];

describe(
	'through PgBouncer in transaction mode',
	skipUnless(PGBOUNCER !== undefined, 'PgBouncer is not installed'),
	() => {
		let roles: Awaited<ReturnType<typeof createDocumentedRoles>>;
		let pooler: Awaited<ReturnType<typeof startPgbouncer>>;
		const replicas = replicasFrom(async () => {
			roles = await createDocumentedRoles();
			// Sooner than documented, so that the server's time-out comes long before ours.
			await roles.asAdmin(ROLE_SETTING.replace('handraise', roles.role).replace('2s', '1s'));
			// A pooler keeps no setting of a session, so each transaction states its isolation.
			await roles.asAdmin(`alter database ${roles.role} set default_transaction_isolation = 'repeatable read'`);
			await migrateWhileLocked();
			pooler = await startPgbouncer(roles.url, SETTINGS);
			const options = { databaseUrl: pooler.url, dataDir: '/nonexistent', encryptionKey: KEY };
			const [store, replica] = await Promise.all([open(options), open(options)]);
			return { store, replica, close: () => Promise.all([store.close(), replica.close()]).then(() => undefined) };
		});
		afterAll(() => pooler?.[Symbol.asyncDispose]());

		/** Through a pooler, as a role with a time-out that is shorter than the wait for another migration. */
		async function migrateWhileLocked(): Promise<void> {
			await roles.asAdmin(`alter role ${roles.role}_owner set statement_timeout = '50ms'`);
			await using ofOwner = await startPgbouncer(roles.ownerUrl, SETTINGS);
			const other = openPostgres(roles.ownerUrl, createRecordingLog());
			let migrating: Promise<unknown> = Promise.resolve();
			await other.write(async (db) => {
				await lockFor(db, 'migrating');
				migrating = migratePostgres(ofOwner.url, context());
				const waits = `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'
				and clock_timestamp() - query_start > interval '200 ms'`;
				await Promise.race([migrating, vi.waitUntil(async () => (await roles.asAdmin(waits)).length === 1)]);
			});
			await migrating;
			await other.close();
		}

		it('the documents name its settings', () => {
			expect([DOCUMENTED.length, ROLE_SETTING]).toEqual([2, "alter role handraise set statement_timeout = '2s'"]);
		});

		describeManyRaces(replicas, 20);

		it('ends a statement that waits too long by the setting of the role', async () => {
			const given = await leased(replicas.store, submission());
			await replicas.replica.db.write(async (db) => {
				await db.selectFrom('answers').select('id').where('id', '=', given.id).forUpdate().execute();
				await expect(replicas.store.answers.renew(given.id, LEASE, T0)).rejects.toThrow('SQLSTATE 57014');
			});
		});

		it('people answer with two replicas, and the doctor finds nothing wrong', async () => {
			const env = { DATABASE_URL: pooler.url, ENCRYPTION_KEY: KEY };
			await using app = await startApp({ env });
			await app.startOther();
			for (const number of [1, 2, 3, 4]) {
				app.service.sessions.put(`s${number}`, askingSession(['Name']));
				const form = await openSession(app, `s${number}`);
				await form.fill(0, 'Ada');
				await form.submit();
				await (await app.slack.as('ada').waitForModal(DELIVERED, 20_000)).close();
				expect(app.service.log.savedPuts(`s${number}`)).toHaveLength(1);
			}
			// Prepared statements of another connection, and what a pooler refuses.
			expect(app.log.filter((line) => /"(?:26000|42P05|08P01)"/.test(line))).toEqual([]);
			await using harness = await createHarness();
			const { lines } = await harness.doctor(env);
			expect(lines.filter((line) => line.includes('Database:')).join()).toMatch(
				/^✓ Database: PostgreSQL .*, at schema \d+\./,
			);
		});

		it('the doctor says what a pooler lacks that refuses the time-outs', async () => {
			await using strict = await startPgbouncer(roles.url, ['pool_mode = transaction']);
			await using harness = await createHarness();
			const start = open({ databaseUrl: strict.url, dataDir: '/nonexistent', encryptionKey: KEY });
			await expect(start).rejects.toThrow('PostgreSQL is unavailable (SQLSTATE 08P01)');
			const { lines } = await harness.doctor({ DATABASE_URL: strict.url, ENCRYPTION_KEY: KEY });
			expect(lines.join('\n')).toContain(
				'A connection pooler refuses the connection (08P01): see ignore_startup_parameters',
			);
		});
	},
);
