import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chargePace, createPaces, freshPace, takePace } from '../src/pace.ts';

const T0 = Date.parse('2026-01-05T09:00:00Z');

test('a charge makes the next call wait as if the calls had been taken one by one', () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(40), fc.nat(40), (burst, taken, charged) => {
			const pace = { intervalMs: 3_000, burst, debt: 80 };
			let state = freshPace;
			for (let call = 0; call < taken; call += 1) state = takePace(state, pace, T0, 0).state ?? state;
			state = chargePace(state, pace, T0, charged);
			const calls = Math.min(taken, burst) + charged;
			expect(takePace(state, pace, T0, 0).waitMs).toBe(Math.max(0, calls + 1 - burst) * 3_000);
		}),
	);
});

test('nobody owes more than the debt, and a debt from before the clock was put back is none', () => {
	const pace = { intervalMs: 3_000, burst: 20, debt: 20 };
	const owing = chargePace(freshPace, pace, T0, 1_000);
	expect(takePace(owing, pace, T0, 0).waitMs).toBe(21 * 3_000);
	expect(takePace(owing, pace, T0 - 3_600_000, 0).waitMs).toBe(0);
});

test('a process keeps its rates as long as they matter', async () => {
	const paces = createPaces();
	const pace = { intervalMs: 1_000, burst: 2, debt: 2 };
	const take = (now: number) => paces.take('a', pace, { now, keep: 0 });
	expect([await take(T0), await take(T0), await take(T0)]).toEqual([0, 0, 1_000]);
	await paces.charge('a', pace, { now: T0, count: 2 });
	await paces.take('b', pace, { now: T0, keep: 0 });
	expect(await take(T0)).toBe(3_000);
	expect(await take(T0 + 3_000)).toBe(0);
});
