import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createManualClock } from '../../fake-slack/index.ts';
import { createRateLimiter } from '../../src/kernel/rate-limiter.ts';
import { runs } from '../support/runs.ts';

const T0 = Date.parse('2026-01-05T09:00:00Z');
const clock = createManualClock(T0);

it('a charge delays the next call as much as single calls do', async () => {
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 1, max: 30 }), fc.nat(40), fc.nat(40), async (burst, taken, charged) => {
			const limit = { intervalMs: 3_000, burst, debt: 80 };
			const limiter = createRateLimiter(clock);
			const take = () => limiter.take('a', limit, { now: T0, keep: 0 });
			for (let call = 0; call < taken; call += 1) await take();
			await limiter.charge('a', limit, { now: T0, count: charged });
			const calls = Math.min(taken, burst) + charged;
			expect(await take()).toBe(Math.max(0, calls + 1 - burst) * 3_000);
		}),
		{ numRuns: runs(100) },
	);
});

it('a charge is limited by the debt, and forgotten when the clock is set back', async () => {
	const limit = { intervalMs: 3_000, burst: 20, debt: 20 };
	let shift = 0;
	const now = () => T0 + shift;
	const limiter = createRateLimiter({ ...clock, now });
	await limiter.charge('a', limit, { now: T0, count: 1_000 });
	expect(await limiter.take('a', limit, { now: T0, keep: 0 })).toBe(21 * 3_000);
	shift = -3_600_000;
	expect(await limiter.take('a', limit, { now: now(), keep: 0 })).toBe(0);
});

it('the rate of a key counts takes and charges, and not those of another key', async () => {
	const limiter = createRateLimiter(clock);
	const limit = { intervalMs: 1_000, burst: 2, debt: 2 };
	const take = (now: number) => limiter.take('a', limit, { now, keep: 0 });
	expect([await take(T0), await take(T0), await take(T0)]).toEqual([0, 0, 1_000]);
	await limiter.charge('a', limit, { now: T0, count: 2 });
	await limiter.take('b', limit, { now: T0, keep: 0 });
	expect(await take(T0)).toBe(3_000);
	expect(await take(T0 + 3_000)).toBe(0);
});
