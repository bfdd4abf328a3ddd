import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { accepted, item, OTHER_KEY, open, submission } from '../database/support.ts';
import { startApp } from '../support/app.ts';
import { type Case, testBroken } from './broken.ts';
import { createHarness, type Harness } from './harness.ts';

const NEW = 'a canary passphrase';

/** A database of the former key with two values; on SQLite one of them is a secret, which has a key of its own. */
async function underFormerKey({ dataDir, secrets }: Harness, damages = false): Promise<void> {
	const store = await open({ dataDir, encryptionKey: secrets.encryptionKey });
	const { id } = await accepted(store, submission({ items: [item('blue'), item('hunter2', { secret: true })] }));
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
		says: /^✗ Encryption key: neither ENCRYPTION_KEY nor ENCRYPTION_KEY_FORMER is the key the database was made with/,
	},
	{
		name: 'the former key was removed too early',
		breaks: async (harness) => {
			await underFormerKey(harness);
			const { dataDir, secrets } = harness;
			await (await open({ dataDir, encryptionKey: NEW, formerKeys: secrets.encryptionKey })).close();
		},
		env: () => ({ ENCRYPTION_KEY: NEW }),
		says: /^✗ Encryption key: some stored answers and drafts need a former key that is not given: set ENCRYPTION_KEY_FORMER again/,
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
		says: /^! Encryption key: no given key opens 1 stored value: damaged, or of another key/,
		exit: 0,
	},
];

testBroken('former keys', cases);

it('tells beside the program which has changed the key that the former one is not needed any more', async () => {
	await using app = await startApp();
	const former = join(app.dataDir, 'encryption.key');
	await app.restart({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former });
	const metric = async () =>
		/^handraise_values_under_former_keys (.*)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1];
	await expect.poll(metric).toBe('0');
	await using harness = await createHarness();
	const env = { DATA_DIR: app.dataDir, ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former };
	const { lines } = await harness.doctorProcess(env);
	expect(lines).toContainEqual(
		'✓ Encryption key: no stored value needs a former key any more, and no file holds one: remove ENCRYPTION_KEY_FORMER. Backups still need it.',
	);
});
