import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { runFailovers } from './failovers.ts';

const ENTRY = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const BATCH = 8;
/** A primary can die when nothing is under way any more. */
const MOST_RUNS = 4;
const seed = Date.now() % 1_000_000;

it(`loses and doubles no answer when PostgreSQL fails over (seed ${seed})`, { timeout: 600_000 }, async () => {
	for (let run = 0; run < MOST_RUNS; run++) {
		const random = createRandom(seed + run);
		const { forms, presses, failovers } = await runFailovers({ entry: ENTRY, failovers: 1, batch: BATCH, random });
		expect([forms.brokenTurns, forms.verdict.problems, forms.violations, presses.problems]).toEqual([[], [], [], []]);
		expect(failovers).toHaveLength(2);
		// Answers that the primary had accepted were delivered by the former standby.
		if (failovers.some(({ underWay, firstMs }) => underWay > 0 && firstMs !== null)) return;
	}
	expect.fail(`No answer was under way in any of ${MOST_RUNS} runs.`);
});
