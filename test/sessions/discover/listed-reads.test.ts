import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { createMemoryState } from '../../../src/kernel/memory.ts';
import { createServiceHealth } from '../../../src/service/health.ts';
import { createListing, type ListingState } from '../../../src/sessions/listing.ts';
import { createRecordingLog } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';
import { addWatch, openTestStore, pass, SERVICE } from '../support.ts';

const SESSIONS = ['s1', 's2', 's3'];

/** Processes that share a database in which all of `SESSIONS` are watched, and what a list of the service says. */
async function start() {
	const clock = createManualClock();
	const store = await openTestStore();
	for (const sessionId of SESSIONS) await addWatch(store.watches, { sessionId });
	const state = createMemoryState<ListingState>(clock);
	/** When each session that waits was last saved. */
	const waiting = new Map<string, number | null>();
	const service = { isComplete: true };

	/** Starts a process. `news`: how many sessions a list of it said something new of. */
	function replica() {
		const stopping = new AbortController();
		let count = 0;
		const core = coreOf({
			sessionService: {
				listWaiting: async () => ({
					sessions: Array.from(waiting, ([sessionId, updatedAt]) => ({
						sessionId,
						name: '',
						status: 'humanInput',
						updatedAt,
					})),
					isComplete: service.isComplete,
					requestCount: 1,
					tookMs: 50,
				}),
			},
			config: { DISCOVER_SESSIONS: false },
			serviceUrl: SERVICE,
			store,
			metrics: {
				listing: {
					available: () => {},
					listed: () => {},
					requested: () => {},
					listFailed: () => {},
					listedReads: (more) => {
						count += more;
					},
				},
			},
			clock,
			log: createRecordingLog(),
		});
		const budget = { isSlow: () => false, perSecond: () => 3, freeAt: () => 0, pausedUntil: () => 0 };
		const listing = createListing(core, { state, budget, health: createServiceHealth({ clock }) });
		const run = listing.run({ listed: async () => {}, unlisted: async () => {} }, stopping.signal);
		async function stop(): Promise<void> {
			stopping.abort();
			await run;
		}
		onTestFinished(stop);
		return {
			stop,
			/** Of the lists since the last time. */
			news: async () => {
				await pass(clock, 12_000);
				const since = count;
				count = 0;
				return since;
			},
		};
	}

	return { clock, store, waiting, service, replica };
}

it('reads a session that a list names, names no more, or saved anew, once for each', async () => {
	const { waiting, replica } = await start();
	const { news } = replica();
	expect(await news()).toBe(0);
	waiting.set('s1', 1_000).set('s2', null).set('unwatched', 1_000);
	expect(await news()).toBe(2);
	waiting.set('s1', 2_000);
	expect(await news()).toBe(1);
	waiting.delete('s2');
	expect(await news()).toBe(1);
	expect(await news()).toBe(0);
});

it('reads a session that a list names no more also where the list does not name all: nothing tells of it then', async () => {
	const { store, waiting, service, replica } = await start();
	const { news } = replica();
	waiting.set('s1', 1_000).set('s2', 1_000);
	expect(await news()).toBe(2);
	service.isComplete = false;
	waiting.delete('s1');
	expect(await news()).toBe(1);
	expect(await store.sessions.watched({ service: SERVICE, sessionId: 's1' })).toMatchObject({ listed: null });
	service.isComplete = true;
	expect(await news()).toBe(0);
});

it('does not read everything again when another process goes on with the list', async () => {
	const { clock, waiting, replica } = await start();
	const first = replica();
	for (const id of SESSIONS) waiting.set(id, 1_000);
	expect(await first.news()).toBe(3);
	const second = replica();
	expect(await second.news()).toBe(0);
	await first.stop();
	await pass(clock, 10_000);
	expect(await second.news()).toBe(0);
	waiting.set('s2', 2_000);
	expect(await second.news()).toBe(1);
	expect(await first.news()).toBe(0);
});
