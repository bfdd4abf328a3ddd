import { expect, it } from 'vitest';
import { elapsedSince, systemClock } from '../../src/kernel/clock.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-05T09:00:00Z');

/** A clock at `START` that has had no step since `steadySince`. */
const clockSince = (steadySince: number) => ({
	now: () => START,
	sleep: async () => undefined,
	steadySince: () => steadySince,
});

it.each([
	['since a moment after the last step', START - HOUR, START - 7_000, 7_000],
	['since the last step for an earlier moment', START - 3_000, START - HOUR, 3_000],
	['none for a moment ahead of the clock', START - HOUR, START + HOUR, 0],
	['none while nobody knows whether the clock was set', Number.POSITIVE_INFINITY, START - HOUR, 0],
])('counts the time %s', (_, steadySince, at, elapsed) => {
	expect(elapsedSince(clockSince(steadySince), at)).toBe(elapsed);
});

it('sleeps no time until a moment that has passed, without a warning in the log', async () => {
	const warnings: Error[] = [];
	const note = (warning: Error) => void warnings.push(warning);
	process.on('warning', note);
	await systemClock.sleep(-8);
	process.off('warning', note);
	expect(warnings).toEqual([]);
});
