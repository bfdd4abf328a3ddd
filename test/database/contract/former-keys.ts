import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/basics.ts';
import type { Cipher } from '../../../src/database/database.ts';
import { createCipher, createKeyRing, parseEncryptionKey } from '../../../src/database/encryption.ts';
import { createReencryption } from '../../../src/database/reencryption.ts';
import type { Store, StoreOptions } from '../../../src/stores.ts';
import { keyIdsOf, storeValues, TEXTS } from '../key-values.ts';
import { onCopy, readableRemains } from '../remains.ts';
import {
	accepted,
	CONNECTIONS,
	createRecordingLog,
	inTurns,
	item,
	KEY,
	open,
	submission,
	valuesOf,
} from '../support.ts';

export const NEW = Buffer.alloc(32, 9).toString('base64');
export const cipherOf = (key: string) => createCipher(parseEncryptionKey(key));

/** Long pauses are short, so that what comes after minutes comes at once. */
export const HURRIED: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal) };

export type Options = Partial<StoreOptions> & Pick<StoreOptions, 'dataDir'>;

async function openWithLog(options: Options) {
	const [log, counts] = [createRecordingLog(), [] as number[]];
	const onFormerValues = (count: number) => {
		if (!Object.is(counts.at(-1), count)) counts.push(count);
	};
	const store = await open({ clock: HURRIED, log, onFormerValues, ...options });
	onTestFinished(store.close);
	const messages = () => log.lines.map(({ message }) => message);
	const linesOf = (event: string) => log.lines.filter(({ fields }) => 'event' in fields && fields.event === event);
	return {
		store,
		/** Numbers of values that need a former key, as the program shows them, without repeats. */
		counts,
		linesOf,
		/** Whether its start found no value of a key that was not given. */
		fits: () => linesOf('encryption_key_mismatch').length === 0,
		close: store.close,
		messages,
		/** Encrypts until no value needs a former key, and SQLite's file is compact. */
		async change() {
			store.reencryption?.start();
			await expect.poll(messages, { interval: 10 }).toContainEqual(expect.stringContaining('remove ENC'));
		},
	};
}

/** Which of the texts, and a ciphertext of this key for each file with one. */
export const filesHold = (directory: string, texts: readonly string[], key: string): string[] =>
	onCopy(directory, (copy) => {
		const files = readdirSync(copy).map((name) => readFileSync(join(copy, name), 'latin1'));
		const ciphertexts = files.filter((file) => file.includes(`1.${cipherOf(key).keyId}.`)).map(() => 'a ciphertext');
		return [...readableRemains(copy, parseEncryptionKey(key), texts), ...ciphertexts];
	});

/** Stores answers, each with another text. */
export async function storeAnswers(store: Store, count: number) {
	const given = Array.from({ length: count }, (_, index) =>
		submission({ sessionId: `s${index}`, items: [item(`value-of-${index}.`)] }),
	);
	await inTurns(given, CONNECTIONS, (one) => accepted(store, one));
	const read = (from: Store) =>
		inTurns(given, CONNECTIONS, async ({ id }) => String(valuesOf(await from.answers.get(id))));
	return { given, read, texts: given.map((_, index) => `value-of-${index}.`) };
}

/** Starts on one database, with its first key, with that as the former one beside a new one, and with a single one. */
export function startsAt(place: Options) {
	const start = (given: Partial<StoreOptions>) => openWithLog({ ...place, ...given });
	return {
		start,
		first: () => start({ encryptionKey: KEY }),
		both: (more: Partial<StoreOptions> = {}) => start({ encryptionKey: NEW, formerKeys: KEY, ...more }),
		/** Whether a start with only this key finds that it is the one of all values. */
		async isEnough(encryptionKey: string): Promise<boolean> {
			const { fits, close } = await start({ encryptionKey });
			await close();
			return fits();
		},
	};
}

/** What holds for former keys on any database. `where`: a new one for each test. */
export function describeFormerKeys(name: string, where: () => Promise<Options>): void {
	const isSqlite = name === 'SQLite';

	describe(`former keys on ${name}`, () => {
		it('keep every value readable, are not needed after all were encrypted again, and leave nothing in the files', async () => {
			const place = await where();
			const { start, first, both, isEnough } = startsAt(place);
			const before = await first();
			const readAll = await storeValues(before.store);
			const expected = await readAll(before.store);
			for (const text of Object.values(TEXTS)) expect(expected).toContain(text);
			const keyIds = Object.values(await keyIdsOf(before.store));
			expect(keyIds.filter((ids) => ids.length === 1)).toHaveLength(Object.keys(TEXTS).length);
			await before.close();

			const now = await both();
			expect(now.fits()).toBe(true);
			expect(await readAll(now.store)).toBe(expected);
			await now.change();
			expect(await readAll(now.store)).toBe(expected);
			// On SQLite, secrets, drafts and windows are encrypted again at the start.
			expect(now.counts.slice(0, 2)).toEqual([Number.NaN, isSqlite ? 8 : 11]);
			expect(now.counts.at(-1)).toBe(0);
			for (const ids of Object.values(await keyIdsOf(now.store))) {
				expect(ids).toHaveLength(1);
				expect(keyIds.flat()).not.toContain(ids[0]);
			}
			await now.close();

			if (isSqlite) {
				expect(filesHold(place.dataDir, Object.values(TEXTS), KEY)).toEqual([]);
				expect(new Set(filesHold(place.dataDir, Object.values(TEXTS), NEW)).size).toBe(
					new Set(Object.values(TEXTS)).size + 1,
				);
			}
			expect(await isEnough(NEW)).toBe(true);
			const after = await start({ encryptionKey: NEW });
			expect(await readAll(after.store)).toBe(expected);
			await after.close();
			expect(await isEnough(KEY)).toBe(false);
		});

		it('are needed after a stop in the middle, and the next start goes on', async () => {
			const { first, both, isEnough } = startsAt(await where());
			const before = await first();
			const { read, texts } = await storeAnswers(before.store, 250);
			await before.close();
			const now = await both();
			now.store.reencryption?.start();
			await expect.poll(() => now.counts.at(-1), { interval: 1 }).toBeLessThan(250);
			await now.close();
			const left = now.counts.at(-1) ?? 0;
			expect(left).toBeGreaterThan(0);

			expect(await isEnough(KEY)).toBe(false);
			expect(await isEnough(NEW)).toBe(false);
			const then = await both();
			expect(await read(then.store)).toEqual(texts);
			await then.change();
			expect(then.counts.find((count) => count >= 0)).toBeLessThanOrEqual(left);
			expect(await read(then.store)).toEqual(texts);
			await then.close();
			expect(await isEnough(NEW)).toBe(true);
		});

		it('put nothing back that a person changes at the same moment', async () => {
			const { start, first } = startsAt(await where());
			const { store, close } = await first();
			const { given } = await storeAnswers(store, 3);
			let edits = 0;
			const writeOne: typeof store.db.writeOne = async (work) => {
				const answer = given[edits++];
				if (answer !== undefined) await store.answers.accept({ ...answer, items: [item(`edited-${answer.id}`)] });
				return store.db.writeOne(work);
			};
			const counts: number[] = [];
			const reencryption = createReencryption({
				db: { ...store.db, writeOne },
				ring: createKeyRing(...([NEW, KEY].map(cipherOf) as [Cipher, Cipher])),
				clock: HURRIED,
				log: createRecordingLog(),
				onFormerValues: (count) => void counts.push(count),
				found: async () => {},
				finish: async () => true,
				follow: async () => {},
			});
			reencryption.start();
			await expect.poll(() => edits, { interval: 1 }).toBeGreaterThan(given.length);
			await expect.poll(() => counts.at(-1), { interval: 1 }).toBe(0);
			await reencryption.stop();
			await close();
			const after = await start({ encryptionKey: NEW });
			for (const { id } of given) expect(valuesOf(await after.store.answers.get(id))).toEqual([`edited-${id}`]);
		});
	});
}
