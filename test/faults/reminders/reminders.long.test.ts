import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { CHANGES } from './periods.ts';
import { runTurn } from './turn.ts';

const ENTRY = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const QUESTIONS = 20;
const RESTART_EVERY_MS = 8 * 60_000;
/** On a machine that is busy with much else. */
const TIMEOUT_MS = 300_000;
const seed = Date.now() % 1_000_000;

/** The short form of `npm run faults -- reminders`, on another seed each time. */
describe(`reminders around a change of daylight-saving time (seed ${seed})`, () => {
	const stores = ['sqlite', 'postgres'] as const;
	it.each(stores)(
		'come once, in time and to nobody who need not hear, on %s',
		{ timeout: TIMEOUT_MS },
		async (kind) => {
			const random = createRandom(seed);
			const postgres = kind === 'postgres' ? await sharedPostgres() : null;
			const change = random.pick(CHANGES);
			const run = { change, questionCount: QUESTIONS, restartEveryMs: RESTART_EVERY_MS, random };
			const { verdict } = await runTurn({ entry: ENTRY, postgres, ...run });
			expect(verdict.problems).toEqual([]);
			expect(verdict.questions).toBe(QUESTIONS);
		},
	);
});
