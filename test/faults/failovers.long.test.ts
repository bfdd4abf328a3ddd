import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createRandom } from '../support/random.ts';
import { runFailovers } from './failovers.ts';

const ENTRY = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const BATCH = 8;
const seed = Date.now() % 1_000_000;

it(`loses and doubles no answer when PostgreSQL fails over (seed ${seed})`, { timeout: 300_000 }, async () => {
	const result = await runFailovers({ entry: ENTRY, failovers: 1, batch: BATCH, random: createRandom(seed) });
	const { forms, presses, failovers } = result;
	expect([forms.brokenTurns, forms.verdict.problems, forms.violations, presses.problems]).toEqual([[], [], [], []]);
	expect([forms.outages, presses.outages]).toEqual([1, 1]);
	// People went on to answer over the new primary.
	expect(failovers.map(({ firstMs }) => firstMs)).toEqual([expect.any(Number), expect.any(Number)]);
});
