import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProgram } from '../../../support/program.ts';
import { createRandom } from '../../../support/random.ts';
import { createTestHarness, SEED, STORES } from '../../shared-stores.ts';
import { copySource } from '../../source-copy.ts';
import type { ReminderTarget } from './moments.ts';
import { runReminderFaults } from './run.ts';
import { SHORT, SHORTER } from './times.ts';

/** What a short run has time for. */
const TARGETS: readonly ReminderTarget[] = [
	'when a reminder is due',
	'before the call',
	'during the call',
	'after the ok',
];

let source: Awaited<ReturnType<typeof copySource>>;
beforeAll(async () => {
	source = await copySource({ edits: SHORTER });
	// Without settings it ends at once, and leaves compiled code. Programs that are killed leave none.
	await startProgram({}, source.entry).closed;
});
afterAll(() => source[Symbol.asyncDispose]());

/** The short form of `npm run faults -- reminder-kills`, on another seed each time and with shorter leases. */
it.concurrent.each(STORES)(
	`neither loses a reminder nor repeats it unmarked on %s (seed ${SEED})`,
	{ timeout: 150_000 },
	async (kind) => {
		const random = createRandom(SEED);
		const historyReadable = random.chance(0.5);
		await using harness = await createTestHarness(kind, {
			entry: source.entry,
			people: 1,
			callTimeoutMs: 2_000,
			env: SHORT.env,
		});
		const result = await runReminderFaults({
			harness,
			sessions: 3,
			perChannel: 2,
			strikes: 1,
			targets: TARGETS,
			asksWithinMs: 1_000,
			random,
			pace: SHORT,
			historyReadable,
		});
		expect(result.problems).toEqual([]);
		expect(result).toMatchObject({ missed: 0, unmarkedRepeats: 0, afterAnswer: 0 });
		expect(result.kills + result.freezes).toBe(1);
		expect(result.reminders).toBeGreaterThan(0);
	},
);
