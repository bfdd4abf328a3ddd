import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCipher, keyOf, parseEncryptionKey, readKeySetting } from '../../src/store/encryption.ts';
import { loadOrMakeKeyFile } from '../../src/store/key-file.ts';
import type { Store } from '../../src/stores.ts';
import { runs } from '../support/runs.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import {
	ANN,
	accepted,
	BOB,
	createRecordingLog,
	draftOf,
	item,
	KEY,
	keyFits,
	LEASE,
	lease,
	makeDataDir,
	OTHER_KEY,
	open,
	present,
	rowsOf,
	submission,
	T0,
	valuesOf,
} from './support.ts';

const cipher = createCipher(Buffer.alloc(32, 1));
const place = { table: 'answers', id: 'a1', column: 'content' } as const;

describe('the cipher', () => {
	it('decrypts a text at the place where it was encrypted', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (text) => {
				expect(cipher.decrypt(cipher.encrypt(text, place), place)).toBe(text);
			}),
			{ numRuns: runs(100) },
		);
	});

	it('encrypts the same text differently each time', () => {
		expect(cipher.encrypt('blue', place)).not.toBe(cipher.encrypt('blue', place));
	});

	const sealed = cipher.encrypt('blue', place);
	const prefix = sealed.replace(/[^.]*$/, '');
	const ofOther = createCipher(Buffer.alloc(32, 2)).encrypt('blue', place);

	it.each([
		['was moved to another table', sealed, { ...place, table: 'drafts' }],
		['was moved to another row', sealed, { ...place, id: 'a2' }],
		['was moved to another column', sealed, { ...place, column: 'other' }],
		[
			'was moved to a place that is equal when joined',
			cipher.encrypt('blue', { table: 'answers', id: 'a.b', column: 'c' } as never),
			{ table: 'answers', id: 'a', column: 'b.c' },
		],
		['is of another key', ofOther, place],
		['is of another key with a forged key id', `${prefix}${ofOther.split('.')[2]}`, place],
		['is empty', '', place],
		['is no ciphertext', 'blue', place],
		['is a number', '1', place],
		['has a form and no more', '2.abc', place],
		['has another form', sealed.replace('2', '1'), place],
		['has a prefix and no more', prefix, place],
		['is too short by a byte', `${prefix}${Buffer.alloc(27).toString('base64')}`, place],
	])('decrypts no text that %s', (_, text, where) => {
		expect(cipher.decrypt(text, where as never)).toBeNull();
	});

	it('decrypts no text with a changed byte', () => {
		const start = sealed.lastIndexOf('.') + 1;
		const bytes = Buffer.from(sealed.slice(start), 'base64');
		for (let index = 0; index < bytes.length; index++) {
			const changed = Buffer.from(bytes);
			changed[index] = (changed[index] ?? 0) ^ 1;
			expect(cipher.decrypt(sealed.slice(0, start) + changed.toString('base64'), place)).toBeNull();
		}
	});
});

let directory: ReturnType<typeof makeDataDir>;
beforeEach(() => {
	directory = makeDataDir();
});
afterEach(() => directory.remove());

describe('ENCRYPTION_KEY', () => {
	const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index * 5));

	it.each([
		['hexadecimal', bytes.toString('hex')],
		['upper case hexadecimal', bytes.toString('hex').toUpperCase()],
		['base64', bytes.toString('base64')],
		['base64 for URLs, without padding', bytes.toString('base64url')],
		['base64 with a line end', `${bytes.toString('base64')}\n`],
	])('accepts 32 bytes as %s', (_how, text) => {
		expect(parseEncryptionKey(text).equals(bytes)).toBe(true);
	});

	it.each([
		['nothing', ''],
		['a passphrase', 'correct horse battery staple correct horse'],
		['16 bytes', Buffer.alloc(16, 1).toString('hex')],
		['31 bytes', Buffer.alloc(31, 1).toString('base64')],
		['33 bytes', Buffer.alloc(33, 1).toString('base64')],
		['64 characters that are not hexadecimal', 'z'.repeat(64)],
	])('refuses an ENCRYPTION_KEY that is %s, tells what to do and does not repeat it', (_what, text) => {
		let message = '';
		try {
			parseEncryptionKey(text);
		} catch (error) {
			expect(error).toMatchObject({ code: 'encryption_key_invalid' });
			message = (error as Error).message;
		}
		expect(message).toContain('openssl rand -base64 32');
		if (text !== '') expect(message).not.toContain(text);
	});

	it('accepts a passphrase of 16 characters, which gives a different key with each salt', () => {
		const key = (text: string, salt: string | null) => keyOf(readKeySetting(text), salt).toString('hex');
		const passphrase = 'correct horse battery staple';
		expect(key(passphrase, 'salt')).toHaveLength(64);
		expect(key(`${passphrase}\n`, 'salt')).toBe(key(passphrase, 'salt'));
		expect(
			new Set([key(passphrase, 'salt'), key(`${passphrase}r`, 'salt'), key(passphrase, 'other'), key(passphrase, null)])
				.size,
		).toBe(4);
		expect(key(bytes.toString('hex'), 'salt')).toBe(bytes.toString('hex'));
		expect(() => readKeySetting('fifteen letters')).toThrow(
			expect.objectContaining({ code: 'encryption_key_invalid' }),
		);
	});

	it('checks ENCRYPTION_KEY before it opens a file', async () => {
		await expect(open({ dataDir: join(directory.path, 'data'), encryptionKey: 'short' })).rejects.toMatchObject({
			code: 'encryption_key_invalid',
		});
		expect(existsSync(join(directory.path, 'data'))).toBe(false);
	});

	it('creates no key file when ENCRYPTION_KEY is set', async () => {
		const store = await open({ dataDir: directory.path, encryptionKey: KEY });
		await store.close();
		expect(readdirSync(directory.path)).not.toContain('encryption.key');
	});
});

describe('the key file', () => {
	it('creates the key file once, readable only by its owner', () => {
		const key = loadOrMakeKeyFile(directory.path);
		expect(key).toHaveLength(32);
		expect(readdirSync(directory.path)).toEqual(['encryption.key']);
		expect((statSync(join(directory.path, 'encryption.key')).mode & 0o777).toString(8)).toBe('600');
		expect(loadOrMakeKeyFile(directory.path).equals(key)).toBe(true);
		expect(parseEncryptionKey(readFileSync(join(directory.path, 'encryption.key'), 'utf8')).equals(key)).toBe(true);
	});

	it('never replaces a key file with other content', () => {
		writeFileSync(join(directory.path, 'encryption.key'), 'not a key');
		expect(() => loadOrMakeKeyFile(directory.path)).toThrow(
			expect.objectContaining({ code: 'encryption_key_invalid' }),
		);
		expect(readFileSync(join(directory.path, 'encryption.key'), 'utf8')).toBe('not a key');
	});

	it('reports a key file that cannot be created', () => {
		const missing = join(directory.path, 'missing');
		expect(() => loadOrMakeKeyFile(missing)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
	});
});

const STORES = [
	['SQLite', async () => ({ dataDir: directory.path })],
	[
		'PostgreSQL',
		async () => ({ dataDir: directory.path, databaseUrl: await (await sharedPostgres()).createDatabase() }),
	],
] as const;

describe.each(STORES)('a passphrase on %s', (_name, where) => {
	const encryptionKey = 'correct horse battery staple';
	const meta = async (store: Store, name: string) => (await rowsOf(store, 'meta', { name }))[0]?.value ?? null;

	it('derives a key from the passphrase and the salt of each database, the same at every start', async () => {
		const options = await where();
		const first = await open({ ...options, encryptionKey });
		const salt = await meta(first, 'key_salt');
		expect(Buffer.from(salt ?? '', 'base64')).toHaveLength(16);
		const { keyId } = createCipher(keyOf(readKeySetting(encryptionKey), null));
		expect(await meta(first, 'key_check')).not.toContain(`.${keyId}.`);
		const given = await accepted(first, submission());
		await first.close();
		const again = await open({ ...options, encryptionKey });
		expect(keyFits(again)).toBe(true);
		expect(valuesOf(await again.answers.get(given.id))).toEqual(['blue']);
		expect(await meta(again, 'key_salt')).toBe(salt);
		await again.close();
		const wrong = await open({ ...options, encryptionKey: `${encryptionKey}s` });
		expect(keyFits(wrong)).toBe(false);
		await wrong.close();
	});
});

it('derives the same key from a passphrase in replicas that start together on an empty PostgreSQL', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: 'correct horse battery staple' };
	const stores = await Promise.all(Array.from({ length: 4 }, () => open(options)));
	expect(stores.map(keyFits)).toEqual([true, true, true, true]);
	const given = await accepted(present(stores[0]), submission());
	for (const other of stores) expect(valuesOf(await other.answers.get(given.id))).toEqual(['blue']);
	for (const one of stores) await one.close();
});

describe.each(STORES)('a wrong key on %s', (_name, where) => {
	it('reports a wrong key at the start and at the row, and everything else works', async () => {
		const options = await where();
		const first = await open({ ...options, encryptionKey: KEY });
		expect(keyFits(first)).toBe(true);
		const old = submission({ items: [item('blue'), item('hunter2', { secret: true })] });
		await accepted(first, old);
		const person = { ...ANN, userId: 'U-DRAFT' };
		const draft = draftOf({ formId: 'f', person, question: old.question, values: { 0: 'a' } });
		await first.drafts.save(draft);
		await first.close();

		const log = createRecordingLog();
		const store = await open({ ...options, encryptionKey: OTHER_KEY, log });
		expect(log.lines).toMatchObject([{ level: 'warn', fields: { event: 'encryption_key_mismatch' } }]);

		expect(await store.answers.get(old.id)).toMatchObject({ content: { kind: 'unreadable' }, state: 'accepted' });
		expect(await store.drafts.get('f')).toBeNull();
		expect(await store.drafts.newest(person, old.question)).toBeNull();
		expect((await store.answers.accept(submission())).kind).toBe('taken');
		expect((await store.answers.accept({ ...old, items: [item('red')] })).kind).toBe('repeated');
		const leased = await lease(store, old.id);
		const refused = await store.answers.update(
			leased,
			LEASE.token,
			{ state: 'refused', other: { person: null, values: [], at: null, answerId: null, same: false } },
			{ now: T0 },
		);
		expect(refused).toMatchObject({ state: 'refused', content: { kind: 'unreadable' } });
		expect((await store.answers.retry(old.id, ANN, T0, T0))?.kind).toBe('valuesGone');
		const { service, sessionId } = old.question;
		expect((await store.answers.history({ service, sessionId, teamId: 'T1' }, { offset: 0, limit: 9 })).total).toBe(2);
		const fresh = await accepted(store, submission({ sessionId: 's2' }));
		expect(valuesOf(await store.answers.get(fresh.id))).toEqual(['blue']);
		await store.drafts.save({ ...draft, updatedAt: T0 + 1 });
		expect((await store.drafts.get('f'))?.values).toEqual({ 0: 'a' });
		await store.close();

		const back = await open({ ...options, encryptionKey: KEY });
		expect(keyFits(back)).toBe(true);
		// Its secret was wiped although its key was missing.
		expect(await rowsOf(back, 'answers', { id: old.id })).toMatchObject([{ secrets: null }]);
		await back.close();
	});
});

const CANARY = 'canary-7f3a';

/** Writes the canary into every place that holds text of people. */
async function writeCanaries(store: Awaited<ReturnType<typeof open>>): Promise<void> {
	const items = [item(`${CANARY}-open`, { title: `${CANARY}-title` }), item(`${CANARY}-secret`, { secret: true })];
	await accepted(store, submission({ items }), 'waiting');
	await accepted(store, submission({ person: BOB, items }));
	await accepted(store, submission({ sessionId: 's2', items }), 'delivering', 'delivered');
	await store.drafts.save(draftOf({ values: { 0: CANARY } }));
}

it('writes no text of people unencrypted into the files of SQLite or into the log', async () => {
	const directory = makeDataDir();
	const log = createRecordingLog();
	const store = await open({ dataDir: directory.path, log });
	await writeCanaries(store);
	// In another process: reading the file here would release this process's locks on it.
	const found = () =>
		execFileSync('sh', ['-c', `grep -lac ${CANARY} "$1"/* || true`, 'sh', directory.path], { encoding: 'utf8' });
	expect(found()).toBe('');
	// Proves that the search works: ids are not encrypted.
	expect(execFileSync('sh', ['-c', 'grep -la U-ANN "$1"/*', 'sh', directory.path], { encoding: 'utf8' })).toContain(
		'handraise.db',
	);
	await store.close();
	expect(found()).toBe('');
	expect(JSON.stringify(log.lines)).not.toContain(CANARY);
	await directory.remove();
});

it('writes no text of people unencrypted into PostgreSQL', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const store = await open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY });
	await writeCanaries(store);
	for (const table of ['answers', 'drafts', 'meta'] as const) {
		const rows = await rowsOf(store, table);
		expect(rows.length).toBeGreaterThan(0);
		expect(JSON.stringify(rows)).not.toContain(CANARY);
	}
	await store.close();
});
