import { expect, it } from 'vitest';
import { createRandom } from '../../../support/random.ts';
import { sharedPostgres } from '../../../support/shared-postgres.ts';
import { createHarness } from '../../harness.ts';
import { copySource } from '../../source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest } from '../../stores.ts';
import type { ReminderTarget } from './moments.ts';
import { runReminderFaults } from './run.ts';
import { SHORT_FREEZE_MS, SHORT_REMINDER_ENV, SHORTER, shortReminderTimes } from './times.ts';

const TIMEOUT_MS = 150_000;
/** What a short run has time for. */
const TARGETS: readonly ReminderTarget[] = [
	'when a ladder is due',
	'before the call',
	'during the call',
	'after the ok',
];

/** The short form of `npm run faults -- reminder-kills`, on another seed each time and with shorter leases. */
export function describeReminders(name: string, { replicas, strikes }: { replicas: 1 | 2; strikes: number }): void {
	const seed = Date.now() % 1_000_000;
	const random = createRandom(seed);
	const historyReadable = random.chance(0.5);

	it(`neither loses a reminder nor repeats it unmarked on ${name} (seed ${seed})`, {
		timeout: TIMEOUT_MS,
	}, async () => {
		await using source = await copySource({ edits: SHORTER });
		await using store =
			replicas === 1
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await (await sharedPostgres()).createDatabase());
		await using harness = await createHarness({
			store,
			entry: source.entry,
			replicas,
			people: 1,
			callTimeoutMs: 2_000,
			env: SHORT_REMINDER_ENV,
		});
		const result = await runReminderFaults({
			harness,
			sessions: 5,
			perChannel: 2,
			strikes,
			targets: TARGETS,
			asksWithinMs: 1_000,
			random,
			times: shortReminderTimes(store.kind),
			freezeMs: SHORT_FREEZE_MS,
			historyReadable,
		});
		expect(result.problems).toEqual([]);
		expect(result).toMatchObject({ missed: 0, unmarkedRepeats: 0, afterAnswer: 0 });
		expect(result.kills + result.freezes).toBe(strikes);
		expect(result.reminders).toBeGreaterThan(0);
	});
}
