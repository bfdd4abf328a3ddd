import { chmodSync, closeSync, copyFileSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { formShown, OTHER_KEY, open, submission, T0 } from '../../store/support.ts';
import { type Cases, testBroken } from './broken.ts';
import { databaseAt } from './databases.ts';
import { type Harness, nobody } from './harness.ts';

/** Leaves the files of a killed process, with commits still in the log. Only those with `suffixes`. */
async function leaveLog({ dataDir }: Harness, suffixes: readonly string[]): Promise<void> {
	const elsewhere = join(dataDir, 'elsewhere');
	const store = await open({ dataDir: elsewhere });
	await formShown(store, { question: submission().question }, T0);
	for (const name of ['encryption.key', ...suffixes.map((suffix) => `handraise.db${suffix}`)]) {
		copyFileSync(join(elsewhere, name), join(dataDir, name));
	}
	await store.close();
	rmSync(elsewhere, { recursive: true });
}

/** Overwrites the middle of the file. */
function damage(path: string): void {
	const descriptor = openSync(path, 'r+');
	const size = statSync(path).size;
	writeSync(descriptor, Buffer.alloc(size - 8_192, 0xa5), 0, size - 8_192, 8_192);
	closeSync(descriptor);
}

const database: Cases = {
	'a newer version used the database': {
		breaks: (harness) => databaseAt(harness, 'newer'),
		says: /^✗ Database: SQLite not in use\. The database has schema 999, which a newer Handraise made; .* Start the newer version, or restore/,
	},
	'an older version used the database': {
		breaks: (harness) => databaseAt(harness, 'older'),
		says: /^✗ Database: SQLite not in use\. The database has schema 1, which a Handraise before 2\.0\.0 made; .* Start 2\.0\.0 with it once/,
	},
	'the database is of another workspace too': {
		breaks: (harness) => databaseAt(harness, 'shared'),
		// A watch with its first card, and an answer.
		says: /^! Database: it has watches, posts and answers of another workspace than T0ACME \(3 of T0OTHER\), .*SLACK_BOT_TOKEN/,
	},
	'the service has moved': {
		breaks: (harness) => databaseAt(harness, 'moved'),
		says: /^✗ Service address: The watches, lists and answers in the database are for https:\/\/service\.example, .*--service-moved/,
	},
	'the database has rows of a former address of the service': {
		breaks: (harness) => databaseAt(harness, 'both'),
		says: /^! Service address: what is stored for https:\/\/service\.example \(1 answer, 0 watches, lists for 0 sessions\) is left alone: .*--service-moved/,
	},
	'the file is not a database': {
		breaks: ({ dataDir }) => writeFileSync(join(dataDir, 'handraise.db'), 'once upon a time '.repeat(500)),
		says: /^✗ Database: DATA_DIR\/handraise\.db cannot be used: it is not a SQLite database/,
	},
	'the file is damaged': {
		breaks: async (harness) => {
			await databaseAt(harness, 'none');
			damage(join(harness.dataDir, 'handraise.db'));
		},
		says: /^✗ Database: DATA_DIR\/handraise\.db cannot be used: it is damaged/,
	},
	'Handraise was killed, which is fine': {
		breaks: (harness) => leaveLog(harness, ['', '-wal', '-shm']),
		says: /^✓ Database: SQLite not in use, at schema \d+\.$/,
	},
	'the file was copied while Handraise ran': {
		breaks: (harness) => leaveLog(harness, ['', '-wal']),
		says: /^! Database: DATA_DIR\/handraise\.db-wal holds the last commits and cannot be read without a change to it/,
	},
	'DATA_DIR is a file': {
		env: ({ dataDir }) => {
			writeFileSync(join(dataDir, 'file'), '');
			return { DATA_DIR: join(dataDir, 'file', 'data') };
		},
		says: /^✗ DATA_DIR: .* is a file: set DATA_DIR to a directory/,
	},
	'PostgreSQL is down': {
		env: async ({ secrets }) => ({
			DATABASE_URL: `postgres://user:canary-password@${new URL(await nobody()).host}/handraise`,
			ENCRYPTION_KEY: secrets.encryptionKey,
		}),
		says: /^✗ Database: PostgreSQL cannot be reached: nothing listens .*\(ECONNREFUSED\)\. Start it/,
	},
	'PostgreSQL has no key': {
		env: () => ({ DATABASE_URL: 'postgres://user:canary-password@127.0.0.1:1/handraise' }),
		says: /^✗ Settings: ENCRYPTION_KEY is missing: with DATABASE_URL all replicas need the same key/,
	},
};

const key: Cases = {
	'the key is malformed': {
		env: () => ({ ENCRYPTION_KEY: 'canary-phrase' }),
		says: /^✗ Encryption key: ENCRYPTION_KEY must be 32 bytes as base64/,
	},
	'the key is another one': {
		breaks: (harness) => databaseAt(harness, 'none', harness.secrets.encryptionKey),
		env: () => ({ ENCRYPTION_KEY: OTHER_KEY }),
		says: /^✗ Encryption key: ENCRYPTION_KEY is not the key of the database/,
	},
	'the passphrase is another one': {
		breaks: (harness) => databaseAt(harness, 'none', 'canary battery staple'),
		env: () => ({ ENCRYPTION_KEY: 'canary battery stable' }),
		says: /^✗ Encryption key: ENCRYPTION_KEY is not the key of the database/,
	},
	'the key file is gone': {
		breaks: async (harness) => {
			await databaseAt(harness, 'none');
			rmSync(join(harness.dataDir, 'encryption.key'));
		},
		says: /^✗ Encryption key: .*encryption\.key is gone, and the database has a key: restore it/,
	},
	'others may read the key file': {
		breaks: async (harness) => {
			await databaseAt(harness, 'none');
			chmodSync(join(harness.dataDir, 'encryption.key'), 0o640);
		},
		says: /^! Encryption key: .* has mode 0640, so others on this machine may use the key: chmod 600/,
	},
};

testBroken('database', database);
testBroken('encryption key', key);
