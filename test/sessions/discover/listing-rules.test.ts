import { expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../../fake-slack/index.ts';
import { HandraiseError } from '../../../src/kernel/errors.ts';
import { createMemoryState, type SharedState } from '../../../src/kernel/memory.ts';
import { createServiceHealth } from '../../../src/service/health.ts';
import type { WaitingList } from '../../../src/service/service.ts';
import { createListing, type ListingState } from '../../../src/sessions/listing.ts';
import type { SessionStore } from '../../../src/store/watched-sessions.ts';
import { createRecordingLog } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';
import { pass, SERVICE } from '../support.ts';

const list = (overrides: Partial<WaitingList> = {}): WaitingList => ({
	sessions: [],
	isComplete: true,
	requestCount: 1,
	tookMs: 50,
	...overrides,
});

class ListFailure extends HandraiseError {
	constructor(code: string, retryable: boolean) {
		super('the list fails', { code, retryable });
	}
}
const vanished = () => new ListFailure('not_a_list', false);
const failing = () => new ListFailure('unavailable', true);

/** A loop whose service answers with `harness.answer`; the times of its requests in seconds from the start. */
function start({
	clock = createManualClock(),
	state = createMemoryState<ListingState>(clock),
	answer = () => list(),
	watched = 100,
	discoverSessions = false,
}: {
	clock?: ManualClock;
	state?: SharedState<ListingState>;
	answer?: () => WaitingList | Error;
	watched?: number;
	discoverSessions?: boolean;
} = {}) {
	const log = createRecordingLog();
	const stopping = new AbortController();
	const startedAt = clock.now();
	const health = createServiceHealth({ clock });
	const harness = {
		clock,
		state,
		lines: log.lines,
		health,
		answer,
		watched,
		pausedUntil: 0,
		onList: async (): Promise<void> => {},
		/** How often it was told that there is no list. */
		unlistedCount: 0,
		isAvailable: false,
		failures: [] as string[],
		requests: [] as number[],
		/** Within how many ms the reads of all sessions were brought forward. */
		broughtForward: [] as number[],
		async stop() {
			stopping.abort();
			await run;
		},
	};
	const core = coreOf({
		sessionService: {
			async listWaiting(signal) {
				harness.requests.push((clock.now() - startedAt) / 1_000);
				const found = harness.answer();
				if (found instanceof Error) throw found;
				if (found.tookMs >= 1_000) await clock.sleep(found.tookMs, signal);
				return { ...found, sessions: [...found.sessions] };
			},
		},
		config: { DISCOVER_SESSIONS: discoverSessions },
		serviceUrl: SERVICE,
		store: {
			sessions: {
				count: async () => harness.watched,
				isFailing: async () => true,
				noteListed: async () => 0,
				async readWithin(_, ms) {
					harness.broughtForward.push(ms);
					return [];
				},
			} as Partial<SessionStore> as SessionStore,
		},
		metrics: {
			listing: {
				available: (value) => {
					harness.isAvailable = value === 1;
				},
				listed: () => {},
				requested: () => {},
				listFailed: (code) => void harness.failures.push(code),
				listedReads: () => {},
			},
		},
		clock,
		log,
	});
	const listing = createListing(core, {
		state,
		budget: {
			isSlow: () => false,
			perSecond: () => 3,
			freeAt: () => 0,
			pausedUntil: () => harness.pausedUntil,
		},
		health,
	});
	const listener = {
		listed: () => harness.onList(),
		async unlisted() {
			harness.unlistedCount += 1;
		},
	};
	const run = listing.run(listener, stopping.signal);
	onTestFinished(() => harness.stop());
	return Object.assign(harness, { listing });
}

const HOUR_MS = 3_600_000;

/** Lets a long time pass in which next to nothing happens. */
async function jump(clock: ManualClock, ms: number): Promise<void> {
	await pass(clock, 200);
	await clock.advance(ms - 400);
	await pass(clock, 200);
}

const linesOf = ({ lines }: ReturnType<typeof start>) => lines.map(({ message }) => message);

it('lists every 4 s while sessions are watched or discovered', async () => {
	const harness = start({ watched: 1 });
	const discovering = start({ watched: 0, discoverSessions: true });
	await pass(harness.clock, 13_000);
	await pass(discovering.clock, 13_000);
	expect(harness.requests).toEqual([0, 4, 8, 12]);
	expect(discovering.requests).toEqual([0, 4, 8, 12]);
	expect(harness.isAvailable).toBe(true);
	expect(harness.broughtForward).toEqual([]);
	expect(linesOf(harness)).toEqual([expect.stringContaining('lists the sessions that wait')]);
});

it.each([
	['a page that took 1 s', { tookMs: 1_000 }, 4],
	['a page that took 1.5 s', { tookMs: 1_500 }, 6],
	['three pages', { requestCount: 3, tookMs: 150 }, 12],
	['three slow pages', { requestCount: 3, tookMs: 6_000 }, 24],
])('lists again 4 s later for each page, and not sooner than four times what all took: %s', async (_, fields, s) => {
	const harness = start({ answer: () => list(fields) });
	await pass(harness.clock, 2 * s * 1_000 + 500);
	expect(harness.requests).toEqual([0, s, 2 * s]);
});

it('waits for who gets the list', async () => {
	const harness = start();
	const { promise, resolve } = Promise.withResolvers<void>();
	harness.onList = () => promise;
	await pass(harness.clock, 10_000);
	expect(harness.requests).toEqual([0]);
	resolve();
	await pass(harness.clock, 4_500);
	expect(harness.requests).toEqual([0, 10, 14]);
});

it('asks once at the start and once a day while nothing is watched', async () => {
	const harness = start({ watched: 0 });
	await pass(harness.clock, 60_000);
	expect(harness.requests).toEqual([0]);
	await jump(harness.clock, 24 * HOUR_MS);
	expect(harness.requests).toHaveLength(2);
	harness.watched = 100;
	await pass(harness.clock, 10_000);
	expect(harness.requests.length).toBeGreaterThan(2);
});

it('takes a service for one without a list after looks over minutes, then looks every 5 min, and says it once', async () => {
	const harness = start({ answer: vanished });
	await pass(harness.clock, 200_000);
	expect(harness.unlistedCount).toBe(0);
	await pass(harness.clock, 100_000);
	expect(harness.unlistedCount).toBe(1);
	await jump(harness.clock, HOUR_MS);
	expect(harness.requests.slice(0, 10)).toEqual([0, 4, 12, 28, 60, 120, 180, 240, 540, 840]);
	expect(harness.requests).toHaveLength(8 + 12);
	expect(harness.isAvailable).toBe(false);
	expect(linesOf(harness)).toEqual([expect.stringContaining('has no list')]);
});

it.each([
	['met something else', vanished],
	['said nothing about a list', failing],
])('uses a list, seconds after a first look that %s', async (_, answer) => {
	const harness = start({ answer });
	await pass(harness.clock, 3_000);
	harness.answer = () => list();
	await pass(harness.clock, 4_000);
	expect(harness.requests).toEqual([0, 4]);
	expect(harness.isAvailable).toBe(true);
	expect(linesOf(harness).at(-1)).toContain('lists the sessions');
});

it('looks for a list that has vanished again within a minute, then every 5 min', async () => {
	const harness = start();
	await pass(harness.clock, 1_000);
	harness.answer = vanished;
	await pass(harness.clock, 200_000);
	expect(harness.unlistedCount).toBe(0);
	await pass(harness.clock, 100_000);
	expect(harness.unlistedCount).toBe(1);
	await jump(harness.clock, 10 * 60_000);
	expect(harness.requests).toEqual([0, 4, 8, 16, 32, 64, 124, 184, 244, 544, 844]);
	expect(harness.isAvailable).toBe(false);
	expect(linesOf(harness)).toHaveLength(3);
	harness.answer = () => list();
	await jump(harness.clock, 6 * 60_000);
	expect(harness.isAvailable).toBe(true);
	expect(linesOf(harness)).toHaveLength(4);
});

it('tries a failing list again after at most a minute for as long as it fails, and says it once', async () => {
	const harness = start();
	await pass(harness.clock, 1_000);
	harness.answer = failing;
	await pass(harness.clock, 200_000);
	expect(harness.unlistedCount).toBe(0);
	await pass(harness.clock, 400_000);
	expect(harness.unlistedCount).toBeGreaterThan(0);
	expect(harness.requests.slice(0, 7)).toEqual([0, 4, 8, 16, 32, 64, 124]);
	expect(harness.requests.at(-1)).toBeGreaterThan(540);
	expect(harness.isAvailable).toBe(false);
	harness.answer = () => list();
	await pass(harness.clock, 60_000);
	expect(harness.isAvailable).toBe(true);
	expect(linesOf(harness)).toEqual([
		expect.stringContaining('lists the sessions'),
		expect.stringContaining('list fails'),
		expect.stringContaining('lists the sessions'),
	]);
});

it('brings all reads forward when the list has stopped working, and not while a limited request waits', async () => {
	const harness = start();
	await pass(harness.clock, 1_000);
	harness.answer = () => new ListFailure('rate_limited', true);
	await pass(harness.clock, 20_000);
	expect(harness.broughtForward).toEqual([]);
	expect(harness.listing.knowledge()).toEqual({ isComplete: true });
	harness.answer = failing;
	await pass(harness.clock, 10_000);
	expect(harness.broughtForward[0]).toBe(30_000);
	expect(harness.listing.knowledge()).toBeNull();
});

it('tells whether the newest list names all that wait', async () => {
	const harness = start({ answer: () => list({ isComplete: false }) });
	await pass(harness.clock, 1_000);
	expect(harness.listing.knowledge()).toEqual({ isComplete: false });
	harness.answer = () => list();
	await pass(harness.clock, 4_000);
	expect(harness.listing.knowledge()).toEqual({ isComplete: true });
});

it('sends nothing while the budget is paused, and looks once a minute while the service is down', async () => {
	const harness = start();
	await pass(harness.clock, 1_000);
	harness.pausedUntil = harness.clock.now() + 29_000;
	await pass(harness.clock, 37_500);
	expect(harness.requests).toEqual([0, 30, 34, 38]);
	for (let failure = 0; failure < 3; failure++) harness.health.failed('unavailable');
	await pass(harness.clock, 30_000);
	const before = harness.requests.length;
	await pass(harness.clock, 5 * 60_000);
	expect(harness.requests.length - before).toBe(5);
	harness.health.succeeded();
	await pass(harness.clock, 12_000);
	expect(harness.requests.length).toBeGreaterThan(before);
});

it('goes on after the clock was put back', async () => {
	const clock = createManualClock();
	let putBackMs = 0;
	const machine = {
		...clock,
		now: () => clock.now() - putBackMs,
		uptime: () => clock.now(),
	};
	const harness = start({ clock: machine });
	await pass(clock, 5_000);
	putBackMs = 2 * HOUR_MS;
	const before = harness.requests.length;
	await pass(clock, 20_000);
	expect(harness.requests.length - before).toBe(5);
});

it('knows in each process what the one that lists has found', async () => {
	const first = start({ answer: vanished });
	const { clock, state } = first;
	const second = start({ clock, state, answer: vanished });
	await pass(clock, 300_000);
	expect([first, second].map(({ listing }) => listing.isUnlisted())).toEqual([true, true]);
	const third = start({ clock, state });
	await pass(clock, 30_000);
	expect([first, second, third].map(({ listing }) => listing.isUnlisted())).toEqual([false, false, false]);
	await third.stop();
	first.answer = () => list();
	second.answer = () => list();
	await pass(clock, 30_000);
	expect(first.requests.length + second.requests.length).toBeGreaterThan(8 + 3);
});

it('takes a limited request for no failure of the list', async () => {
	const harness = start();
	await pass(harness.clock, 1_000);
	harness.answer = () => new ListFailure('rate_limited', true);
	await pass(harness.clock, 4_000);
	harness.answer = () => list();
	await pass(harness.clock, 14_000);
	expect(harness.requests).toEqual([0, 4, 14, 18]);
	expect(linesOf(harness)).toHaveLength(1);
});

it('goes on after the store was away', async () => {
	const harness = start();
	harness.onList = () => Promise.reject(new HandraiseError('away', { code: 'store_unavailable', retryable: true }));
	await pass(harness.clock, 25_000);
	harness.onList = async () => {};
	await pass(harness.clock, 15_000);
	expect(harness.requests.slice(0, 4)).toEqual([0, 10, 20, 30]);
	expect(linesOf(harness).filter((line) => line.includes('could not list'))).toHaveLength(1);
});

it('lists in one of two replicas, and in the other when the first has stopped', async () => {
	const first = start();
	const { clock, state } = first;
	await pass(clock, 500);
	const second = start({ clock, state });
	await pass(clock, 60_000);
	expect(second.requests).toEqual([]);
	expect(second.isAvailable).toBe(true);
	await first.stop();
	const before = first.requests.length;
	await pass(clock, 14_000);
	expect(second.requests.length).toBeGreaterThan(1);
	expect(first.requests).toHaveLength(before);
});

it('lists in another replica within a minute and a half when the first hangs or was killed', async () => {
	const first = start();
	const { clock, state } = first;
	first.onList = () => new Promise(() => {});
	await pass(clock, 500);
	const second = start({ clock, state });
	await pass(clock, 50_000);
	expect(second.requests).toEqual([]);
	await pass(clock, 40_000);
	expect(second.requests.length).toBeGreaterThan(0);
	first.stop = async () => {};
});
