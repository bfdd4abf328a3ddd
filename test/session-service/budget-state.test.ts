import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	type BudgetState,
	decide,
	EMPTY_BUDGET_STATE,
	observed,
	sharesOf,
	usageAt,
} from '../../src/session-service/budget-state.ts';
import type { RequestPriority } from '../../src/session-service/service.ts';

const START = Date.parse('2026-01-05T09:00:00Z');

interface Step {
	readonly wait: number;
	readonly priority: RequestPriority;
	readonly count: number;
	readonly ahead?: boolean;
	/** Of a window, for those that go ahead. */
	readonly reserved?: number;
}

const steps = fc.array(
	fc.record({
		wait: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3_000), fc.nat(70_000)),
		priority: fc.constantFrom<RequestPriority>('delivery', 'person', 'background'),
		count: fc.constantFrom(1, 1, 1, 2),
		ahead: fc.boolean(),
		reserved: fc.constantFrom(0, 0.1, 0.5),
	}),
	{ maxLength: 400 },
);

/** Asks step by step; returns what was granted when. */
function run(limit: number, asked: readonly Step[]) {
	let state: BudgetState = EMPTY_BUDGET_STATE;
	let now = START;
	const grants: { at: number; priority: RequestPriority; count: number }[] = [];
	const refusals: (Step & { at: number; retryAt: number; state: BudgetState })[] = [];
	for (const step of asked) {
		const { wait, priority, count } = step;
		now += wait;
		const decision = decide(state, { now, limit, ...step });
		if (decision.granted) {
			// Through JSON, as in a row of the database.
			state = JSON.parse(JSON.stringify(decision.state)) as BudgetState;
			grants.push({ at: now, priority, count });
		} else refusals.push({ ...step, at: now, retryAt: decision.retryAt, state });
	}
	return { grants, refusals, state };
}

/** Bursts of all priorities at once, which are rare among random steps. */
const crowd = (priority: RequestPriority, size: number): Step[] =>
	Array.from({ length: size }, () => ({ wait: 0, priority, count: 1 }));

describe('any sequence of requests', () => {
	it('sends no more than the limit in any 60 seconds', () => {
		fc.assert(
			fc.property(fc.integer({ min: 10, max: 60 }), steps, (limit, asked) => {
				const { grants } = run(limit, asked);
				for (const first of grants) {
					const within = grants.filter(({ at }) => at >= first.at && at <= first.at + 60_000);
					expect(within.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(limit);
				}
			}),
			{ numRuns: 150 },
		);
	});

	it('never refuses a person or a delivery within their share', () => {
		fc.assert(
			fc.property(fc.integer({ min: 10, max: 60 }), steps, (limit, asked) => {
				const shares = sharesOf(limit);
				for (const { at, priority, count, state } of run(limit, asked).refusals) {
					if (priority === 'background') continue;
					expect(usageAt(state, at, limit)[priority] + count).toBeGreaterThan(shares[priority]);
				}
			}),
			{ numRuns: 150 },
		);
	});

	it('a refusal names a later time at which the request fits, and not much too late', () => {
		fc.assert(
			fc.property(fc.integer({ min: 10, max: 60 }), steps, (limit, asked) => {
				for (const { at, retryAt, state, ...step } of run(limit, asked).refusals) {
					expect(retryAt).toBeGreaterThan(at);
					expect(retryAt).toBeLessThanOrEqual(at + 62_000);
					if (step.priority !== 'background') {
						expect(decide(state, { now: retryAt, limit, ...step }).granted).toBe(true);
						expect(decide(state, { now: retryAt - 1, limit, ...step }).granted).toBe(false);
					}
				}
			}),
			{ numRuns: 150 },
		);
	});

	it('keeps the state small', () => {
		const asked = Array.from(
			{ length: 5_000 },
			(_, n): Step => ({ wait: 250, priority: n % 2 ? 'person' : 'background', count: 1 }),
		);
		expect(JSON.stringify(run(250, asked).state).length).toBeLessThan(2_500);
	});
});

describe('shares', () => {
	it('of 250 requests, 20 are kept for deliveries and 40 for people', () => {
		expect(sharesOf(250)).toEqual({ delivery: 20, person: 40 });
	});

	it('people beyond their share leave what is kept for requests that go ahead, and do not stop those', () => {
		const people = run(
			250,
			crowd('person', 300).map((step) => ({ ...step, reserved: 1 })),
		);
		expect(people.grants).toHaveLength(250 - 20 - 62);
		const asked = { now: START, limit: 250, priority: 'background', count: 1, reserved: 1 } as const;
		let { state } = people;
		const granted = (ahead: boolean) => {
			const decision = decide(state, { ...asked, ahead });
			if (decision.granted) state = decision.state;
			return decision.granted;
		};
		expect(granted(false)).toBe(false);
		expect(Array.from({ length: 62 }, () => granted(true)).filter(Boolean).length).toBeGreaterThanOrEqual(40);
		expect(decide(state, { ...asked, priority: 'delivery', count: 2 }).granted).toBe(true);
	});

	it('background requests leave both shares untouched', () => {
		const asked = Array.from({ length: 400 }, (): Step => ({ wait: 100, priority: 'background', count: 1 }));
		const { state } = run(250, asked);
		expect(usageAt(state, START + 40_000, 250).free).toBeGreaterThanOrEqual(60);
	});

	it('people may use all but the share of deliveries, and deliveries all but the share of people', () => {
		expect(run(250, crowd('person', 300)).grants).toHaveLength(230);
		expect(run(250, crowd('delivery', 300)).grants).toHaveLength(210);
		expect(run(250, [...crowd('person', 300), ...crowd('delivery', 300)]).grants).toHaveLength(250);
	});

	it('background requests are spread evenly after a first burst', () => {
		const asked = Array.from({ length: 600 }, (): Step => ({ wait: 50, priority: 'background', count: 1 }));
		const { grants } = run(250, asked);
		const gaps = grants.slice(5).map((grant, index) => grant.at - (grants[index + 4]?.at ?? 0));
		// 190 a minute make an interval of 316 ms, measured with a request every 50 ms.
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(300);
		expect(Math.max(...gaps)).toBeLessThanOrEqual(350);
	});
});

describe('rate limit headers', () => {
	const limit = 250;

	it('a lower remaining count of the service is used until its window ends', () => {
		const state = observed(
			EMPTY_BUDGET_STATE,
			{ limit: 250, remaining: 30, resetSeconds: 20 },
			{ now: START, limit, sequence: 0 },
		);
		expect(usageAt(state, START, limit).free).toBe(30);
		expect(decide(state, { now: START, limit, priority: 'background', count: 1 }).granted).toBe(false);
		expect(decide(state, { now: START, limit, priority: 'person', count: 1 }).granted).toBe(true);
		expect(decide(state, { now: START, limit, priority: 'delivery', count: 20 }).granted).toBe(true);
		expect(usageAt(state, START + 20_000, limit).free).toBe(250);
	});

	it('a higher remaining count of the service changes nothing', () => {
		const { state } = run(limit, crowd('person', 100));
		const told = observed(
			state,
			{ limit: 250, remaining: 249, resetSeconds: 60 },
			{ now: START, limit, sequence: 100 },
		);
		expect(usageAt(told, START, limit).free).toBe(150);
	});

	it('requests granted after the one of the response are charged', () => {
		const { state } = run(limit, crowd('person', 30));
		const told = observed(state, { remaining: 40, resetSeconds: 30 }, { now: START, limit, sequence: 10 });
		expect(usageAt(told, START, limit).free).toBe(20);
		// The response to an older request arrives later and has an older count.
		expect(
			usageAt(observed(told, { remaining: 200, resetSeconds: 30 }, { now: START, limit, sequence: 5 }), START, limit)
				.free,
		).toBe(20);
	});

	it('a lower limit of the service is used until the service raises it', () => {
		const low = observed(EMPTY_BUDGET_STATE, { limit: 60 }, { now: START, limit, sequence: 0 });
		expect(usageAt(low, START, limit)).toMatchObject({ limit: 60, free: 60 });
		expect(usageAt(observed(low, { limit: 1_000 }, { now: START, limit, sequence: 0 }), START, limit).limit).toBe(250);
	});

	it('after a 429 nothing is granted before Retry-After, for at most five minutes', () => {
		const state = observed(EMPTY_BUDGET_STATE, { retryAfterSeconds: 28 }, { now: START, limit, sequence: 0 });
		expect(decide(state, { now: START + 27_999, limit, priority: 'delivery', count: 1 })).toEqual({
			granted: false,
			retryAt: START + 28_000,
		});
		expect(decide(state, { now: START + 28_000, limit, priority: 'delivery', count: 1 }).granted).toBe(true);
		const day = observed(EMPTY_BUDGET_STATE, { retryAfterSeconds: 86_400 }, { now: START, limit, sequence: 0 });
		expect(day.pausedUntil).toBe(START + 300_000);
	});

	it('any headers leave a valid state', () => {
		const number = fc.option(fc.oneof(fc.nat(300), fc.nat(), fc.constant(0)), { nil: undefined });
		fc.assert(
			fc.property(number, number, number, fc.nat(400), (remaining, resetSeconds, named, sequence) => {
				const headers = {
					...(remaining === undefined ? {} : { remaining }),
					...(resetSeconds === undefined ? {} : { resetSeconds }),
					...(named === undefined ? {} : { limit: named }),
				};
				const state = observed(EMPTY_BUDGET_STATE, headers, { now: START, limit, sequence });
				const later = START + 601_000;
				expect(decide(state, { now: later, limit, priority: 'delivery', count: 2 }).granted).toBe(true);
			}),
		);
	});
});

it('forgets no requests when the clock goes back by a second', () => {
	const { state } = run(250, crowd('person', 230));
	expect(decide(state, { now: START - 1_000, limit: 250, priority: 'person', count: 1 }).granted).toBe(false);
});
