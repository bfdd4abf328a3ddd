import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../support/random.ts';
import { describeFormerKeys, filesHold, NEW, startsAt, storeAnswers } from './contract/former-keys.ts';
import { storeValues, TEXTS } from './key-values.ts';
import { accepted, item, KEY, makeDataDir, OTHER_KEY, submission, valuesOf } from './support.ts';

const PASSPHRASE = 'correct horse battery staple';

let directory: ReturnType<typeof makeDataDir>;
beforeEach(() => {
	directory = makeDataDir();
});
afterEach(() => directory.remove());

describeFormerKeys('SQLite', async () => ({ dataDir: directory.path }));

describe('former keys', () => {
	let keys: ReturnType<typeof startsAt>;
	beforeEach(() => {
		keys = startsAt({ dataDir: directory.path });
	});

	it('leave no copies of rows that grew and moved', async () => {
		const before = await keys.first();
		const random = createRandom(3);
		const { given, texts } = await storeAnswers(before.store, 300);
		for (const { id } of given) {
			const text = 'x'.repeat(random.whole(0, 600));
			await before.store.db.write((trx) => sql`update answers set last_error = ${text} where id = ${id}`.execute(trx));
		}
		await before.close();
		const now = await keys.both();
		await now.change();
		await now.close();
		expect(filesHold(directory.path, texts, KEY)).toEqual([]);
	});

	it('may be several, keys and passphrases', async () => {
		const oldest = await keys.start({ encryptionKey: PASSPHRASE });
		const { read, texts } = await storeAnswers(oldest.store, 2);
		await oldest.close();
		const before = await keys.start({ encryptionKey: KEY, formerKeys: PASSPHRASE });
		expect(await read(before.store)).toEqual(texts);
		const held = await accepted(before.store, submission({ sessionId: 'of-the-second-key' }));
		await before.close();
		expect(await keys.isEnough(KEY)).toBe(false);

		const one = await keys.both();
		expect(one.fits()).toBe(false);
		await one.close();
		const now = await keys.both({ formerKeys: `${KEY}\n${PASSPHRASE}\n` });
		expect(now.fits()).toBe(true);
		await now.change();
		expect(await read(now.store)).toEqual(texts);
		expect(valuesOf(await now.store.answers.get(held.id))).toEqual(['blue']);
		await now.close();
		expect(await keys.isEnough(NEW)).toBe(true);
	});

	it('change nothing when they are wrong', async () => {
		const before = await keys.first();
		const { read, texts } = await storeAnswers(before.store, 2);
		await before.close();
		const wrong = await keys.both({ formerKeys: OTHER_KEY });
		expect(wrong.fits()).toBe(false);
		await wrong.change();
		expect(wrong.linesOf('values_unreadable')).toMatchObject([{ level: 'warn', fields: { count: 2 } }]);
		expect(await read(wrong.store)).toEqual(['unreadable', 'unreadable']);
		await wrong.close();
		expect(await keys.isEnough(NEW)).toBe(false);
		const now = await keys.both();
		await now.change();
		expect(await read(now.store)).toEqual(texts);
		await now.close();
		expect(await keys.isEnough(NEW)).toBe(true);
	});

	it('bring back what was stored with another key by mistake', async () => {
		const before = await keys.first();
		const { read, texts } = await storeAnswers(before.store, 1);
		await before.close();
		const wrong = await keys.start({ encryptionKey: OTHER_KEY });
		const readAll = await storeValues(wrong.store);
		const expected = await readAll(wrong.store);
		await wrong.close();
		const now = await keys.start({ encryptionKey: KEY, formerKeys: OTHER_KEY });
		await now.change();
		await now.close();
		const after = await keys.first();
		expect(after.fits()).toBe(true);
		expect(await read(after.store)).toEqual(texts);
		expect(await readAll(after.store)).toBe(expected);
		await after.close();
		expect(filesHold(directory.path, Object.values(TEXTS), OTHER_KEY)).toEqual([]);
	});

	it('do not open damaged values and those of another row, which are left alone and reported once', async () => {
		const before = await keys.first();
		const { given, read } = await storeAnswers(before.store, 4);
		const [damaged, moved, source] = given.map(({ id }) => id);
		for (const change of [
			sql`update answers set content = substr(content, 1, 40) where id = ${damaged}`,
			sql`update answers set content = (select content from answers where id = ${source}) where id = ${moved}`,
		])
			await before.store.db.writeOne((trx) => change.execute(trx));
		await before.close();
		const now = await keys.both();
		await now.change();
		expect(now.counts.at(-1)).toBe(0);
		expect(now.linesOf('values_unreadable')).toMatchObject([{ fields: { count: 2 } }]);
		await now.close();
		const after = await keys.start({ encryptionKey: NEW });
		expect(await read(after.store)).toEqual(['unreadable', 'unreadable', 'value-of-2.', 'value-of-3.']);
	});

	it('can be the key to write with, before and after the change, and the change can be taken back', async () => {
		const before = await keys.first();
		const { read, texts } = await storeAnswers(before.store, 2);
		await before.close();
		// It writes with the newest key of the database, wherever that stands in the list.
		const writing = await keys.both({ formerKeys: `${OTHER_KEY}\n${KEY}`, writesFormer: true });
		expect(writing.store.reencryption).toBeNull();
		expect(writing.counts).toEqual([Number.NaN]);
		const held = submission({ sessionId: 'with-the-former', items: [item('blue'), item('hunter2', { secret: true })] });
		await accepted(writing.store, held);
		await writing.close();
		expect(await keys.isEnough(KEY)).toBe(true);

		const now = await keys.both();
		await now.change();
		await now.close();
		const back = await keys.both({ writesFormer: true });
		expect(back.fits()).toBe(true);
		expect(await read(back.store)).toEqual(texts);
		await accepted(back.store, submission({ sessionId: 'with-the-former-again' }));
		await back.close();
		expect(await keys.isEnough(NEW)).toBe(false);

		const swapped = await keys.start({ encryptionKey: KEY, formerKeys: NEW });
		await swapped.change();
		expect(await read(swapped.store)).toEqual(texts);
		expect(valuesOf(await swapped.store.answers.get(held.id))).toEqual(['blue', 'hunter2']);
		await swapped.close();
		expect(await keys.isEnough(KEY)).toBe(true);
		expect(filesHold(directory.path, ['value-of-', 'hunter2'], NEW)).toEqual([]);
	});
});
