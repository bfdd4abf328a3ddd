import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../src/kernel/clock.ts';
import { readKeys } from '../src/store/encryption.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { rekey } from '../src/store/rekey.ts';
import type { Store, StoreOptions } from '../src/stores.ts';
import { filesHold, keyIdsOf, NEW, storeAnswers, storeValues, TEXTS, textsOf } from './store/key-values.ts';
import {
	accepted,
	createRecordingLog,
	item,
	KEY,
	keyFits,
	makeDataDir,
	OTHER_KEY,
	open,
	submission,
	valuesOf,
} from './store/support.ts';
import { runRekey } from './support/commands.ts';
import { startReader } from './support/reading-process.ts';
import { sharedPostgres } from './support/shared-postgres.ts';
import { readFixture } from './upgrade/fixture.ts';
import { RELEASES, STORES } from './upgrade/releases.ts';
import { loadRows } from './upgrade/rows.ts';

const PASSPHRASE = 'correct horse battery staple';
const NEEDED = { code: 'rekey_needed' };
const DONE = { code: 0, stderr: '' };

describe.each(STORES)('npm run rekey on %s', (kind) => {
	let directory: ReturnType<typeof makeDataDir>;
	let databaseUrl: string | null;
	beforeEach(async () => {
		directory = makeDataDir();
		databaseUrl = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : null;
	});
	afterEach(() => directory.remove());

	const opened = (encryptionKey: string, more: Partial<StoreOptions> = {}) =>
		open({ dataDir: directory.path, databaseUrl, encryptionKey, ...more });
	async function withStore<T>(encryptionKey: string, work: (store: Store) => Promise<T>): Promise<T> {
		const store = await opened(encryptionKey);
		return work(store).finally(store.close);
	}
	/** Whether a start with this key finds that it is the one of the database. */
	const fits = (key: string) => withStore(key, async (store) => keyFits(store));
	const env = (own: string, former: string) => ({
		DATA_DIR: directory.path,
		...(databaseUrl && { DATABASE_URL: databaseUrl }),
		ENCRYPTION_KEY: own,
		ENCRYPTION_KEY_FORMER: former,
	});
	const run = (own = NEW, former = KEY) => runRekey(env(own, former));
	const change = (store: Store, statement: string) => store.db.writeOne((trx) => sql.raw(statement).execute(trx));

	it('encrypts every stored value with the new key, and leaves nothing that the former one opens', async () => {
		const store = await opened(KEY);
		const readAll = await storeValues(store);
		const expected = await readAll(store);
		for (const text of Object.values(TEXTS)) expect(expected).toContain(text);
		const keyIds = Object.values(await keyIdsOf(store));
		expect(keyIds.filter((ids) => ids.length === 1)).toHaveLength(Object.keys(TEXTS).length);
		await store.close();

		const { stdout, ...outcome } = await run();
		expect(outcome).toEqual(DONE);
		expect(stdout).toMatch(
			/^The database is marked: .*\n11 stored values encrypted anew with ENCRYPTION_KEY\.\nRemove /,
		);
		expect(stdout).not.toContain('left alone');
		if (kind === 'sqlite') {
			expect(filesHold(directory.path, Object.values(TEXTS), KEY)).toEqual([]);
			expect(new Set(filesHold(directory.path, Object.values(TEXTS), NEW)).size).toBe(
				new Set(Object.values(TEXTS)).size + 1,
			);
		}
		await withStore(NEW, async (after) => {
			expect(keyFits(after)).toBe(true);
			expect(await readAll(after)).toBe(expected);
			for (const ids of Object.values(await keyIdsOf(after))) {
				expect(ids).toHaveLength(1);
				expect(keyIds.flat()).not.toContain(ids[0]);
			}
			const events = sql<object>`select outcome, actor from audit_events where action = 'keyChanged' order by number`;
			expect((await events.execute(after.db.read)).rows).toEqual([
				{ outcome: 'begun', actor: 'operator' },
				{ outcome: 'finished', actor: 'operator' },
			]);
		});
		expect(await fits(KEY)).toBe(false);
	});

	it('encrypts nothing when it is run again', async () => {
		await withStore(KEY, (store) => storeAnswers(store, 1));
		expect(await run()).toMatchObject(DONE);
		const { stdout, ...outcome } = await run();
		expect(outcome).toEqual(DONE);
		expect(stdout).toContain('\n0 stored values encrypted anew with ENCRYPTION_KEY.\nRemove ');
		expect(await fits(NEW)).toBe(true);
	});

	it.each(RELEASES)('keeps every text of a database that $version left', async (release) => {
		await loadRows(databaseUrl ?? directory.path, await readFixture(release, kind));
		const texts = await withStore(KEY, textsOf);
		expect(texts.filter((text) => text.includes('cannot be read'))).toEqual([]);
		expect(new Set(texts.map((text) => text.split(':')[0])).size).toBeGreaterThan(4);
		expect(await run()).toMatchObject(DONE);
		expect(await withStore(NEW, textsOf)).toEqual(texts);
	});

	it('is asked for by a start with a new key beside the former one', async () => {
		await withStore(KEY, (store) => storeAnswers(store, 1));
		await expect(opened(NEW, { formerKeys: KEY })).rejects.toMatchObject({
			...NEEDED,
			message: expect.stringMatching(
				/^The database is encrypted with ENCRYPTION_KEY_FORMER: `npm run rekey` encrypts it/,
			),
		});
		expect(await fits(KEY)).toBe(true);
	});

	it.each<[string, Readonly<Record<string, string>>, RegExp]>([
		[
			'another former key',
			{ ENCRYPTION_KEY_FORMER: OTHER_KEY },
			/^ENCRYPTION_KEY_FORMER is not the key of the database: .* Nothing was changed\. .*\n$/,
		],
		['no former key', { ENCRYPTION_KEY_FORMER: '' }, /^npm run rekey needs two keys: .* Nothing was changed\.\n$/],
		['no new key', { ENCRYPTION_KEY: '' }, /^(ENCRYPTION_KEY is missing: .*\n)+$/],
		['the same key twice', { ENCRYPTION_KEY: KEY }, /^ENCRYPTION_KEY_FORMER has the key of ENCRYPTION_KEY: .*\n$/],
	])('changes nothing with %s', async (_, wrong, words) => {
		await withStore(KEY, (store) => storeAnswers(store, 1));
		const { code, stdout, stderr } = await runRekey({ ...env(NEW, KEY), ...wrong });
		expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(words)]);
		for (const key of [KEY, NEW, OTHER_KEY]) expect(stderr).not.toContain(key);
		expect(await fits(KEY)).toBe(true);
	});

	it('takes several former keys, and passphrases', async () => {
		const { read, texts } = await withStore(PASSPHRASE, (store) => storeAnswers(store, 2));
		const held = submission({ sessionId: 'of-another-key', items: [item('blue'), item('hunter2', { secret: true })] });
		await withStore(OTHER_KEY, (store) => accepted(store, held));
		expect(await run(NEW, PASSPHRASE)).toMatchObject({
			...DONE,
			stdout: expect.stringContaining('2 values left alone'),
		});
		expect(await run(NEW, `${KEY}\n${OTHER_KEY}\n`)).toMatchObject(DONE);
		await withStore(NEW, async (store) => {
			expect(keyFits(store)).toBe(true);
			expect(await read(store)).toEqual(texts);
			expect(valuesOf(await store.answers.get(held.id))).toEqual(['blue', 'hunter2']);
		});
	});

	it('brings back what was stored with another key by mistake', async () => {
		const { read, texts } = await withStore(KEY, (store) => storeAnswers(store, 1));
		const wrong = await opened(OTHER_KEY);
		const readAll = await storeValues(wrong);
		const expected = await readAll(wrong);
		await wrong.close();
		expect(await run(KEY, OTHER_KEY)).toMatchObject(DONE);
		await withStore(KEY, async (store) => {
			expect(keyFits(store)).toBe(true);
			expect(await read(store)).toEqual(texts);
			expect(await readAll(store)).toBe(expected);
		});
		if (kind === 'sqlite') expect(filesHold(directory.path, Object.values(TEXTS), OTHER_KEY)).toEqual([]);
	});

	it('leaves damaged values and those of another row alone, and counts them', async () => {
		const { read } = await withStore(KEY, async (store) => {
			const { given, ...stored } = await storeAnswers(store, 4);
			const [damaged, moved, source] = given.map(({ id }) => id);
			await change(store, `update answers set content = substr(content, 1, 40) where id = '${damaged}'`);
			await change(
				store,
				`update answers set content = (select content from answers where id = '${source}') where id = '${moved}'`,
			);
			return stored;
		});
		expect((await run()).stdout).toContain('\n2 values left alone: ');
		expect(await withStore(NEW, read)).toEqual(['unreadable', 'unreadable', 'value-of-2.', 'value-of-3.']);
	});

	it('is the way on without a lost key, when its check value was removed', async () => {
		await withStore(KEY, (store) => storeAnswers(store, 1));
		const held = submission({ sessionId: 'of-the-next-key' });
		await withStore(OTHER_KEY, async (store) => {
			await accepted(store, held);
			await change(store, "delete from meta where name = 'key_check'");
		});
		expect(await fits(OTHER_KEY)).toBe(true);
		expect((await run(NEW, OTHER_KEY)).stdout).toContain('\n1 value left alone: ');
		expect(await withStore(NEW, async (store) => valuesOf(await store.answers.get(held.id)))).toEqual(['blue']);
	});

	it('can be taken back', async () => {
		const { read, texts } = await withStore(KEY, (store) => storeAnswers(store, 3));
		expect(await run()).toMatchObject(DONE);
		expect(await run(KEY, NEW)).toMatchObject(DONE);
		expect(await withStore(KEY, read)).toEqual(texts);
		expect(await fits(NEW)).toBe(false);
	});
});

describe('npm run rekey', () => {
	it('leaves the rest to the next start when another program reads the file of SQLite', async () => {
		const directory = makeDataDir();
		onTestFinished(directory.remove);
		const at = (encryptionKey: string) => open({ dataDir: directory.path, encryptionKey });
		const store = await at(KEY);
		const { read, texts } = await storeAnswers(store, 300);
		await store.close();
		const endReader = await startReader(join(directory.path, 'handraise.db'));
		const env = { DATA_DIR: directory.path, ENCRYPTION_KEY: NEW, ENCRYPTION_KEY_FORMER: KEY };
		const { code, stderr } = await runRekey(env);
		expect([code, stderr]).toEqual([1, expect.stringMatching(/^All is encrypted, but SQLite’s file still holds/)]);
		await endReader();
		expect(filesHold(directory.path, texts, KEY)).not.toEqual([]);
		const after = await at(NEW);
		expect(keyFits(after)).toBe(true);
		expect(await read(after)).toEqual(texts);
		await after.close();
		expect(filesHold(directory.path, texts, KEY)).toEqual([]);
	});

	it('is refused beside a process that does not stop, which can store nothing more', async () => {
		const databaseUrl = await (await sharedPostgres()).createDatabase();
		const frozen = await open({ dataDir: '/nonexistent', databaseUrl, encryptionKey: KEY });
		onTestFinished(frozen.close);
		const { read, texts } = await storeAnswers(frozen, 2);
		const db = openPostgres(databaseUrl, createRecordingLog());
		onTestFinished(db.close);
		let marks = 0;
		const attempt = () =>
			rekey({
				db,
				sqlite: null,
				keys: readKeys(NEW, KEY),
				by: 'ada@laptop',
				clock: HURRIED,
				log: createRecordingLog(),
				onMarked: () => void marks++,
			});
		await expect(attempt()).rejects.toMatchObject({ code: 'database_in_use' });
		expect(marks).toBe(1);
		await expect(accepted(frozen, submission({ sessionId: 'late' }))).rejects.toMatchObject({ code: 'database_newer' });
		expect(await frozen.replaced).toBe('database_rekeyed');
		await frozen.close();
		for (const key of [KEY, NEW])
			await expect(open({ dataDir: '/nonexistent', databaseUrl, encryptionKey: key })).rejects.toMatchObject(NEEDED);
		expect(await attempt()).toMatchObject({ written: 2, left: 0 });
		await db.close();
		const after = await open({ dataDir: '/nonexistent', databaseUrl, encryptionKey: NEW });
		expect(await read(after)).toEqual(texts);
		await after.close();
	});
});

/** Its time passes with each pause. */
const HURRIED: Clock = (() => {
	let passedMs = 0;
	return {
		...systemClock,
		now: () => systemClock.now() + passedMs,
		async sleep(ms: number) {
			passedMs += ms;
			await systemClock.sleep(1);
		},
	};
})();
