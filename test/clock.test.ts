import { expect, it } from 'vitest';
import { CLOCK_ALLOWANCE_MS, type Clock, createSystemClock, elapsedSince } from '../src/clock.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-05T09:00:00Z');

/** The system clock of a machine whose wall time can be set. */
function machine() {
	let running = 0;
	let set = START;
	const clock = createSystemClock({ wall: () => set + running, monotonic: () => running });
	return {
		clock,
		pass: (ms: number) => {
			running += ms;
		},
		putForward: (ms: number) => {
			set += ms;
		},
	};
}

it('counts the time since a moment that the process noted itself', () => {
	const { clock, pass } = machine();
	const at = clock.now();
	pass(7_000);
	expect(elapsedSince(clock, at)).toBe(7_000);
});

it('counts from its own start for an earlier moment', () => {
	const { clock, pass } = machine();
	pass(3_000);
	expect(elapsedSince(clock, START - HOUR)).toBe(3_000);
});

it.each([
	['forward', HOUR],
	['back', -HOUR],
])('never counts too much time when the clock is put %s by an hour', (_, step) => {
	const { clock, pass, putForward } = machine();
	const at = clock.now();
	pass(2_000);
	clock.now();
	putForward(step);
	expect(elapsedSince(clock, at)).toBeLessThanOrEqual(2_000);
	pass(4_000);
	expect(elapsedSince(clock, at)).toBeLessThanOrEqual(6_000);
	const after = clock.now();
	pass(5_000);
	expect(elapsedSince(clock, after)).toBe(5_000);
});

it('is not disturbed when the time service slews the clock', () => {
	const { clock, pass, putForward } = machine();
	const at = clock.now();
	for (let second = 0; second < 60; second++) {
		pass(1_000);
		putForward(5);
		clock.now();
	}
	expect(elapsedSince(clock, at)).toBe(60_300);
});

it('counts no time since a moment that is ahead of the clock', () => {
	const clock: Clock = { now: () => START, sleep: async () => undefined };
	expect(elapsedSince(clock, START + CLOCK_ALLOWANCE_MS)).toBe(0);
	expect(elapsedSince(clock, START + HOUR)).toBe(0);
	expect(elapsedSince(clock, START - HOUR)).toBe(HOUR);
});
