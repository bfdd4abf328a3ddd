import { OTHER_KEY } from '../database/support.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { type Case, testBroken } from './broken.ts';
import { postgresAt } from './databases.ts';

const database: Case[] = [
	{
		name: 'PostgreSQL refuses the password',
		env: async ({ secrets }) => {
			const url = new URL(await (await sharedPostgres()).createDatabase());
			url.password = 'canary-password';
			return { DATABASE_URL: url.href, ENCRYPTION_KEY: secrets.encryptionKey };
		},
		says: /^✗ Database: PostgreSQL refuses the user or the password \(28P01\)/,
	},
	{
		name: 'PostgreSQL has no such database',
		env: async ({ secrets }) => {
			const url = new URL(await (await sharedPostgres()).createDatabase());
			url.pathname = '/nowhere';
			return { DATABASE_URL: url.href, ENCRYPTION_KEY: secrets.encryptionKey };
		},
		says: /^✗ Database: PostgreSQL has no such database \(3D000\): create it/,
	},
	{
		name: 'a newer version used PostgreSQL',
		env: ({ secrets, dataDir }) => postgresAt(dataDir, secrets.encryptionKey, 'newer'),
		says: /^✗ Database: PostgreSQL \d+\.\d+\. The database has schema 999, which a newer Handraise made; .* Start the newer version/,
	},
	{
		name: 'an older version used PostgreSQL',
		env: ({ secrets, dataDir }) => postgresAt(dataDir, secrets.encryptionKey, 'older'),
		says: /^✗ Database: PostgreSQL \d+\.\d+\. The database has schema 1, which an older Handraise made .* Start the older version/,
	},
	{
		name: 'the PostgreSQL database is of another workspace too',
		env: ({ secrets, dataDir }) => postgresAt(dataDir, secrets.encryptionKey, 'shared'),
		says: /^! Database: .*of another workspace than T0ACME \(3 of T0OTHER\)/,
		exit: 0,
	},
	{
		name: 'PostgreSQL does not sync',
		env: async ({ secrets }) => ({
			DATABASE_URL: await (await sharedPostgres()).createDatabase(),
			ENCRYPTION_KEY: secrets.encryptionKey,
		}),
		says: /^! Database: PostgreSQL runs with fsync=off/,
		exit: 0,
	},
];

const key: Case[] = [
	{
		name: 'the passphrase is the one of PostgreSQL',
		env: ({ dataDir }) => postgresAt(dataDir, 'canary battery staple', 'none'),
		says: /^✓ Encryption key: ENCRYPTION_KEY is the one the database was made with/,
		exit: 0,
	},
	{
		name: 'no value of PostgreSQL needs the former key',
		env: async ({ secrets, dataDir }) => ({
			...(await postgresAt(dataDir, secrets.encryptionKey, 'none')),
			ENCRYPTION_KEY_FORMER: OTHER_KEY,
		}),
		says: /^✓ Encryption key: no stored value needs a former key any more: remove ENCRYPTION_KEY_FORMER from all replicas\. Backups, and dead rows until VACUUM, still need it\.$/,
		exit: 0,
	},
	{
		name: 'PostgreSQL was made with another key',
		env: async ({ secrets, dataDir }) => ({
			...(await postgresAt(dataDir, secrets.encryptionKey, 'none')),
			ENCRYPTION_KEY: OTHER_KEY,
		}),
		says: /^✗ Encryption key: ENCRYPTION_KEY is not the key the database was made with/,
	},
];

testBroken('database', database);
testBroken('encryption key', key);
