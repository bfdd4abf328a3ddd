import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { addWatch, openTestStore, pass } from '../features/watch/support.ts';
import { settableClock } from '../support/settable-clock.ts';
import { accepted, current, LEASE, lease, OTHER_LEASE, patched, SERVICE, submission, T0 } from './support.ts';

const HOUR = 3_600_000;

/** A store and its clock on a machine that can be set; `steps`: the times after steps. */
async function start() {
	const manual = createManualClock(T0);
	const store = await openTestStore();
	const clock = await settableClock(manual, store);
	const steps: number[] = [];
	clock.onStep(() => steps.push(clock.now()));
	return { manual, store, clock, steps };
}

it('continues the time of its start, and follows a time service that slews the clock', async () => {
	const { manual, clock, steps } = await start();
	for (let second = 1; second <= 60; second++) {
		clock.set(second * 100);
		await pass(manual, 1_000);
	}
	expect(clock.now()).toBe(T0 + 66_000);
	expect(clock.steadySince()).toBe(T0);
	expect(steps).toEqual([]);
});

it.each([
	['forward', HOUR],
	['back', -HOUR],
])('adopts a step %s once, within a second, and tells of it after the repair', async (_, step) => {
	const { manual, clock, steps } = await start();
	await manual.advance(10_000);
	clock.set(step);
	await pass(manual, 2_000);
	expect(clock.now()).toBe(T0 + step + 12_000);
	expect(steps).toHaveLength(1);
	expect(clock.steadySince()).toBe(steps[0]);
	await pass(manual, 60_000);
	expect(steps).toHaveLength(1);
	expect(clock.uptime()).toBe(T0 + 72_000);
});

it.each([
	['forward', HOUR],
	['back', -HOUR],
])('a lease and the time for Undo last as long as before when the clock is put %s', async (_, step) => {
	const { manual, store, clock } = await start();
	const { answers } = store;
	const pressed = submission({ press: { undoUntil: T0 + 10_000 } });
	const leased = submission({ sessionId: 's2' });
	for (const given of [pressed, leased]) await accepted(store, given);
	await answers.takeDue(SERVICE, LEASE, 1, T0);
	await pass(manual, 4_000);
	clock.set(step);
	await pass(manual, 2_000);
	const now = clock.now();
	expect((await current(store, pressed.id)).press).toEqual({ undoUntil: now + 4_000 });
	const taken = async (at: number) => (await answers.takeDue(SERVICE, OTHER_LEASE, 9, at)).map(({ id }) => id);
	expect(await taken(now + LEASE.ms - 6_001)).not.toContain(leased.id);
	expect(await taken(now + LEASE.ms - 6_000)).toContain(leased.id);
});

it.each([5, 25])('what is due stays due when the clock is put back by %i min', async (minutes) => {
	const { manual, store, clock } = await start();
	const pressed = submission({ press: { undoUntil: T0 + 10_000 } });
	const held = submission({ sessionId: 's2' });
	for (const given of [pressed, held]) await accepted(store, given);
	const notBefore = T0 + 10_000;
	const options = { now: T0, release: true };
	await lease(store, held.id);
	await patched(store, held.id, { notBefore }, options);
	await addWatch(store.watches, { createdAt: T0 });
	await store.sessions.takeDue(SERVICE, LEASE, 1, { now: T0, only: null });
	await pass(manual, 120_000);
	clock.set(-minutes * 60_000);
	await pass(manual, 2_000);
	const now = clock.now();
	expect(now).toBeLessThan(T0);
	const { press } = await current(store, pressed.id);
	expect(press?.undoUntil).toBeLessThanOrEqual(now);
	expect((await current(store, held.id)).notBefore).toBeLessThanOrEqual(now);
	expect(await store.posts.nextDueAt()).toBeLessThanOrEqual(now);
	expect(await store.sessions.takeDue(SERVICE, OTHER_LEASE, 1, { now, only: null })).toHaveLength(1);
});
