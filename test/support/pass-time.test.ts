import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createManualClock } from '../../fake-slack/index.ts';
import { passFor, watchRequests } from './pass-time.ts';

it.each<[string, (url: string) => Promise<unknown>]>([
	[
		'waits for turns of the event loop',
		async () => {
			for (let turn = 0; turn < 200; turn += 1) await nextTurn();
		},
	],
	[
		'reads files',
		async () => {
			for (let file = 0; file < 20; file += 1) await readFile(import.meta.filename);
		},
	],
	[
		'sends requests, each on a new connection',
		async (url) => {
			for (let request = 0; request < 10; request += 1) {
				const response = await fetch(url, { headers: { connection: 'close' } });
				await response.text();
				for (let turn = 0; turn < 10; turn += 1) await nextTurn();
			}
		},
	],
])('no time passes while the program %s', async (_, work) => {
	const clock = createManualClock();
	onTestFinished(watchRequests());
	const service = createFakeSessionService({ clock });
	await service.start();
	onTestFinished(() => service.stop());
	const begunAt = clock.now();
	const seen: number[] = [];
	async function program(): Promise<void> {
		for (let round = 0; round < 3; round += 1) {
			await clock.sleep(1_000);
			await work(service.url);
			seen.push(clock.now() - begunAt);
		}
	}
	async function otherLoop(): Promise<void> {
		for (let turn = 0; turn < 4_000; turn += 1) await clock.sleep(1);
	}
	const ended = Promise.all([program(), otherLoop()]);
	await passFor({ service }, clock, 3_500);
	expect(seen).toEqual([1_000, 2_000, 3_000]);
	expect(clock.now() - begunAt).toBe(3_500);
	await passFor({ service }, clock, 1_000);
	await ended;
});
