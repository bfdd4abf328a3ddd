import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { createStoreUnderTest } from '../shared-stores.ts';
import { runKeys } from './run.ts';

const ENTRY = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** On a machine that is busy with much else. */
const TIMEOUT_MS = 300_000;
const seed = Date.now() % 1_000_000;

/** The short form of `npm run faults -- keys`, on another seed each time. */
describe(`a change of the key (seed ${seed})`, () => {
	it.each(['sqlite', 'postgres'] as const)(
		'loses nothing under kills while people answer, and leaves no need of the former key, on %s',
		{ timeout: TIMEOUT_MS },
		async (kind) => {
			await using store = await createStoreUnderTest(kind);
			const { problems, killedAt } = await runKeys({
				store,
				entry: ENTRY,
				values: 600,
				kills: 2,
				random: createRandom(seed),
			});
			expect(problems).toEqual([]);
			expect(killedAt).toHaveLength(2);
		},
	);
});
