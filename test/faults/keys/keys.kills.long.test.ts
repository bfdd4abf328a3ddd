import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { createStoreUnderTest, ENTRY, SEED, STORES } from '../shared-stores.ts';
import { runKeys } from './run.ts';

/** The short form of `npm run faults -- keys`, on another seed each time. The time-out is for a machine that is busy with much else. */
it.each(STORES)(
	`a change of the key loses nothing under kills, and leaves no need of the former key, on %s (seed ${SEED})`,
	{ timeout: 300_000 },
	async (kind) => {
		await using store = await createStoreUnderTest(kind);
		const run = { store, entry: ENTRY, values: 400, kills: 4, random: createRandom(SEED) };
		const { problems, phases } = await runKeys(run);
		expect(problems).toEqual([]);
		expect(phases.before + phases.marked + phases.after).toBe(4);
	},
);
