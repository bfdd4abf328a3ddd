import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../support/random.ts';
import { createHarness } from '../../harness.ts';
import { createStoreUnderTest } from '../../shared-stores.ts';
import { runPressDuels } from './duels.ts';
import { PEOPLE, runPresses } from './presses.ts';
import { openDesk, PRESS_ENV, UNDO_MS } from './questions.ts';
import { runUndos } from './undos.ts';

/** Long enough for a dead replica's lease to end and for replies that Slack's rates delay, several times. */
const TIMEOUT_MS = 600_000;
const ENTRY = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url));
/** Each run is judged, and one of them has to meet what it is for: a kill or an undo may come too early or too late. */
const MOST_RUNS = 12;
/** Answers, duels or undos at once. */
const BATCH = 8;

/** The short form of `npm run faults -- answers --presses … --press-duels … --undos …`, on another seed each time. */
export function describePresses(name: string, { replicas }: { replicas: 1 | 2 }): void {
	const seed = Date.now() % 1_000_000;

	describe(`a one-press answer on ${name} (seed ${seed})`, () => {
		it('is neither lost nor sent twice, early or after Undo', { timeout: TIMEOUT_MS }, async () => {
			await using store = await createStoreUnderTest(replicas === 1 ? 'sqlite' : 'postgres');
			const program = { store, entry: ENTRY, replicas, people: PEOPLE, callTimeoutMs: 600, env: PRESS_ENV };
			await using harness = await createHarness(program);
			const desk = await openDesk(harness, BATCH * 2);
			const random = createRandom(seed);
			const stage = { harness, desk, batch: BATCH, random, undoMs: UNDO_MS };

			/** Runs until a run has met what it is for. */
			async function untilMet(run: () => Promise<boolean>): Promise<void> {
				for (let runs = 0; runs < MOST_RUNS; runs++) if (await run()) return;
				expect.fail(`${MOST_RUNS} runs met too little.`);
			}

			await untilMet(async () => {
				const { problems, histogram } = await runPresses({ ...stage, presses: BATCH });
				expect(problems).toEqual([]);
				return Object.values(histogram).some((count) => count > 0);
			});
			await untilMet(async () => {
				const { problems, told, withForm } = await runPressDuels({ ...stage, duels: BATCH });
				expect(problems).toEqual([]);
				return told.reply > 0 && withForm > 0;
			});
			let seen = { takenBack: 0, tooLate: 0, offered: 0, drafts: 0 };
			await untilMet(async () => {
				const { problems, ...undone } = await runUndos({ ...stage, undos: BATCH });
				expect(problems).toEqual([]);
				seen = {
					takenBack: seen.takenBack + undone.takenBack,
					tooLate: seen.tooLate + undone.tooLate,
					offered: seen.offered + undone.offered,
					drafts: seen.drafts + undone.drafts,
				};
				return Object.values(seen).every((count) => count > 0);
			});
			desk.close();
		});
	});
}
