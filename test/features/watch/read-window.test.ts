import { expect, it } from 'vitest';
import { createReadWindow } from '../../../src/session-service/health.ts';

const MOST = 16;

/** A service that is read as often as the window allows, in virtual time. `aheadMs`: until all reads have ended that are under way. */
function reading(serviceMs: (index: number, aheadMs: number) => number | null) {
	let now = 0;
	let index = 0;
	const window = createReadWindow({ most: MOST, clock: { now: () => now, sleep: async () => {} } });
	const running: { endsAt: number; tookMs: number; end: (tookMs: number) => void }[] = [];

	function begin(): void {
		const end = window.begin();
		const tookMs = serviceMs(index, Math.max(0, ...running.map(({ endsAt }) => endsAt - now)));
		index += 1;
		if (tookMs !== null) running.push({ endsAt: now + Math.max(0, tookMs), tookMs, end });
	}

	function endNext(): void {
		running.sort((one, other) => one.endsAt - other.endsAt);
		const next = running.shift();
		if (next === undefined) return;
		now = next.endsAt;
		next.end(next.tookMs);
	}

	return {
		window,
		begin,
		endNext,
		pass: (ms: number) => {
			now += ms;
		},
		/** Ends this many reads, with as many under way as allowed; the most that were. */
		ends(count: number): number {
			let most = 0;
			for (let ended = 0; ended < count; ended += 1) {
				while (window.room() > 0) begin();
				most = Math.max(most, running.length);
				endNext();
			}
			return most;
		},
	};
}

/** The same figures in each run, from 0 to 1. */
function figures(): () => number {
	let seed = 1;
	return () => {
		seed = (seed * 16_807) % 2_147_483_647;
		return seed / 2_147_483_647;
	};
}

it.each([
	['all take the same time', () => 400],
	['half of the sessions take 50 ms and half 1.6 s', (index: number) => (index % 2 === 0 ? 50 : 1_600)],
	['half take 1.6 s and half 50 ms', (index: number) => (index % 2 === 0 ? 1_600 : 50)],
	['one of ten takes 5 s', (index: number) => (index % 10 === 3 ? 5_000 : 200)],
	['each takes longer than others hang', () => 5_000],
])('has many reads under way when %s', (_, serviceMs) => {
	const service = reading(serviceMs);
	service.ends(200);
	expect(service.ends(100)).toBeGreaterThan(8);
});

it('has many under way when reads take anything between 0.1 and 3 s', () => {
	const random = figures();
	const service = reading(() => 100 + 2_900 * random());
	service.ends(200);
	expect(service.ends(100)).toBeGreaterThan(8);
});

it.each([[200], [660], [4_000]])('has few under way at a service that takes %i ms for one after another', (eachMs) => {
	const service = reading((_, aheadMs) => aheadMs + eachMs);
	service.ends(50);
	expect(service.ends(500)).toBeLessThanOrEqual(3);
});

it('stays small at a service that works on one after another while reads come in bursts', () => {
	const service = reading((_, aheadMs) => aheadMs + 660);
	let most = 0;
	for (let burst = 0; burst < 200; burst += 1) {
		service.ends(1);
		let count = 0;
		while (service.window.room() > 0) {
			service.begin();
			count += 1;
		}
		most = Math.max(most, count);
		for (let ended = 0; ended < count; ended += 1) service.endNext();
	}
	expect(most).toBeLessThanOrEqual(3);
});

it('gives the place of a read that hangs to others, also when it is the first', () => {
	const service = reading((index) => (index === 0 ? null : 200));
	service.begin();
	expect(service.window.room()).toBe(0);
	service.pass(3_001);
	expect(service.window.room()).toBe(1);
	service.ends(100);
	expect(service.ends(100)).toBeGreaterThan(8);
});

it('waits longer for a read where one alone takes long', () => {
	const service = reading(() => 2_000);
	service.ends(1);
	while (service.window.room() > 0) service.begin();
	service.pass(4 * 2_000 - 1);
	expect(service.window.room()).toBe(0);
	service.pass(2);
	expect(service.window.room()).toBe(1);
});

it('never has more than the most under way, with those that hang', () => {
	const service = reading(() => null);
	for (let count = 0; count < MOST; count += 1) {
		expect(service.window.room()).toBe(1);
		service.begin();
		service.pass(3_001);
	}
	expect(service.window.room()).toBe(0);
});

it('stays as it is although the clock was put back during reads that were alone', () => {
	const service = reading(() => 400);
	service.ends(200);
	for (let count = 0; count < MOST; count += 1) service.endNext();
	for (let count = 0; count < 5; count += 1) service.window.begin()(-3_600_000);
	service.ends(20);
	for (let count = 0; count < MOST; count += 1) service.endNext();
	expect(service.window.room()).toBeGreaterThan(8);
});

it('grows although no read is ever alone', () => {
	const { window } = reading(() => 0);
	let most = 0;
	let ended = window.begin();
	for (let count = 0; count < 200; count += 1) {
		const next = window.begin();
		ended(2_000);
		ended = next;
		most = Math.max(most, window.room());
	}
	expect(most).toBeGreaterThan(1);
});
