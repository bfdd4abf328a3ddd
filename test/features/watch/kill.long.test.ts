import { expect, it } from 'vitest';
import { createKillHarness } from '../../faults/shared-stores.ts';
import { runWatchFaults } from '../../faults/watches/run.ts';
import { createRandom } from '../../support/random.ts';

/** The short form of `npm run faults -- watches`. */
const RUN = { sessions: 4, perChannel: 2, kills: 1, questions: 4, random: createRandom(3), historyReadable: true };

it.each(['sqlite', 'postgres'] as const)(
	'tells every question once when a process is killed meanwhile, on %s',
	{ timeout: 120_000 },
	async (kind) => {
		await using harness = await createKillHarness(kind);
		const result = await runWatchFaults({ ...RUN, harness });
		expect(result.problems).toEqual([]);
		expect(result).toMatchObject({ kills: 1, expected: 4, missed: 0, unmarkedRepeats: 0, markedRepeats: 0 });
		expect(result.delays.at(-1)).toBeLessThan(30_000);
	},
);
