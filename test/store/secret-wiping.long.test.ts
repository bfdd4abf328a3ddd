import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../src/domain/answer.ts';
import { parseEncryptionKey } from '../../src/store/encryption.ts';
import type { Store } from '../../src/stores.ts';
import { createRandom } from '../support/random.ts';
import { onCopy, readableRemains } from './remains.ts';
import {
	ANN,
	accepted,
	createRecordingLog,
	inTurns,
	item,
	KEY,
	makeDataDir,
	OTHER_KEY,
	open,
	submission,
	T0,
	valuesOf,
} from './support.ts';

let directory: ReturnType<typeof makeDataDir>;
let outcomes: string[];
let log: ReturnType<typeof createRecordingLog>;
let opened: Store | null;
beforeEach(() => {
	directory = makeDataDir();
	outcomes = [];
	log = createRecordingLog();
	opened = null;
});
afterEach(async () => {
	await opened?.close();
	await directory.remove();
});

async function openHere(encryptionKey = KEY): Promise<Store> {
	const onCheckpoint = (outcome: string) => void outcomes.push(outcome);
	opened = await open({ dataDir: directory.path, encryptionKey, onCheckpoint, log });
	return opened;
}

let sessions = 0;
const secret = (value: string) =>
	submission({ sessionId: `session-${++sessions}`, items: [item('blue'), item(value, { secret: true })] });

const remains = (texts: readonly string[], key = KEY) =>
	onCopy(directory.path, (copy) => readableRemains(copy, parseEncryptionKey(key), texts));

/** Resolves after the next checkpoint with this outcome. */
async function checkpoint(outcome: 'done' | 'busy'): Promise<void> {
	const before = outcomes.length;
	await expect.poll(() => outcomes.slice(before), { timeout: 10_000, interval: 10 }).toContain(outcome);
}

describe('secret values on SQLite', () => {
	it('leaves no copy of wiped secrets where SQLite splits and merges pages', { timeout: 60_000 }, async () => {
		const store = await openHere();
		const random = createRandom(5);
		const given = Array.from({ length: 400 }, (_, index) => secret(`wiped-${index}.`));
		for (let from = 0; from < given.length; from += 40) {
			const batch = given.slice(from, from + 40);
			await inTurns(batch, 40, (one) => accepted(store, one));
			// Rows grow and move during delivery.
			await store.db.write(async (trx) => {
				for (const { id } of batch) {
					const told = 'x'.repeat(Math.floor(random.uniform() * 600));
					await sql`update answers set last_error = ${told} where id = ${id}`.execute(trx);
				}
			});
		}
		const texts = given.map((_, index) => `wiped-${index}.`);
		expect(remains(texts)).toHaveLength(given.length);
		await inTurns(given, 40, (one) => store.answers.withdraw(one.id, ANN, T0 + 1));
		await checkpoint('done');
		expect(remains(texts)).toEqual([]);
	});

	it('keeps other secrets readable when some are wiped', async () => {
		const store = await openHere();
		const [kept, gone] = [secret('kept-value'), secret('gone-value')];
		for (const one of [kept, gone]) await accepted(store, one);
		for (const state of ['a', 'b', 'c']) {
			const other = secret(`${state}-value`);
			await accepted(store, other);
			await store.answers.withdraw(other.id, ANN, T0 + 1);
			await checkpoint('done');
		}
		await store.answers.withdraw(gone.id, ANN, T0 + 1);
		await checkpoint('done');
		expect(remains(['kept-value', 'gone-value', 'a-value', 'c-value'])).toEqual(['kept-value']);
		expect(valuesOf(await store.answers.get(kept.id))).toEqual(['blue', 'kept-value']);
		await store.close();
		expect(valuesOf(await (await openHere()).answers.get(kept.id))).toEqual(['blue', 'kept-value']);
	});

	it('keeps secrets readable that are accepted while others are removed', async () => {
		const store = await openHere();
		const wiped = secret('gone-value');
		await accepted(store, wiped);
		await store.answers.withdraw(wiped.id, ANN, T0 + 1);
		const started = outcomes.length;
		const writing: Promise<Answer>[] = [];
		while (outcomes.length === started) {
			writing.push(accepted(store, secret(`kept-${writing.length}`)));
			await new Promise<void>((resolve) => setImmediate(resolve));
		}
		const answers = await Promise.all(writing);
		await store.close();
		const again = await openHere();
		for (const [index, { id }] of answers.entries()) {
			expect(valuesOf(await again.answers.get(id))).toEqual(['blue', `kept-${index}`]);
		}
	});

	it('removes secrets that their author replaced before they were sent', async () => {
		const store = await openHere();
		const first = secret('first-try');
		await accepted(store, first);
		const second = { ...first, items: secret('second-try').items };
		expect(await store.answers.accept(second)).toMatchObject({ kind: 'repeated', edited: true });
		await checkpoint('done');
		expect(remains(['first-try', 'second-try'])).toEqual(['second-try']);
	});

	it('removes wiped secrets when the program stops right after the wipe', async () => {
		const store = await openHere();
		const given = secret('at-the-end');
		await accepted(store, given);
		await store.answers.withdraw(given.id, ANN, T0 + 1);
		const before = outcomes.length;
		await store.close();
		expect(outcomes.slice(before)).toEqual(['done']);
		expect(remains(['at-the-end'])).toEqual([]);
	});

	it('removes secrets that were wiped under another key when the right key is back', async () => {
		const first = await openHere();
		const [kept, gone] = [secret('kept-value'), secret('gone-value')];
		for (const one of [kept, gone]) await accepted(first, one);
		await first.close();
		const wrong = await openHere(OTHER_KEY);
		await wrong.answers.withdraw(gone.id, ANN, T0 + 1);
		await accepted(wrong, secret('with-the-other'));
		await wrong.close();
		const right = await openHere();
		expect(remains(['kept-value', 'gone-value'])).toEqual(['kept-value']);
		expect(valuesOf(await right.answers.get(kept.id))).toEqual(['blue', 'kept-value']);
		await right.close();
		expect(remains(['with-the-other'], OTHER_KEY)).toEqual(['with-the-other']);
	});

	it('removes wiped secrets from the log soon after another program stops reading', { timeout: 30_000 }, async () => {
		const store = await openHere();
		const given = secret('seen-by-a-reader');
		await accepted(store, given);
		const path = join(directory.path, 'handraise.db');
		const reader = spawn(process.execPath, ['--input-type=module', '--eval', READER, path], {
			stdio: ['pipe', 'pipe', 'inherit'],
		});
		await once(reader.stdout, 'data');
		await store.answers.withdraw(given.id, ANN, T0 + 1);
		await checkpoint('busy');
		const warning = { level: 'warn', fields: { event: 'wiped_secrets_in_log' } };
		await expect.poll(() => log.lines, { timeout: 15_000 }).toContainEqual(expect.objectContaining(warning));
		expect(remains(['seen-by-a-reader'])).toEqual(['seen-by-a-reader']);
		await accepted(store, secret('meanwhile'));
		reader.stdin.end();
		await once(reader, 'exit');
		await checkpoint('done');
		expect(remains(['seen-by-a-reader'])).toEqual([]);
		// Nothing is due.
		const quiet = outcomes.length;
		await accepted(store, secret('later'));
		expect(outcomes).toHaveLength(quiet);
	});
});

/** Keeps the former state open until its standard input ends. */
const READER = `
	import { DatabaseSync } from 'node:sqlite';
	const database = new DatabaseSync(process.argv[1], { readOnly: true });
	database.exec('begin');
	database.prepare('select count(*) from answers').get();
	process.stdout.write('reading');
	process.stdin.on('end', () => process.exit(0)).resume();
`;
