import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { ENTRY, SEED } from '../shared-stores.ts';
import { runFailovers } from './failovers.ts';

const BATCH = 4;
/** A primary can die when nothing is under way any more. */
const MOST_RUNS = 4;

it(`loses and doubles no answer when PostgreSQL fails over (seed ${SEED})`, { timeout: 600_000 }, async () => {
	for (let run = 0; run < MOST_RUNS; run++) {
		const random = createRandom(SEED + run);
		const { forms, presses, failovers } = await runFailovers({ entry: ENTRY, failovers: 1, batch: BATCH, random });
		expect([forms.brokenTurns, forms.problems, presses.problems]).toEqual([[], [], []]);
		expect(failovers).toHaveLength(2);
		// Answers that the primary had accepted were delivered by the former standby.
		if (failovers.some(({ underWay, firstMs }) => underWay > 0 && firstMs !== null)) return;
	}
	expect.fail(`No answer was under way in any of ${MOST_RUNS} runs.`);
});
