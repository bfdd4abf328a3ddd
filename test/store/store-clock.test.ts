import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { addWatch, openTestStore, pass } from '../sessions/support.ts';
import { settableClock } from '../support/settable-clock.ts';
import { accepted, current, LEASE, lease, OTHER_LEASE, patched, SERVICE, submission, T0 } from './support.ts';

const HOUR = 3_600_000;

/** From one look at the clock to the next. */
const LOOK = 60_000;

/** A store and its clock on a machine that can be set. */
async function start() {
	const manual = createManualClock(T0);
	const store = await openTestStore();
	const clock = await settableClock(manual, store);
	return { manual, store, clock };
}

it('continues the time of its start, and follows a time service that slews the clock', async () => {
	const { manual, clock } = await start();
	for (let minute = 1; minute <= 5; minute++) {
		clock.set(minute * 1_000);
		await pass(manual, LOOK);
	}
	expect(clock.now()).toBe(T0 + 5 * LOOK + 5_000);
	expect(clock.steadySince()).toBe(T0);
	expect(clock.stepCount()).toBe(0);
});

it.each([
	['forward', HOUR],
	['back', -HOUR],
])('adopts a step %s once, within a minute, and goes on as before until then', async (_, step) => {
	const { manual, clock } = await start();
	await manual.advance(10_000);
	clock.set(step);
	await pass(manual, LOOK - 11_000);
	expect([clock.now(), clock.steadySince(), clock.stepCount()]).toEqual([T0 + LOOK - 1_000, T0, 0]);
	await pass(manual, 2_000);
	expect(clock.now()).toBe(T0 + step + LOOK + 1_000);
	expect(clock.steadySince()).toBe(T0 + step + LOOK);
	await pass(manual, 2 * LOOK);
	expect(clock.stepCount()).toBe(1);
	expect(clock.uptime()).toBe(T0 + 3 * LOOK + 1_000);
});

it('repairs also what was stored by the former time while a step was adopted', async () => {
	const { manual, store, clock } = await start();
	clock.set(-HOUR);
	await pass(manual, LOOK);
	const late = submission({ acceptedAt: clock.now() + HOUR });
	await accepted(store, late);
	const taken = async () => (await store.answers.takeDue(SERVICE, LEASE, 9, clock.now())).length;
	expect(await taken()).toBe(0);
	await pass(manual, LOOK);
	expect(await taken()).toBe(1);
});

it.each([
	['forward', HOUR],
	['back', -HOUR],
])('a lease and the time for Undo last as long as before when the clock is put %s', async (_, step) => {
	const { manual, store, clock } = await start();
	const { answers } = store;
	await pass(manual, LOOK - 2_000);
	const pressed = submission({ press: { undoUntil: clock.now() + 10_000 } });
	const leased = submission({ sessionId: 's2' });
	for (const given of [pressed, leased]) await accepted(store, given);
	await answers.takeDue(SERVICE, LEASE, 1, clock.now());
	clock.set(step);
	await pass(manual, 6_000);
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
	await store.sessions.takeDue(SERVICE, LEASE, 1, T0);
	await pass(manual, 2 * LOOK);
	clock.set(-minutes * 60_000);
	await pass(manual, LOOK);
	const now = clock.now();
	expect(now).toBeLessThan(T0);
	const { press } = await current(store, pressed.id);
	expect(press?.undoUntil).toBeLessThanOrEqual(now);
	expect((await current(store, held.id)).notBefore).toBeLessThanOrEqual(now);
	expect(await store.posts.nextDueAt()).toBeLessThanOrEqual(now);
	expect(await store.sessions.takeDue(SERVICE, OTHER_LEASE, 1, now)).toHaveLength(1);
});
