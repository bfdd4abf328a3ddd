import { describe, expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { expectNoLaterThanInTurn, median } from './simulation/in-turn.ts';
import { defaultPopulation, writeScripts } from './simulation/population.ts';
import { simulate } from './simulation/simulate.ts';

const HOUR = 3_600_000;

describe('in virtual time', () => {
	it('notices any population at the median at most 10 % and 1 s later than reading in turn, without a 429 and without making people wait', () => {
		expectNoLaterThanInTurn(2);
	});

	it('notices a hundred sessions, one in ten at work, four times sooner than reading in turn', () => {
		const lengthMs = 3 * HOUR;
		const scripts = writeScripts(defaultPopulation, 100, lengthMs, createRandom(5));
		const options = { scripts, lengthMs, seed: 5 };
		const gain = median(simulate('round robin', options).detection) / median(simulate('adaptive', options).detection);
		expect(gain).toBeGreaterThan(4);
	});

	it('notices questions of three hundred sessions within seconds where the service lists those that wait', () => {
		const lengthMs = 3 * HOUR;
		const scripts = writeScripts(defaultPopulation, 300, lengthMs, createRandom(5));
		const { detection, refused, requestsPerMinute, personWaits } = simulate('with a list', {
			scripts,
			lengthMs,
			seed: 5,
		});
		const sorted = Float64Array.from(detection).sort();
		expect(sorted.length).toBeGreaterThan(200);
		expect(median(detection)).toBeLessThanOrEqual(2_000);
		expect(sorted[Math.floor(0.95 * sorted.length)]).toBeLessThanOrEqual(4_000);
		expect(sorted.at(-1)).toBeLessThan(60_000);
		expect(refused).toBe(0);
		expect(requestsPerMinute).toBeLessThanOrEqual(250);
		expect(Math.max(0, ...personWaits)).toBeLessThanOrEqual(300);
	});
});

const [working] = defaultPopulation.kinds;
if (working === undefined) throw new Error('no kind');

it('one person with fifty busy sessions at most doubles the time until questions of others are noticed', {
	timeout: 120_000,
}, () => {
	const lengthMs = 4 * HOUR;
	const theirs = writeScripts(defaultPopulation, 20, lengthMs, createRandom(27));
	const own = writeScripts(
		{ name: 'at work', kinds: [{ ...working, share: 1 }], together: null },
		50,
		lengthMs,
		createRandom(99),
	);
	const creators = [...theirs.map((_, index) => `U${index % 4}`), ...own.map(() => 'U-MANY')];
	const usual = simulate('adaptive', { scripts: theirs, lengthMs, seed: 1, creators: creators.slice(0, 20) });
	const beside = simulate('adaptive', { scripts: [...theirs, ...own], lengthMs, seed: 1, creators });
	const noticed = beside.detectionOf.slice(0, 20).flat();
	expect(noticed.length).toBeGreaterThan(60);
	expect(median(noticed)).toBeLessThanOrEqual(2 * median(usual.detection));
});
