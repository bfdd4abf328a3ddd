import { expect, it } from 'vitest';
import { OTHER_KEY } from '../../store/support.ts';
import { connectTo } from '../../support/postgres.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { type Cases, testBroken } from './broken.ts';
import { postgresAt } from './databases.ts';
import { createHarness } from './harness.ts';
import { operate, verdicts } from './live.ts';
import { expectLists } from './may.ts';

const database: Cases = {
	'PostgreSQL refuses the password': {
		env: async ({ secrets }) => {
			const url = new URL(await (await sharedPostgres()).createDatabase());
			url.password = 'canary-password';
			return { DATABASE_URL: url.href, ENCRYPTION_KEY: secrets.encryptionKey };
		},
		says: /^✗ Database: PostgreSQL refuses the user or the password \(28P01\)/,
	},
	'PostgreSQL has no such database': {
		env: async ({ secrets }) => {
			const url = new URL(await (await sharedPostgres()).createDatabase());
			url.pathname = '/nowhere';
			return { DATABASE_URL: url.href, ENCRYPTION_KEY: secrets.encryptionKey };
		},
		says: /^✗ Database: PostgreSQL has no such database \(3D000\): create it/,
	},
	'a newer version used PostgreSQL': {
		env: ({ secrets, dataDir }) => postgresAt(dataDir, secrets.encryptionKey, 'newer'),
		says: /^✗ Database: PostgreSQL \d+\.\d+\. The database has schema 999, which a newer Handraise made; .* Start the newer version/,
	},
	'PostgreSQL does not sync, and its database is of another workspace too': {
		env: ({ secrets, dataDir, service }) => postgresAt(dataDir, secrets.encryptionKey, 'shared', service.url),
		says: [
			/^! Database: .*of another workspace than T0ACME \(3 of T0OTHER\)/,
			/^! Database: PostgreSQL runs with fsync=off/,
		],
	},
};

const key: Cases = {
	'the service has moved': {
		env: ({ secrets, dataDir }) => postgresAt(dataDir, secrets.encryptionKey, 'moved'),
		says: /^✗ Service address: .* are for https:\/\/service\.example, .*--service-moved/,
	},
	'the passphrase is the one of PostgreSQL': {
		env: ({ dataDir }) => postgresAt(dataDir, 'canary battery staple', 'none'),
		says: /^✓ Encryption key: ENCRYPTION_KEY is that of the database\.$/,
	},
	'no value of PostgreSQL needs the former key': {
		env: async ({ secrets, dataDir }) => ({
			...(await postgresAt(dataDir, secrets.encryptionKey, 'none')),
			ENCRYPTION_KEY_FORMER: OTHER_KEY,
		}),
		says: /^✓ Encryption key: no stored value needs ENCRYPTION_KEY_FORMER: remove it\. Backups, and dead rows until VACUUM, still need it\.$/,
	},
	'PostgreSQL was made with another key': {
		env: async ({ secrets, dataDir }) => ({
			...(await postgresAt(dataDir, secrets.encryptionKey, 'none')),
			ENCRYPTION_KEY: OTHER_KEY,
		}),
		says: /^✗ Encryption key: ENCRYPTION_KEY is not the key of the database/,
	},
};

testBroken('database', database);
testBroken('encryption key', key);

it('doctor live begins only when no Handraise is connected to the database', async () => {
	await using harness = await createHarness();
	const url = await (await sharedPostgres()).createDatabase();
	const env = { DATABASE_URL: url, ENCRYPTION_KEY: harness.secrets.encryptionKey };
	// A replica, which may run on another machine.
	const replica = await connectTo(url, 'handraise');
	const { exit, lines } = await operate(harness, { env });
	await replica.end();
	expect(lines).toEqual([
		expect.stringMatching(/^✗ Live check: stop Handraise first, .* Its database is in use\.$/),
		'1 problem to fix.',
	]);
	expect(exit).toBe(1);
	expect(verdicts((await operate(harness, { env })).lines).different).toEqual([]);
});

it('may: knows from PostgreSQL whom the channel names as those who may answer', async () => {
	await using harness = await createHarness();
	const { encryptionKey } = harness.secrets;
	const env = await postgresAt(harness.dataDir, encryptionKey, 'none');
	await expectLists(harness, { dataDir: harness.dataDir, databaseUrl: env.DATABASE_URL ?? '', encryptionKey }, env);
});
