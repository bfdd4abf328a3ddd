import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { ENTRY, SEED, STORES } from '../shared-stores.ts';
import { CHANGES } from './periods.ts';
import { runTurn } from './turn.ts';

const QUESTIONS = 16;

/** The short form of `npm run faults -- reminders`, on another seed each time. The time-out is for a machine that is busy with much else. */
it.each(STORES)(
	`reminders around a change of daylight-saving time come once, in time and to nobody who need not hear, on %s (seed ${SEED})`,
	{ timeout: 300_000 },
	async (kind) => {
		const random = createRandom(SEED);
		const postgres = kind === 'postgres' ? await sharedPostgres() : null;
		const run = { change: random.pick(CHANGES), questionCount: QUESTIONS, restartEveryMs: 8 * 60_000, random };
		const { verdict } = await runTurn({ entry: ENTRY, postgres, ...run });
		expect(verdict.problems).toEqual([]);
		expect(verdict.questions).toBe(QUESTIONS);
		expect(verdict.reminders).toBeGreaterThan(0);
	},
);
