import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	readsAfter,
	type StepRate,
	sessionReads,
	stepRateAfter,
	UNKNOWN_STEP_RATE,
} from '../../../src/database/watch.ts';
import {
	CEILING_MS,
	CEILING_ROUNDS,
	createPlanner,
	FLOOR_MS,
	movesFor,
	QUIET_MS,
	UTILISATION,
	type WatchedOutline,
} from '../../../src/features/watch/schedule.ts';
import { createRandom } from '../../support/random.ts';
import { defaultPopulation, digestAt, writeScripts } from './simulation/population.ts';
import { T0 } from './support.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const UNREAD = sessionReads.parse({});

const stepRates: fc.Arbitrary<StepRate> = fc.record({
	gapMs: fc.double({ min: 1, max: 1e6, noNaN: true }),
	lastStepAt: fc.option(fc.nat(2 * HOUR).map((ago) => T0 - ago)),
});

const outlines: fc.Arbitrary<WatchedOutline> = fc.record({
	session: fc.record({ service: fc.constant('s'), sessionId: fc.uuid() }),
	stepRate: stepRates,
	nextRead: fc.record({ at: fc.constant(T0), by: fc.constant(T0) }),
	lastReadAt: fc.constant(T0),
	lastChangeAt: fc.constant(T0),
	earlyReadAskedAt: fc.option(fc.integer({ min: T0 - 120_000, max: T0 })),
	failures: fc.constant(0),
	overSince: fc.constant(null),
	status: fc.constantFrom('active', 'paused', 'inactive', 'humanInput', 'thinking'),
	questionOpen: fc.boolean(),
	reads: fc.constant(UNREAD),
	isClaimed: fc.boolean(),
	watchers: fc.subarray(['U1', 'U2', 'U3']),
});

const stepping = (gapMs: number, ago: number): StepRate => ({ gapMs, lastStepAt: T0 - ago });

function outline(overrides: Partial<WatchedOutline> = {}): WatchedOutline {
	return {
		session: { service: 's', sessionId: '1' },
		stepRate: UNKNOWN_STEP_RATE,
		nextRead: { at: T0, by: T0 },
		lastReadAt: T0,
		lastChangeAt: T0,
		earlyReadAskedAt: null,
		failures: 0,
		overSince: null,
		status: 'active',
		questionOpen: false,
		reads: UNREAD,
		isClaimed: false,
		watchers: ['U1'],
		...overrides,
	};
}

describe('any sessions', () => {
	it('plans every read between the floor and the ceiling', () => {
		fc.assert(
			fc.property(
				fc.array(outlines, { minLength: 1, maxLength: 60 }),
				fc.double({ min: 0.2, max: 5, noNaN: true }),
				(all, rate) => {
					const planner = createPlanner();
					planner.plan(all, rate);
					const planned = rate * UTILISATION;
					const ceiling = Math.max(CEILING_MS, (CEILING_ROUNDS * all.length * 1000) / planned);
					for (const one of all) {
						const { at, by } = planner.nextRead(one, T0);
						expect(at).toBeGreaterThanOrEqual(T0 + FLOOR_MS);
						expect(at).toBeLessThanOrEqual(T0 + ceiling + 1);
						expect(by).toBeGreaterThanOrEqual(at);
					}
				},
			),
			{ numRuns: 100 },
		);
	});

	it('plans as many reads as the budget has, within the bounds of the intervals', () => {
		fc.assert(
			fc.property(fc.array(outlines, { minLength: 20, maxLength: 80 }), (all) => {
				const rate = all.length / 30;
				const planner = createPlanner();
				for (let round = 0; round < 6; round += 1) planner.plan(all, rate);
				const calm = all.map((one) => ({ ...one, earlyReadAskedAt: null }));
				const wanted = calm.reduce((sum, one) => sum + 1000 / (planner.nextRead(one, T0).at - T0), 0);
				const least = (all.length * 1000) / Math.max(CEILING_MS, (CEILING_ROUNDS * all.length * 1000) / rate);
				expect(wanted).toBeLessThan(Math.max(1.35 * rate, 1.2 * least));
			}),
			{ numRuns: 60 },
		);
	});

	it('plans the same interval for equal sessions', () => {
		fc.assert(
			fc.property(outlines, fc.integer({ min: 2, max: 40 }), (one, count) => {
				const planner = createPlanner();
				const all = Array.from({ length: count }, () => one);
				planner.plan(all, 3);
				expect(new Set(all.map((each) => planner.nextRead(each, T0).at)).size).toBe(1);
			}),
			{ numRuns: 40 },
		);
	});
});

describe('the schedule', () => {
	const many = Array.from({ length: 100 }, (_, index) =>
		outline({ status: index < 10 ? 'active' : 'paused', stepRate: stepping(8_000, 0) }),
	);

	function interval(overrides: Partial<WatchedOutline>, rate = 3): number {
		const planner = createPlanner();
		for (let round = 0; round < 5; round += 1) planner.plan(many, rate);
		return planner.nextRead(outline(overrides), T0).at - T0;
	}

	it('reads a working session much more often than a resting or waiting one', () => {
		const active = interval({ stepRate: stepping(8_000, 1_000) });
		expect(interval({ status: 'paused' })).toBeGreaterThan(3 * active);
		expect(interval({ status: 'humanInput', questionOpen: true })).toBeGreaterThan(1.5 * active);
	});

	it('reads a session half as often when its gap, or the time since its last step, is four times as long', () => {
		const usual = interval({ stepRate: stepping(8_000, 1_000) });
		expect(interval({ stepRate: stepping(32_000, 1_000) }) / usual).toBeCloseTo(2, 1);
		expect(interval({ stepRate: stepping(8_000, 32_000) }) / usual).toBeCloseTo(2, 1);
	});

	it('reads a session less often the longer it waits for a person', () => {
		const waiting = (ago: number) =>
			interval({ status: 'humanInput', questionOpen: true, stepRate: stepping(8_000, ago) });
		expect(waiting(10_000)).toBe(waiting(60_000));
		expect(waiting(240_000) / waiting(60_000)).toBeCloseTo(2, 1);
	});

	it('reads a new watch at once, and an ended or answered session soon', () => {
		expect(interval({ lastReadAt: null })).toBe(0);
		expect(interval({ overSince: T0 })).toBe(5_000);
		expect(interval({ status: 'humanInput', earlyReadAskedAt: T0 - 1 })).toBeLessThanOrEqual(3_000);
		expect(interval({ status: 'humanInput', earlyReadAskedAt: T0 - 60_000 })).toBeGreaterThan(5_000);
	});

	/** One that works is read every second when it is alone. */
	function alone(overrides: Partial<WatchedOutline>): number {
		const one = outline({ lastChangeAt: T0 - MINUTE, ...overrides });
		const planner = createPlanner();
		for (let round = 0; round < 5; round += 1) planner.plan([one], 3);
		return planner.nextRead(one, T0).at - T0;
	}

	it('reads a session that has shown nothing new for ten minutes at most 400 times an hour, and within 10 s', () => {
		expect(alone({})).toBe(FLOOR_MS);
		expect(alone({ lastChangeAt: T0 - 9 * MINUTE })).toBe(FLOOR_MS);
		for (const status of ['active', 'paused', 'humanInput']) {
			expect(alone({ status, lastChangeAt: T0 - 10 * MINUTE })).toBe(QUIET_MS);
		}
		expect(HOUR / QUIET_MS).toBeLessThanOrEqual(400);
		expect(QUIET_MS).toBeLessThan(10_000);
	});

	it('reads a session whose question is open as rarely, but not while somebody is answering or was just answered', () => {
		const asking = { status: 'humanInput', questionOpen: true };
		expect(alone(asking)).toBe(QUIET_MS);
		expect(alone({ ...asking, isClaimed: true })).toBe(FLOOR_MS);
		expect(alone({ ...asking, earlyReadAskedAt: T0 - 1 })).toBeLessThanOrEqual(3_000);
		// The agent has not gone on yet.
		expect(alone({ ...asking, questionOpen: false })).toBe(FLOOR_MS);
	});

	it('reads a session more rarely the more bytes and time its reads take', () => {
		const costing = (byteCount: number, tookMs: number) => alone({ reads: { ...UNREAD, byteCount, tookMs } });
		expect(costing(100_000, 300)).toBeLessThan(1_200);
		expect(costing(1_000_000, 0)).toBeCloseTo(1_953, 0);
		expect(costing(5_000_000, 0)).toBeCloseTo(9_766, 0);
		expect(costing(0, 5_000)).toBe(15_000);
		expect(costing(30_000_000, 20_000)).toBe(20_000);
	});

	it('reads a session ever more rarely whose body is another at each read though nothing new is seen', () => {
		const renewed = (vainCount: number, steadyFor: number) =>
			alone({ reads: { ...UNREAD, vainCount }, lastChangeAt: T0 - steadyFor });
		expect(renewed(2, 8 * MINUTE)).toBe(FLOOR_MS);
		expect(renewed(3, 8_000)).toBe(FLOOR_MS);
		expect(renewed(3, 64_000)).toBe(8_000);
		expect(renewed(300, 24 * HOUR)).toBe(QUIET_MS);
	});

	it('backs off from a failing session for up to a minute', () => {
		const waits = [1, 2, 3, 4, 5, 6, 20].map((failures) => interval({ failures }));
		expect(waits).toEqual([4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
	});

	it('moves no read for a small change, and ends all back-offs when the service is back', () => {
		const planner = createPlanner();
		planner.plan(many, 3);
		const settled = many.map((one) => ({ ...one, nextRead: planner.nextRead(one, T0) }));
		expect(movesFor(settled, planner, T0, false)).toEqual([]);
		const failing = outline({ failures: 5, nextRead: { at: T0 + 60_000, by: T0 + 60_000 } });
		expect(movesFor([failing], planner, T0, false)).toEqual([]);
		expect(movesFor([failing], planner, T0, true)).toMatchObject([{ to: { at: T0, by: T0 } }]);
	});

	it('reads first what somebody waits for when the service is back', () => {
		const planner = createPlanner();
		const failing = outline({ failures: 5, lastReadAt: T0 - 300_000, nextRead: { at: T0 + 60_000, by: T0 + 60_000 } });
		const awaited = { ...failing, nextRead: { at: T0 + 60_000, by: T0 - 240_000 } };
		const places = movesFor([awaited, failing], planner, T0, true).map(({ to }) => to.by);
		expect(places).toEqual([T0 - 240_000, T0]);
		const again = planner.nextRead({ ...awaited, failures: 6 }, T0);
		expect(again.at).toBeGreaterThan(T0);
		expect(again.by).toBe(T0 - 240_000);
	});
});

it('averages what reads cost, and counts those that bring another body and nothing new', () => {
	let reads = UNREAD;
	const read = (byteCount: number, isNews: boolean, isOther = byteCount > 0) => {
		reads = readsAfter(reads, { byteCount, tookMs: 300, isOther, isNews });
		return reads;
	};
	expect(read(1_000_000, true)).toEqual({ unread: null, byteCount: 250_000, tookMs: 75, vainCount: 0 });
	expect(read(0, false)).toMatchObject({ byteCount: 187_500, vainCount: 0 });
	for (let count = 1; count < 30; count += 1) expect(read(1_000_000, false).vainCount).toBe(count);
	expect(reads.byteCount).toBeCloseTo(1_000_000, -4);
	expect(reads.tookMs).toBeGreaterThan(280);
	expect(read(0, false).vainCount).toBe(0);
	// Of a body that could not be compared with the one before, nobody knows whether it changed.
	expect(read(1_000_000, false, false).vainCount).toBe(0);
});

describe('a step rate', () => {
	it('learns a step rate from reads, however far apart', () => {
		for (const [everyMs, tolerance] of [
			[1_000, 0.15],
			[15_000, 0.2],
			[60_000, 0.25],
		] as const) {
			const [script] = writeScripts(
				{
					name: 'one',
					kinds: [
						{
							name: 'a',
							share: 1,
							gapSeconds: [8, 8],
							gapSpread: [0.3, 0.3],
							questionPerStep: 0,
							answerSeconds: 60,
							bursts: null,
						},
					],
					together: null,
				},
				1,
				HOUR,
				createRandom(3),
			);
			if (script === undefined) throw new Error('no script');
			let rate = UNKNOWN_STEP_RATE;
			for (let at = everyMs; at < HOUR; at += everyMs) {
				const before = digestAt(script, at - everyMs);
				const after = digestAt(script, at);
				rate = stepRateAfter(rate, { before, after, previousAt: at - everyMs, readAt: at });
			}
			expect(Math.abs(rate.gapMs / script.gapMs - 1)).toBeLessThan(tolerance);
		}
	});

	it('a step rate leaves out the time in which the session rested or waited', () => {
		const [script] = writeScripts(defaultPopulation, 1, HOUR, createRandom(3));
		if (script === undefined) throw new Error('no script');
		const digest = (status: string, assistantCount: number) => ({ ...digestAt(script, 0), status, assistantCount });
		const rate = stepping(8_000, 0);
		for (const status of ['paused', 'humanInput']) {
			const times = { previousAt: T0, readAt: T0 + HOUR };
			const resumed = stepRateAfter(rate, { before: digest(status, 3), after: digest('active', 5), ...times });
			expect(resumed).toEqual({ gapMs: 8_000, lastStepAt: T0 + HOUR });
			const silent = stepRateAfter(rate, { before: digest(status, 3), after: digest('active', 3), ...times });
			expect(silent).toEqual({ gapMs: 8_000, lastStepAt: T0 + HOUR });
			expect(stepRateAfter(rate, { before: digest(status, 3), after: digest(status, 3), ...times })).toBe(rate);
		}
	});
});

it('one person with many sessions loses no reads while the others need no more', () => {
	const all = Array.from({ length: 60 }, (_, index) =>
		outline({ session: { service: 's', sessionId: String(index) }, watchers: [index < 30 ? 'U1' : 'U2'] }),
	);
	const together = createPlanner();
	const apart = createPlanner();
	for (let round = 0; round < 5; round += 1) {
		together.plan(
			all.map((one) => ({ ...one, watchers: ['U1'] })),
			3,
		);
		apart.plan(all, 3);
	}
	const next = (planner: ReturnType<typeof createPlanner>) => all.map((one) => planner.nextRead(one, T0).at - T0);
	const most = Math.max(...next(apart));
	expect(most).toBeLessThan(1.3 * Math.max(...next(together)));
});

it('plans no read later than in half an hour, however many sessions there are', () => {
	const planner = createPlanner();
	const all = Array.from({ length: 5_000 }, () => outline({ status: 'paused' }));
	planner.plan(all, 0.02);
	const { at } = planner.nextRead(outline({ status: 'paused' }), T0);
	expect(at - T0).toBeLessThanOrEqual(HOUR / 2);
});
