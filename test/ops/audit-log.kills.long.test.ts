import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { askingSession } from '../../sandbox/session-service/builders.ts';
import { createLog } from '../../src/core/basics.ts';
import { AUDIT_LINE, BEFORE_ALL, cursorOf, readEvents } from '../../src/database/audit-reader.ts';
import { openStore, type Store } from '../../src/stores.ts';
import { AUDIT_ENV } from '../faults/answers/audit.ts';
import type { Harness } from '../faults/harness.ts';
import { createTestHarness, ENTRY, STORES } from '../faults/shared-stores.ts';
import { record } from './follow-command.ts';

const SOON = { timeout: 40_000, interval: 50 };
const LEASE_LEFT_MS = 8_000;
/** Between the machine's clock and the database's. */
const CLOCKS_MS = 200;
/** It is started several times, on a busy machine. */
const TIMEOUT_MS = 150_000;

let harness: Harness | null = null;
afterEach(async () => {
	await harness?.[Symbol.asyncDispose]();
	harness = null;
});

/** Fills the database while no program runs. */
async function fill({ store: { env } }: Harness, work: (store: Store) => Promise<void>): Promise<void> {
	const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '/nonexistent', ENCRYPTION_KEY: encryptionKey } = env;
	const store = await openStore({ databaseUrl, dataDir, encryptionKey, log: createLog('silent') });
	await work(store);
	await store.close();
}

const printed = ({ replicas }: Harness) => replicas.flatMap(({ audit }) => audit);
const channels = (all: Harness) => printed(all).map(({ channel, repeated }) => `${channel}${repeated ? ' again' : ''}`);

describe.each(STORES)('AUDIT_LOG=stdout on %s', (kind) => {
	it('prints each row once, and marked what a process that died may have printed, when its lease is over', {
		timeout: TIMEOUT_MS,
	}, async () => {
		const env = { ...AUDIT_ENV, LOG_LEVEL: 'info' };
		const all = await createTestHarness(kind, { people: 1, callTimeoutMs: 2_000, env });
		harness = all;
		let until = 0;
		await fill(all, async (store) => {
			await record(store, 'C1', 'C2', 'C3', 'C4', 'C5');
			const rows = await readEvents(store.db.read, BEFORE_ALL, { isSettled: false });
			const [first, , third] = rows.map(cursorOf);
			until = Date.now() + LEASE_LEFT_MS;
			const value = JSON.stringify({ token: 'of the dead', until, printed: first, begun: third });
			await store.db.write((trx) => trx.insertInto('meta').values({ name: 'audit_log', value }).execute());
		});
		await all.startAll();
		await expect.poll(() => channels(all), SOON).toEqual(['C2 again', 'C3 again', 'C4', 'C5']);
		if (kind === 'postgres') expect(Date.now()).toBeGreaterThan(until - CLOCKS_MS);

		await Promise.all(all.replicas.map((replica) => replica.kill()));
		await fill(all, (store) => record(store, 'C6'));
		await all.startAll();
		// The kill may come between a line and the note that it was printed: then it stands twice, the second time marked.
		const marked = ['C2 again', 'C3 again', 'C4 again', 'C5 again'];
		const unmarked = () =>
			channels(all)
				.filter((line) => !marked.includes(line))
				.sort();
		await expect.poll(unmarked, SOON).toEqual(['C4', 'C5', 'C6']);
		for (const { lines } of all.replicas)
			for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
	});
});

it('takes and delivers answers while nobody reads what it prints, and prints the rest later', {
	timeout: TIMEOUT_MS,
}, async () => {
	const all = await createTestHarness('sqlite', { people: 1, callTimeoutMs: 2_000, env: AUDIT_ENV });
	harness = all;
	const { slack, service } = all;
	await fill(all, async (store) => {
		for (let batch = 0; batch < 4; batch++)
			await record(store, ...Array.from({ length: 500 }, (_, at) => `C${batch}x${at}`));
	});
	const env = { PATH: process.env.PATH ?? '', ...all.env, LOG_LEVEL: 'debug' };
	const child = spawn(process.execPath, [ENTRY], { env, stdio: ['ignore', 'pipe', 'ignore'] });
	try {
		await slack.connected(1);
		for (let count = 0; count < 3; count++) {
			const id = `slow${count}`;
			service.sessions.put(id, askingSession(['Which colour?'], { name: 'Paint' }));
			const person = slack.as('person0', id);
			await person.command('#agents', `/session ${id}`);
			const modal = await person.waitForModal((one) => one.submitText() !== null, 10_000);
			await modal.fill(0, 'Blue');
			await modal.submit();
			await expect.poll(() => service.log.savedPuts(id), SOON).toHaveLength(1);
		}
		const numbers: number[] = [];
		createInterface({ input: child.stdout }).on('line', (line) => {
			const told = JSON.parse(line);
			if (!('level' in told)) numbers.push(AUDIT_LINE.parse(told).number);
		});
		await expect.poll(() => numbers.length, SOON).toBeGreaterThan(2_005);
		expect(new Set(numbers).size).toBe(numbers.length);
	} finally {
		child.kill('SIGKILL');
	}
});
