import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import type { SharedState } from '../../src/kernel/memory.ts';
import { createRequestBudget, type Permit } from '../../src/service/budget.ts';
import { readRateLimit } from '../../src/service/rate-limit-headers.ts';
import type { RequestPriority } from '../../src/service/service.ts';
import type { BudgetState } from '../../src/service/token-bucket.ts';
import { runs } from '../support/runs.ts';

/** Of a limit of 250: 20 are kept for deliveries, 35 more for people, and 4 go to watching at once. */
const CAPACITY = 59;

function start(
	requestsPerMinute = 250,
	{ isSlow = false, sharedState }: { isSlow?: boolean; sharedState?: SharedState<BudgetState> } = {},
) {
	const clock = createManualClock();
	const budget = createRequestBudget({ requestsPerMinute, clock, ...(sharedState && { sharedState }) });
	if (!isSlow) budget.took(50);
	const granted: string[] = [];
	const permits = new Map<string, Permit>();
	/** Asks; resolves to the code of a refusal, or null. */
	const ask = (name: string, priority: RequestPriority, options: Parameters<typeof budget.acquire>[1] = {}) =>
		budget.acquire(priority, options).then(
			(permit) => {
				granted.push(name);
				permits.set(name, permit);
				return null;
			},
			(error: { code: string }) => error.code,
		);
	const askMany = (count: number, ...asked: Parameters<typeof ask>) => {
		for (let n = 0; n < count; n++) void ask(...asked);
	};
	const countOf = (name: string) => granted.filter((one) => one === name).length;
	const end = (name: string) => permits.get(name)?.[Symbol.dispose]();
	return { clock, budget, granted, ask, askMany, countOf, end };
}

const arrivals = fc.array(
	fc.record({
		wait: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(3_000), fc.nat(70_000)),
		asked: fc.constantFrom(
			...([
				['delivery', 2],
				['delivery', 1],
				['person', 1],
				['background', 1],
			] as const),
		),
		times: fc.constantFrom(1, 1, 3, 12),
	}),
	{ maxLength: 40 },
);

it('sends no more than the limit in any 60 s, whoever asks when, and everything in the end', async () => {
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 3, max: 60 }), arrivals, async (limit, steps) => {
			const { clock, budget } = start(limit);
			const sent: number[] = [];
			let count = 0;
			for (const { wait, asked, times } of steps) {
				const [priority, requests] = asked;
				await clock.advance(wait);
				for (let n = 0; n < times; n++) {
					count += requests;
					void budget.acquire(priority, { count: requests }).then(() => {
						for (let part = 0; part < requests; part++) sent.push(clock.now());
					});
				}
			}
			await clock.advance(0);
			while (clock.sleeping > 0) await clock.advance(62_000);
			expect(sent).toHaveLength(count);
			for (const [index, at] of sent.entries())
				expect((sent[index + limit] ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThan(60_000);
		}),
		{ numRuns: runs(60) },
	);
});

it('uses nearly all of the limit while watching asks for more', async () => {
	const { clock, askMany, countOf } = start();
	askMany(2_000, 'poll', 'background');
	await clock.advance(62_000);
	const before = countOf('poll');
	await clock.advance(5 * 62_000);
	expect(countOf('poll') - before).toBeGreaterThanOrEqual(5 * (250 - CAPACITY) - 1);
});

it('serves people and deliveries within what is kept for them at once, whatever was asked before', async () => {
	const { clock, budget, ask, askMany, countOf } = start();
	askMany(1_000, 'poll', 'background');
	await clock.advance(120_000);
	askMany(100, 'person', 'person');
	await clock.advance(0);
	expect(countOf('person')).toBe(35);
	for (let n = 0; n < 10; n++) void ask('pair', 'delivery', { count: 2 });
	await clock.advance(0);
	expect(countOf('pair')).toBe(10);
	expect(budget.left()).toBe(0);
	// What fills the bucket goes to people until their part is served, and then to watching.
	const polls = countOf('poll');
	await clock.advance(20_000);
	expect(countOf('poll')).toBe(polls);
	await clock.advance(60_000);
	expect(countOf('person')).toBe(100);
	expect(countOf('poll')).toBeGreaterThan(polls);
});

it('grants deliveries first, then people, then watching, each in the order of asking, and never overtakes a pair', async () => {
	const { clock, ask, granted } = start();
	void ask('early', 'delivery', { count: CAPACITY });
	for (const name of ['poll 1', 'poll 2']) void ask(name, 'background');
	for (const name of ['person 1', 'person 2']) void ask(name, 'person');
	for (const name of ['pair 1', 'pair 2']) void ask(name, 'delivery', { count: 2 });
	await clock.advance(0);
	expect(granted).toEqual(['early']);
	await clock.advance(60_000);
	expect(granted.slice(1)).toEqual(['pair 1', 'pair 2', 'person 1', 'person 2', 'poll 1', 'poll 2']);
});

it('gives people turns: a flood of one person delays nobody else', async () => {
	const { clock, granted, ask, askMany } = start(50);
	askMany(200, 'flood', 'person', { person: 'flood' });
	askMany(3, 'ann', 'person', { person: 'ann' });
	await clock.advance(0);
	expect(granted.slice(0, 7)).toEqual(['flood', 'ann', 'flood', 'ann', 'flood', 'ann', 'flood']);
	await clock.advance(10_000);
	const before = granted.length;
	for (const name of ['cleo', 'cleo', 'cleo', 'bob']) void ask(name, 'person', { person: name });
	// They become free one after another.
	await clock.advance(14_000);
	expect(granted.slice(before, before + 7)).toEqual(['cleo', 'bob', 'flood', 'cleo', 'flood', 'cleo', 'flood']);
});

it('tells watching when its next request may begin, and that somebody waits', async () => {
	const { clock, budget, ask, askMany } = start();
	expect(budget.background.freeAt()).toBe(clock.now());
	expect(budget.background.perSecond()).toBeCloseTo(191 / 62);
	askMany(4, 'poll', 'background');
	await clock.advance(0);
	const freeAt = budget.background.freeAt() ?? 0;
	expect(freeAt - clock.now()).toBe(Math.ceil(62_000 / 191));
	askMany(1, 'poll', 'background');
	expect(budget.background.freeAt()).toBeNull();
	await clock.advance(freeAt - clock.now());
	void ask('person', 'person');
	await clock.advance(0);
	expect(budget.background.freeAt()).toBeGreaterThan(clock.now());
});

describe('a request that is aborted', () => {
	it('is not charged, and makes room', async () => {
		const { clock, budget, ask, askMany, granted } = start(10);
		askMany(4, 'early', 'delivery');
		const leaving = new AbortController();
		const gone = budget.acquire('delivery', { count: 2, signal: leaving.signal });
		void ask('stays', 'delivery');
		await clock.advance(0);
		leaving.abort(new Error('left'));
		await expect(gone).rejects.toThrow('left');
		// One request fills the bucket in this time.
		await clock.advance(10_334);
		expect(granted.slice(4)).toEqual(['stays']);
		const late = budget.acquire('person', { signal: AbortSignal.abort(new Error('too late')) });
		await expect(late).rejects.toThrow('too late');
	});

	it('in the same moment as it is granted leaves no request under way', async () => {
		for (let moments = 0; moments < 12; moments++) {
			const { clock, budget, askMany, granted } = start(250, { isSlow: true });
			const leaving = new AbortController();
			const gone = budget.acquire('person', { signal: leaving.signal }).then(
				(permit) => permit[Symbol.dispose](),
				() => undefined,
			);
			for (let passed = 0; passed < moments; passed++) await Promise.resolve();
			leaving.abort(new Error('left'));
			await gone;
			budget.took(10_000);
			askMany(3, 'next', 'person');
			await clock.advance(0);
			expect(granted, `after ${moments} moments`).toHaveLength(2);
		}
	});
});

describe('a deadline', () => {
	it('that cannot be kept is refused at once, and others when they pass', async () => {
		const { clock, budget, ask, askMany } = start();
		budget.observe({ retryAfterSeconds: 28 });
		const hopeless = budget.acquire('person', { deadline: clock.now() + 8_000 });
		await expect(hopeless).rejects.toMatchObject({ code: 'rate_limited', retryAt: clock.now() + 28_000 });
		await clock.advance(28_000);
		askMany(500, 'person', 'person', { person: 'flood' });
		await clock.advance(100);
		// This is our own limit, not one of the service. It may come in time if others leave.
		let refused: string | null = null;
		void ask('late', 'person', { person: 'flood', deadline: clock.now() + 8_000 }).then((code) => {
			refused = code;
		});
		await clock.advance(7_999);
		expect(refused).toBeNull();
		await clock.advance(1);
		expect(refused).toBe('no_permit');
	});

	it('before the end of a new pause is refused at once', async () => {
		const { clock, budget, ask, askMany } = start();
		askMany(4, 'poll', 'background');
		await clock.advance(0);
		const waiting = ask('poll', 'background', { deadline: clock.now() + 10_000 });
		budget.observe({ retryAfterSeconds: 60 });
		expect(await waiting).toBe('rate_limited');
		await clock.advance(0);
		expect(clock.sleeping).toBe(0);
	});
});

describe('what the service says', () => {
	it('after a 429 nothing is sent before Retry-After: at least a second, at most five minutes', async () => {
		for (const [said, pause] of [
			[28, 28_000],
			[0, 1_000],
			[86_400, 300_000],
		] as const) {
			const { clock, budget, ask, granted } = start();
			budget.observe({ retryAfterSeconds: said });
			// A later response to an earlier request does not shorten it.
			budget.observe({ limit: 250, remaining: 249, resetSeconds: 60, retryAfterSeconds: 1 });
			void ask('delivery', 'delivery');
			await clock.advance(pause - 1);
			expect(granted).toEqual([]);
			await clock.advance(1);
			expect(granted).toEqual(['delivery']);
		}
	});

	it('with less left than reckoned, watching stops and others use only that until its window ends', async () => {
		const { clock, budget, askMany, countOf } = start();
		budget.observe({ limit: 250, remaining: 30, resetSeconds: 20 });
		askMany(100, 'poll', 'background');
		askMany(30, 'person', 'person');
		await clock.advance(0);
		// 20 are kept for deliveries.
		expect(countOf('person')).toBe(10);
		askMany(50, 'delivery', 'delivery');
		await clock.advance(19_900);
		expect([countOf('delivery'), countOf('person'), countOf('poll')]).toEqual([20, 10, 0]);
		// A response with more left does not fill the bucket.
		budget.observe({ limit: 250, remaining: 249, resetSeconds: 60 });
		expect([countOf('delivery'), countOf('person'), countOf('poll')]).toEqual([20, 10, 0]);
		await clock.advance(100);
		// Meanwhile ours was filled.
		expect([countOf('delivery'), countOf('person')]).toEqual([50, 19]);
		await clock.advance(60_000);
		expect(countOf('poll')).toBeGreaterThan(0);
	});

	it('with more left than reckoned, nothing changes, and requests under way are not in it yet', async () => {
		const { clock, budget, ask, askMany } = start();
		askMany(20, 'person', 'person');
		await clock.advance(0);
		expect(budget.left()).toBe(CAPACITY - 20);
		budget.observe({ limit: 250, remaining: 249, resetSeconds: 60 });
		expect(budget.left()).toBe(CAPACITY - 20);
		void ask('pair', 'delivery', { count: 2 });
		await clock.advance(0);
		// The one that was answered is in it, 21 are not.
		budget.observe({ limit: 250, remaining: 30, resetSeconds: 60 });
		await clock.advance(0);
		expect(budget.left()).toBe(30 - 21);
	});

	it('a lower limit holds until the service names a higher one, which raises ours no further', async () => {
		const { clock, budget, askMany, countOf } = start(30);
		budget.observe({ limit: 10 });
		askMany(200, 'delivery', 'delivery');
		await clock.advance(5 * 62_000 + 100);
		expect(countOf('delivery')).toBe(4 + 5 * 6);
		budget.observe({ limit: 1_000 });
		await clock.advance(5 * 62_000 + 100);
		expect(countOf('delivery')).toBe(4 + 5 * 6 + 5 * 23);
	});

	it('headers that make no sense stop nothing for good, and raise no limit', async () => {
		const word = fc.oneof(
			fc.constantFrom('0', '1', '2', '250', '999999999', '99999999999999999999', '-1', '0.5', 'NaN', '', 'soon', '1e9'),
			fc.nat(300).map(String),
		);
		const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after', 'ratelimit-policy'];
		const headers = fc.dictionary(fc.constantFrom(...names), word);
		const responses = fc.array(fc.record({ status: fc.constantFrom(200, 304, 429), headers }), { maxLength: 5 });
		await fc.assert(
			fc.asyncProperty(responses, async (said) => {
				const { clock, budget, ask, granted } = start(250);
				for (const { status, headers } of said) {
					budget.observe(readRateLimit({ status, headers: new Map(Object.entries(headers)) }, clock.now(), 0));
					await clock.advance(0);
					expect(budget.left()).toBeLessThanOrEqual(CAPACITY);
				}
				// The longest pause, and what fills a bucket of the lowest limit with two requests.
				await clock.advance(300_000 + 2 * 62_000 + 100);
				void ask('pair', 'delivery', { count: 2 });
				await clock.advance(0);
				expect(granted).toEqual(['pair']);
			}),
			{ numRuns: runs(100) },
		);
	});
});

describe('a service whose speed is not known, or that is slow', () => {
	it('has two requests under way until the first has ended, however that ended', async () => {
		const { clock, askMany, ask, granted, end } = start(250, { isSlow: true });
		askMany(1, 'first', 'person');
		askMany(3, 'person', 'person');
		await clock.advance(0);
		expect(granted).toEqual(['first', 'person']);
		void ask('pair', 'delivery', { count: 2 });
		end('first');
		end('first');
		await clock.advance(0);
		expect(granted.slice(2)).toEqual(['pair', 'person', 'person']);
	});

	it('has two under way while each of the newest three calls took 3 s, deliveries first; a pair is two', async () => {
		const { clock, budget, ask, askMany, granted, end } = start();
		for (const ms of [50, 3_000, 3_000]) budget.took(ms);
		expect(budget.background.isSlow()).toBe(false);
		budget.took(3_000);
		expect([budget.background.isSlow(), budget.background.isSlow(3_001)]).toEqual([true, false]);
		void ask('one', 'person');
		void ask('other', 'background');
		await clock.advance(0);
		askMany(5, 'person', 'person');
		void ask('pair', 'delivery', { count: 2 });
		await clock.advance(30_000);
		expect(granted).toEqual(['one', 'other']);
		end('one');
		await clock.advance(0);
		expect(granted.slice(2)).toEqual(['pair']);
		end('other');
		await clock.advance(0);
		expect(granted.slice(3)).toEqual([]);
		end('pair');
		await clock.advance(0);
		expect(granted.slice(3)).toEqual(['person', 'person']);
		budget.took(2_999);
		end('person');
		await clock.advance(0);
		expect(granted.slice(5)).toEqual(['person', 'person', 'person']);
	});

	it('lets everybody wait a minute longer than their deadline for their turn', async () => {
		const { clock, budget, ask, granted, end } = start(250, { isSlow: true });
		budget.took(20_000);
		void ask('pair', 'delivery', { count: 2 });
		const deadline = clock.now() + 8_000;
		for (const name of ['one', 'other']) void ask(name, 'person', { deadline });
		let refused: string | null = null;
		void ask('late', 'person', { deadline }).then((code) => {
			refused = code;
		});
		await clock.advance(67_999);
		expect(granted).toEqual(['pair']);
		end('pair');
		await clock.advance(0);
		expect(granted.slice(1)).toEqual(['one', 'other']);
		expect(refused).toBeNull();
		await clock.advance(1);
		expect(refused).toBe('no_permit');
		expect(clock.sleeping).toBe(0);
	});
});

describe('when the clock is set', () => {
	it.each([
		['back', -1],
		['forward', 1],
	])('%s by an hour, nothing waits for longer than a minute', async (_, direction) => {
		const manual = createManualClock();
		let shift = 0;
		const clock = { ...manual, now: () => manual.now() + shift };
		const budget = createRequestBudget({ clock });
		let granted = 0;
		const note = () => {
			granted++;
		};
		for (let n = 0; n < CAPACITY; n++) void budget.acquire('delivery').then((permit) => permit[Symbol.dispose]());
		await manual.advance(0);
		budget.observe({ remaining: 0, resetSeconds: 300, retryAfterSeconds: 300 });
		void budget.acquire('background').then(note);
		void budget.acquire('delivery', { count: 2 }).then(note);
		await manual.advance(1_000);
		expect(granted).toBe(0);
		shift = direction * 3_600_000;
		await manual.advance(60_000);
		expect(granted).toBe(2);
	});

	it('back by a second, nothing that was sent is forgotten', async () => {
		const manual = createManualClock();
		let shift = 0;
		const budget = createRequestBudget({ clock: { ...manual, now: () => manual.now() + shift } });
		let granted = 0;
		for (let n = 0; n < CAPACITY + 3; n++)
			void budget.acquire('delivery').then((permit) => {
				permit[Symbol.dispose]();
				granted++;
			});
		await manual.advance(0);
		shift = -1_000;
		await manual.advance(1_000);
		expect(granted).toBe(CAPACITY);
	});
});

it('grants nothing while its row cannot be read, keeps deadlines, and goes on afterwards', async () => {
	let isAway = true;
	let row: BudgetState | null = null;
	const sharedState: SharedState<BudgetState> = {
		async update(change) {
			if (isAway) throw new Error('the database is away');
			const { state, result } = change(row);
			row = state;
			return result;
		},
	};
	const { clock, budget, ask, granted } = start(250, { sharedState });
	const hasty = ask('hasty', 'person', { deadline: clock.now() + 8_000 });
	void ask('patient', 'delivery');
	// Lost, as the next response says it again.
	budget.observe({ remaining: 5, resetSeconds: 60 });
	await clock.advance(10_000);
	expect(await hasty).toBe('no_permit');
	expect(granted).toEqual([]);
	isAway = false;
	await clock.advance(2_000);
	expect(granted).toEqual(['patient']);
	expect(clock.sleeping).toBe(0);
});
