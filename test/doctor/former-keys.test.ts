import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { accepted, item, OTHER_KEY, open, submission } from '../database/support.ts';
import { startApp } from '../support/app.ts';
import { type Case, testBroken } from './broken.ts';
import { databaseAt } from './databases.ts';
import { createHarness, type Harness } from './harness.ts';

const NEW = 'a canary passphrase';

/** A database of the former key with two values; on SQLite one of them is a secret, which has a key of its own. */
async function underFormerKey({ dataDir, secrets, service }: Harness, damages = false): Promise<void> {
	const store = await open({ dataDir, encryptionKey: secrets.encryptionKey });
	const question = { service: service.url, sessionId: 's1', messageIndex: 1 };
	const items = [item('blue'), item('hunter2', { secret: true })];
	const { id } = await accepted(store, submission({ question, items }));
	if (damages)
		await store.db.writeOne((trx) => sql`update answers set content = 'nothing' where id = ${id}`.execute(trx));
	await store.close();
}

const keys = ({ secrets }: Harness) => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: secrets.encryptionKey });

const cases: Case[] = [
	{
		name: 'values need a former key',
		breaks: (harness) => underFormerKey(harness),
		env: keys,
		says: /^✓ Encryption key: ENCRYPTION_KEY_FORMER is needed by 2 stored values still: keep it\. Handraise, when it runs, encrypts them with ENCRYPTION_KEY and compacts/,
		exit: 0,
	},
	{
		name: 'the former version left the database, so nothing was counted',
		breaks: (harness) => databaseAt(harness, 'former', harness.secrets.encryptionKey),
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey, ENCRYPTION_KEY_FORMER: OTHER_KEY }),
		says: /^✓ Encryption key: the keys fit\. .* counted after the migration: keep ENCRYPTION_KEY_FORMER\.$/,
		exit: 0,
	},
	{
		name: 'the former key is written with',
		breaks: (harness) => underFormerKey(harness),
		env: (harness) => ({ ...keys(harness), ENCRYPTION_KEY_WRITE: 'former' }),
		says: /^✓ Encryption key: .* by 2 stored values still: keep it\. ENCRYPTION_KEY_WRITE is former, so new ones need it too: remove that when all/,
		exit: 0,
	},
	{
		name: 'the former key is another one',
		breaks: (harness) => underFormerKey(harness),
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: OTHER_KEY }),
		says: /^✗ Encryption key: neither ENCRYPTION_KEY nor ENCRYPTION_KEY_FORMER is the key the database was made with: 2 stored values cannot be read\. Restore the former key; docs\/leaks\.md tells of a lost one\.$/,
	},
	{
		name: 'the former key was removed too early',
		breaks: async (harness) => {
			await underFormerKey(harness);
			const { dataDir, secrets } = harness;
			await (await open({ dataDir, encryptionKey: NEW, formerKeys: secrets.encryptionKey })).close();
		},
		env: () => ({ ENCRYPTION_KEY: NEW }),
		says: /^✗ Encryption key: a former key is needed that is not given, by 1 stored value: set it as ENCRYPTION_KEY_FORMER again until this says that none is\.$/,
	},
	{
		name: 'another key was used by mistake for a while',
		breaks: async (harness) => {
			await underFormerKey(harness);
			const { dataDir } = harness;
			const store = await open({ dataDir, encryptionKey: OTHER_KEY });
			await accepted(store, submission({ sessionId: 'meanwhile', items: [item('x', { secret: true }), item('y')] }));
			await store.close();
		},
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey }),
		says: /^✗ Encryption key: a former key is needed that is not given, by 2 stored values: set it as/,
	},
	{
		name: 'the key of a file does not open everything',
		breaks: async ({ dataDir }) => {
			for (const encryptionKey of [undefined, OTHER_KEY]) {
				const store = await open({ dataDir, encryptionKey });
				await accepted(store, submission({ sessionId: `with ${encryptionKey}` }));
				await store.close();
			}
		},
		says: /^✗ Encryption key: a former key is needed that is not given, by 1 stored value: set it as/,
	},
	{
		name: 'a former key is malformed',
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: 'a former passphrase\ncanary\n' }),
		says: /^✗ Encryption key: Line 2 of ENCRYPTION_KEY_FORMER must be 32 bytes .*, or a passphrase of 16 characters or more; it has 6 characters\.$/,
	},
	{
		name: 'the former key is the new one',
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: NEW }),
		says: /^✗ Encryption key: ENCRYPTION_KEY_FORMER has the key of ENCRYPTION_KEY: it takes only keys that were used before\.$/,
	},
	{
		name: 'a value is damaged',
		breaks: (harness) => underFormerKey(harness, true),
		env: keys,
		says: /^! Encryption key: no key opens 1 stored value, because of damage\. /,
		exit: 0,
	},
	{
		name: 'a value is damaged, without a former key',
		breaks: (harness) => underFormerKey(harness, true),
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey }),
		says: /^! Encryption key: no key opens 1 stored value, because of damage\. /,
		exit: 0,
	},
];

testBroken('former keys', cases);

it('names what holds up the end of a change, when another program reads the database, and says when it has ended', async () => {
	await using app = await startApp();
	await using harness = await createHarness();
	const former = join(app.dataDir, 'encryption.key');
	const reader = startReader(join(app.dataDir, 'handraise.db'));
	await reader.reads;
	await app.restart({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former });
	const env = { DATA_DIR: app.dataDir, ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former };
	const said = async () => (await harness.doctorProcess(env)).lines.find((line) => line.includes('Encryption key:'));
	await expect
		.poll(said, { timeout: 20_000 })
		.toBe(
			'! Encryption key: all is encrypted again, but SQLite’s file still holds what the former key opens: keep ENCRYPTION_KEY_FORMER. The running Handraise compacts the file; if this stays, end the program that reads the database (a backup, a shell).',
		);
	await reader.end();
	await expect
		.poll(said, { timeout: 20_000 })
		.toBe(
			'✓ Encryption key: no stored value needs a former key any more, and no file holds one: remove ENCRYPTION_KEY_FORMER. Backups still need it.',
		);
});

/** Another process that reads the database in a transaction. */
function startReader(path: string) {
	const child = spawn(process.execPath, ['--eval', READER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
	const ended = once(child, 'exit');
	onTestFinished(() => void child.kill());
	return {
		reads: once(child.stdout, 'data'),
		async end() {
			child.kill();
			await ended;
		},
	};
}
const READER = `const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(process.argv[1]);
database.exec('begin');
database.prepare('select * from meta').all();
setInterval(() => database, 1_000);
console.log('reads');`;
