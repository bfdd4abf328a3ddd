import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createServiceHealth } from '../../src/service/health.ts';
import { settableClock } from '../support/settable-clock.ts';
import { addWatch, assistant, createPollerHarness, openTestStore, pass, session, storedWatch, T0 } from './support.ts';

const HOUR = 3_600_000;
/** The clock looks once in this time whether it was set. */
const LOOK = 60_000;
const started = session().messages;
const asking = { status: 'humanInput', messages: [...started, assistant('Which one?', 'Colour')] };

/** A poller on a machine whose clock can be set; session `s1` was watched for `ms`. */
async function watchedFor(ms: number) {
	const harness = await createPollerHarness();
	const machine = await settableClock(harness.clock, harness);
	const { store, put, start, clock, announced, service } = harness;
	put({});
	const watch = await addWatch(store.watches);
	start({
		clock: machine,
		sessionService: {
			async read(id, options) {
				const readAt = machine.now();
				return { ...(await service.read(id, options)), readAt, endedAt: machine.now() };
			},
		},
	});
	await pass(clock, ms);
	await announced();
	return { ...harness, machine, watch, announced: () => announced(machine.now()) };
}

describe.each([
	['back', -HOUR],
	['forward', HOUR],
])('when the clock is put %s by an hour', (_, shift) => {
	it('reads a session that works as often as before', async () => {
		const { machine, clock, put, readsOf } = await watchedFor(60_000);
		const usual = readsOf('s1').length;
		machine.set(shift);
		await pass(clock, LOOK);
		const before = readsOf('s1').length;
		put({ messages: [...started, assistant('A step')] });
		await pass(clock, 60_000);
		const reads = readsOf('s1').length - before;
		expect(reads).toBeGreaterThan(usual / 2);
		expect(reads).toBeLessThan(usual * 2 + 5);
	});

	it('announces a question, ends no watch and announces no outage', async () => {
		const { machine, clock, put, announced, db, watch } = await watchedFor(20_000);
		machine.set(shift);
		await pass(clock, LOOK);
		put(asking);
		await pass(clock, 20_000);
		expect((await announced()).map(({ kind }) => kind)).toEqual(['question']);
		expect(await storedWatch(db, watch.id)).toMatchObject({ ended: null });
	});

	it('tries a failed session again within about a minute', async () => {
		const { machine, clock, readsOf, failures } = await watchedFor(10_000);
		failures.set('s1', 'unreadable_answer');
		await pass(clock, 60_000);
		machine.set(shift);
		await pass(clock, LOOK);
		const before = readsOf('s1').length;
		await pass(clock, 65_000);
		expect(readsOf('s1').length).toBeGreaterThan(before);
	});
});

it('service health counts only time that has certainly passed', async () => {
	const clock = createManualClock(T0);
	const machine = await settableClock(clock, await openTestStore());
	const health = createServiceHealth({ clock: machine });
	const fail = () => {
		for (let failure = 0; failure < 3; failure += 1) health.failed('unavailable');
	};
	await pass(clock, LOOK - 15_000);
	fail();
	machine.set(HOUR);
	await pass(clock, 29_000);
	expect(health.down).toBeNull();
	await pass(clock, 3_000);
	expect(health.down).toBe(true);
	health.succeeded();
	await pass(clock, 30_000);
	fail();
	machine.set(0);
	await pass(clock, 32_000);
	expect(health.down).toBe(true);
});
