import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { sealCheck } from '../../../src/store/encryption.ts';
import { expect, it, startApp } from '../../kit.ts';
import { cipherOf } from '../../store/key-values.ts';
import { accepted, item, OTHER_KEY, open, submission } from '../../store/support.ts';
import { runRekey } from '../../support/commands.ts';
import { startReader } from '../../support/reading-process.ts';
import { type Cases, testBroken } from './broken.ts';
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

/** Two values, one of them a secret, of another key. */
async function mistaken(harness: Harness): Promise<void> {
	await underFormerKey(harness);
	const store = await open({ dataDir: harness.dataDir, encryptionKey: OTHER_KEY });
	await accepted(store, submission({ sessionId: 'meanwhile', items: [item('x', { secret: true }), item('y')] }));
	await store.close();
}

async function rekeyed(harness: Harness): Promise<void> {
	await underFormerKey(harness);
	const { code } = await runRekey({ DATA_DIR: harness.dataDir, ...keys(harness) });
	expect(code).toBe(0);
}

async function changeMeta({ dataDir, secrets }: Harness, statement: RawBuilder<unknown>): Promise<void> {
	const store = await open({ dataDir, encryptionKey: secrets.encryptionKey });
	await store.db.writeOne((trx) => statement.execute(trx));
	await store.close();
}

const cases: Cases = {
	'npm run rekey is to be run': {
		breaks: (harness) => underFormerKey(harness),
		env: keys,
		says: /^✗ Encryption key: The database is encrypted with ENCRYPTION_KEY_FORMER: `npm run rekey` encrypts it with ENCRYPTION_KEY\. /,
	},
	'npm run rekey has not finished': {
		breaks: async (harness) => {
			await underFormerKey(harness);
			const added = ` ${sealCheck(cipherOf(OTHER_KEY))}`;
			await changeMeta(harness, sql`update meta set value = value || ${added} where name = 'key_check'`);
		},
		env: ({ secrets }) => ({ ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_FORMER: secrets.encryptionKey }),
		says: /^✗ Encryption key: npm run rekey has begun .* has not finished: let it finish, or run it again with the same keys\. /,
	},
	'npm run rekey has finished': {
		breaks: rekeyed,
		env: keys,
		says: /^✓ Encryption key: no stored value needs ENCRYPTION_KEY_FORMER, nor does handraise\.db hold one that does: remove it\. Backups still need it, also handraise\.db\.before-… of a restore\.$/,
	},
	'the former key is another one': {
		breaks: (harness) => underFormerKey(harness),
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: OTHER_KEY }),
		says: /^✗ Encryption key: neither ENCRYPTION_KEY nor ENCRYPTION_KEY_FORMER is the key of the database: 2 stored values cannot be read\. Set that key, or name it in ENCRYPTION_KEY_FORMER and run npm run rekey; docs\/leaks\.md tells of a lost one\.$/,
	},
	'another key was used by mistake for a while': {
		breaks: mistaken,
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey }),
		says: /^✗ Encryption key: 2 stored values cannot be read without a former key that is not given: stop Handraise, name that in ENCRYPTION_KEY_FORMER, and run npm run rekey\.$/,
	},
	'another key was used by mistake for a while, and is given': {
		breaks: mistaken,
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey, ENCRYPTION_KEY_FORMER: OTHER_KEY }),
		says: /^✗ Encryption key: 2 stored values cannot be read without ENCRYPTION_KEY_FORMER: stop Handraise, and run npm run rekey\.$/,
	},
	'a lost key is given up, before the next start': {
		breaks: async (harness) => {
			await underFormerKey(harness);
			await changeMeta(harness, sql`delete from meta where name = 'key_check'`);
		},
		env: () => ({ ENCRYPTION_KEY: NEW }),
		says: /^✗ Encryption key: 2 stored values cannot be read without a former key that is not given: /,
	},
	'the key of a file does not open everything': {
		breaks: async ({ dataDir }) => {
			for (const encryptionKey of [undefined, OTHER_KEY]) {
				const store = await open({ dataDir, encryptionKey });
				await accepted(store, submission({ sessionId: `with ${encryptionKey}` }));
				await store.close();
			}
		},
		says: /^✗ Encryption key: 1 stored value cannot be read without a former key that is not given: /,
	},
	'a former key is malformed': {
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: 'a former passphrase\ncanary\n' }),
		says: /^✗ Encryption key: Line 2 of ENCRYPTION_KEY_FORMER must be 32 bytes .*, or a passphrase of 16 characters or more; it has 6 characters\.$/,
	},
	'the former key is the new one': {
		env: () => ({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: NEW }),
		says: /^✗ Encryption key: ENCRYPTION_KEY_FORMER has the key of ENCRYPTION_KEY: it takes only keys that were used before\.$/,
	},
	'a value is damaged': {
		breaks: (harness) => underFormerKey(harness, true),
		env: ({ secrets }) => ({ ENCRYPTION_KEY: secrets.encryptionKey }),
		says: /^! Encryption key: no key opens 1 stored value, because of damage\. /,
	},
};

testBroken('former keys', cases);

it('names what holds up the end of a change, when another program reads the database, and says when it has ended', async () => {
	await using app = await startApp();
	await using harness = await createHarness();
	const former = join(app.dataDir, 'encryption.key');
	const endReader = await startReader(join(app.dataDir, 'handraise.db'));
	await app.stop();
	const env = { DATA_DIR: app.dataDir, ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former };
	expect(await runRekey(env)).toMatchObject({ code: 1, stderr: expect.stringContaining('End it, and run this again') });
	await app.restart({ ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER_FILE: former });
	const said = async () => (await harness.doctorProcess(env)).lines.find((line) => line.includes('Encryption key:'));
	const says = (line: string) => expect.poll(said, { timeout: 20_000 }).toBe(line);
	await says(
		'! Encryption key: no stored value needs ENCRYPTION_KEY_FORMER, but SQLite’s file still holds what it opens. The running Handraise writes the file anew; if this stays, end the program that reads the database (a backup, a shell).',
	);
	await endReader();
	await says(
		'✓ Encryption key: no stored value needs ENCRYPTION_KEY_FORMER, nor does handraise.db hold one that does: remove it. Backups still need it, also handraise.db.before-… of a restore.',
	);
});
