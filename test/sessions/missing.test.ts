import { expect, it } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { settableClock } from '../support/settable-clock.ts';
import { addWatch, createPollerHarness, createWatchedHarness, pass, plentiful, SERVICE, T0 } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MISSING = 'session_not_found';
const GONE = { kind: 'watchEnded', reason: 'sessionGone' };
/** Reads a session every ten seconds or so, where minutes pass: more reads say nothing more. */
const FEW_READS = { ...plentiful, rates: () => ({ left: 0.2, planned: 0.2, usual: 0.2 }) };
const BOTH = { watches: [{}, { sessionId: 's2' }], ms: 5_000, budget: FEW_READS };

type Watched = Awaited<ReturnType<typeof createWatchedHarness>>;

/** Its cards are told. */
async function begun(how: typeof BOTH | { ms: number }): Promise<Watched> {
	const harness = await createWatchedHarness(how);
	await harness.announced();
	return harness;
}

/** The list can be read so often, every ten seconds. */
async function listed({ health, clock }: Watched, times: number): Promise<void> {
	for (let count = 0; count < times; count += 1) {
		health.listed();
		await pass(clock, 10_000);
	}
}

const kinds = async ({ announced }: Watched) => (await announced()).map(({ kind }) => kind);

/** Reads of `s1` fail so, one after another, beginning with the next one. */
async function inTurn({ failures, readsOf, clock }: Watched, ...codes: string[]): Promise<void> {
	for (const code of codes) {
		failures.set('s1', code);
		const before = readsOf('s1').length;
		for (let turn = 0; turn < 200 && readsOf('s1').length === before; turn += 1) await pass(clock, 500);
	}
}

/** A poller of one session on a machine so slow that it wakes once a minute: every few seconds of a day take half a minute. */
async function createSlowHarness(): Promise<Watched> {
	const harness = await createPollerHarness({ budget: FEW_READS });
	const { clock } = harness;
	harness.put({ sessionId: 's1' });
	const watch = await addWatch(harness.store.watches);
	const untilMinute = (at: number) => Math.ceil((at - T0) / MINUTE) * MINUTE + T0 - clock.now();
	const sleep: Clock['sleep'] = (ms, signal) => clock.sleep(ms > 0 ? untilMinute(clock.now() + ms) : ms, signal);
	const started = harness.start({ clock: { ...clock, sleep } });
	await pass(clock, 5_000);
	await harness.announced();
	return { ...harness, ...started, watch };
}

async function passHours(clock: Watched['clock'], hours: number): Promise<void> {
	for (const end = clock.now() + hours * HOUR; clock.now() < end; await pass(clock, MINUTE))
		await clock.advance(59 * MINUTE);
}

it('ends the watches of one session after ten minutes of 404s in which others are read', async () => {
	const watched = await begun(BOTH);
	watched.failures.set('s1', MISSING);
	await pass(watched.clock, 10 * MINUTE);
	expect(await kinds(watched)).toEqual([]);
	await pass(watched.clock, 2 * MINUTE);
	expect(await watched.announced()).toEqual([GONE]);
});

it('goes on watching after 404s that passed, and counts them anew', async () => {
	const watched = await begun(BOTH);
	for (let round = 0; round < 2; round += 1) {
		watched.failures.set('s1', MISSING);
		await pass(watched.clock, 9 * MINUTE);
		watched.failures.clear();
		await pass(watched.clock, 2 * MINUTE);
	}
	expect(await kinds(watched)).toEqual([]);
});

it('takes 404s of all sessions for an outage, whose end begins the ten minutes anew', async () => {
	const watched = await begun(BOTH);
	watched.failures.set('*', MISSING);
	await pass(watched.clock, 40_000);
	expect(await watched.announced()).toMatchObject([{ kind: 'serviceDown', code: 'service_missing' }]);
	await pass(watched.clock, 30 * MINUTE);
	watched.failures.clear();
	// Of two replicas behind the ingress, one is back.
	watched.failures.set('s1', MISSING);
	await pass(watched.clock, 9 * MINUTE);
	expect(await kinds(watched)).toEqual(['serviceBack']);
	watched.failures.clear();
	await pass(watched.clock, 2 * MINUTE);
	expect(await kinds(watched)).toEqual([]);
});

it('ends the watches of the only session after a day of 404s alone', async () => {
	const watched = await createSlowHarness();
	watched.failures.set('s1', MISSING);
	await passHours(watched.clock, 23);
	expect(await kinds(watched)).toEqual(['serviceDown']);
	await passHours(watched.clock, 2);
	expect(await watched.announced()).toEqual([GONE]);
});

it('any other failure begins the day anew', async () => {
	const watched = await createSlowHarness();
	watched.failures.set('s1', MISSING);
	await passHours(watched.clock, 13);
	await inTurn(watched, 'refused');
	watched.failures.set('s1', MISSING);
	await passHours(watched.clock, 13);
	expect(await kinds(watched)).toEqual(['serviceDown']);
});

it.each([
	['unavailable', 'unavailable', MISSING],
	['timed_out', MISSING, MISSING, 'unauthorized', MISSING],
	['refused', 'refused', 'refused', MISSING],
])('a 404 after other failures proves nothing: %s, %s, %s', async (...codes) => {
	const watched = await begun({ ms: 5_000 });
	await inTurn(watched, ...codes);
	watched.failures.clear();
	await pass(watched.clock, 3 * MINUTE);
	expect(await kinds(watched)).not.toContain('watchEnded');
	expect(await watched.store.sessions.watched({ service: SERVICE, sessionId: 's1' })).toMatchObject({
		failures: 0,
		reads: { unread: null },
	});
});

it('goes on watching while one session is refused, and says nothing of an outage', async () => {
	const watched = await begun(BOTH);
	watched.failures.set('s1', 'refused');
	await pass(watched.clock, 12 * MINUTE);
	expect(await kinds(watched)).toEqual([]);
});

it('ends the watches of the only session after ten minutes in which the list can be read', async () => {
	const watched = await begun({ ms: 5_000 });
	watched.failures.set('s1', MISSING);
	await listed(watched, 60);
	expect(await kinds(watched)).toEqual([]);
	await listed(watched, 12);
	expect(await watched.announced()).toEqual([GONE]);
});

it('takes 404s of all sessions for an outage although the list can be read', async () => {
	const watched = await begun(BOTH);
	watched.failures.set('*', MISSING);
	await listed(watched, 150);
	expect(await kinds(watched)).toEqual(['serviceDown']);
});

it('tells an outage of the only session once, however often people read others', async () => {
	const watched = await begun({ ms: 5_000 });
	watched.failures.set('s1', MISSING);
	await pass(watched.clock, MINUTE);
	expect(await kinds(watched)).toEqual(['serviceDown']);
	for (let read = 0; read < 3; read += 1) {
		watched.health.succeeded();
		await pass(watched.clock, 20 * MINUTE);
	}
	expect(await kinds(watched)).toEqual(['serviceBack']);
});

it('two replicas end the watches of one session: what one reads counts for both', async () => {
	const watched = await begun(BOTH);
	// The second process never reads the other session.
	watched.start({
		sessionService: {
			async read(id, options) {
				if (id !== 's1') await watched.clock.sleep(1_000, options.signal);
				return watched.service.read(id, options);
			},
		},
	});
	watched.failures.set('s1', MISSING);
	await pass(watched.clock, 9 * MINUTE);
	expect(await kinds(watched)).toEqual([]);
	await pass(watched.clock, 4 * MINUTE);
	expect(await watched.announced()).toEqual([GONE]);
});

it.each([
	['forward', 25 * HOUR],
	['back', -HOUR],
])('ends no watch early when the clock is set %s during its 404s', async (_, shift) => {
	const harness = await createPollerHarness({ budget: FEW_READS });
	const { clock, store, failures, put, announced } = harness;
	const machine = await settableClock(clock, harness);
	for (const sessionId of ['s1', 's2']) {
		put({ sessionId });
		await addWatch(store.watches, { sessionId, createdAt: T0 });
	}
	harness.start({
		clock: machine,
		sessionService: {
			async read(id, options) {
				const readAt = machine.now();
				return { ...(await harness.service.read(id, options)), readAt };
			},
		},
	});
	await pass(clock, 5_000);
	failures.set('s1', MISSING);
	await pass(clock, 5 * MINUTE);
	machine.set(shift);
	await pass(clock, 9 * MINUTE);
	const after = await announced(machine.now());
	expect(after.map(({ kind }) => kind)).toEqual(['card', 'card']);
	await pass(clock, 6 * MINUTE);
	expect(await announced(machine.now())).toEqual([GONE]);
});
