import { describe, expect, it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { cipherOf, describeFormerKeys, NEW, type Options, startsAt, storeAnswers } from './contract/former-keys.ts';
import { keyIdsOf } from './key-values.ts';
import { accepted, KEY, OTHER_KEY, submission, valuesOf } from './support.ts';

const where = async (): Promise<Options> => ({
	dataDir: '/nonexistent',
	databaseUrl: await (await sharedPostgres()).createDatabase(),
});

describeFormerKeys('PostgreSQL', where);

it('a former key that was used by mistake is needed after a stop in the middle of bringing its values back', async () => {
	const { start, first, isEnough } = startsAt(await where());
	await (await first()).close();
	const wrong = await start({ encryptionKey: OTHER_KEY });
	const { read, texts } = await storeAnswers(wrong.store, 250);
	await wrong.close();
	const both = { encryptionKey: KEY, formerKeys: OTHER_KEY };
	const now = await start(both);
	now.store.reencryption?.start();
	await expect.poll(() => now.counts.at(-1), { interval: 1 }).toBeLessThan(250);
	await now.close();
	expect(now.counts.at(-1)).toBeGreaterThan(0);
	expect(await isEnough(KEY)).toBe(false);
	const then = await start(both);
	await then.change();
	await then.close();
	expect(await isEnough(KEY)).toBe(true);
	expect(await read((await first()).store)).toEqual(texts);
});

describe('replicas on PostgreSQL', () => {
	const both = { encryptionKey: NEW, formerKeys: KEY };

	it('read each other’s values in each step of a change, also what is written with the former key after it', async () => {
		const { start } = startsAt(await where());
		const [old, writing] = [await start({ encryptionKey: KEY }), await start({ ...both, writesFormer: true })];
		const values = [await storeAnswers(old.store, 20), await storeAnswers(writing.store, 0)];
		const late = submission({ sessionId: 'late' });
		await accepted(writing.store, late);
		expect(valuesOf(await old.store.answers.get(late.id))).toEqual(['blue']);
		await old.close();
		const now = await start(both);
		await now.change();
		for (const { read, texts } of values) expect(await read(writing.store)).toEqual(texts);
		expect(await values[0]?.read(now.store)).toEqual(values[0]?.texts);
		const shown = now.counts.length;
		const later = submission({ sessionId: 'later' });
		await accepted(writing.store, later);
		await writing.close();
		await expect.poll(() => now.counts.slice(shown)).toEqual([1, 0]);
		expect((await keyIdsOf(now.store))['answers.content']).toEqual([cipherOf(NEW).keyId]);
		await now.close();
		const after = await start({ encryptionKey: NEW });
		expect(after.fits()).toBe(true);
		for (const { id } of [late, later]) expect(valuesOf(await after.store.answers.get(id))).toEqual(['blue']);
	});

	it('encrypt again one at a time; another one goes on at once after a stop, and all show the progress', async () => {
		const { start } = startsAt(await where());
		const before = await start({ encryptionKey: KEY });
		const { read, texts } = await storeAnswers(before.store, 300);
		await before.close();
		const [one, other] = [await start(both), await start(both)];
		one.store.reencryption?.start();
		await expect.poll(() => one.counts.at(-1), { interval: 1 }).toBeLessThan(300);
		other.store.reencryption?.start();
		await expect.poll(() => other.counts.at(-1), { interval: 1 }).toBeLessThan(300);
		expect(other.messages()).not.toContainEqual(expect.stringContaining('are encrypted again'));
		await one.close();
		await other.change();
		expect(await read(other.store)).toEqual(texts);
		expect(other.counts.at(-1)).toBe(0);
	});
});
