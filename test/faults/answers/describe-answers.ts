import { describe, expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { STORE_NAMES } from '../frame.ts';
import { createTestHarness, SEED } from '../shared-stores.ts';
import { copySource } from '../source-copy.ts';
import type { StoreKind } from '../stores.ts';
import { isFault } from './kinds/index.ts';
import { TARGETS } from './moments.ts';
import { runDuels } from './presses/duels.ts';
import { PEOPLE } from './presses/people.ts';
import { runPresses } from './presses/presses.ts';
import { openDesk, PRESS_ENV, UNDO_MS } from './presses/questions.ts';
import { runUndos } from './presses/undos.ts';
import { aimsFor, runFaults } from './run.ts';
import { QUICK_LOOKS } from './sabotage.ts';

/** Long enough for leases that dead replicas leave and for receipts that Slack's rates delay, several times. */
const TIMEOUT_MS = 600_000;
/** Answers that meet one fault: few, because one workspace's rates make the later ones wait. */
const FAULTY = 2;
/** A fault whose moment is within one call is missed less often than with 600, on a busy machine. */
const CALL_TIMEOUT_MS = 1_000;
/** Presses or duels at once. */
const BATCH = 4;
/** What a kill or an undo is for may be missed: it came too early or too late. On PostgreSQL every fourth kill hits nothing. */
const MOST_TRIES = 12;

/** The short form of `npm run faults -- answers`, on another seed each time. A failure prints what led to it. */
const describeOn = (kind: StoreKind, tests: () => void) =>
	describe(`an answer on ${STORE_NAMES[kind]} (seed ${SEED})`, tests);

/** Of answers by a form. */
export function describeForms(kind: StoreKind): void {
	describeOn(kind, () => {
		it('is neither lost nor sent twice nor reported wrongly under kills, stops and every other fault', {
			timeout: TIMEOUT_MS,
		}, async () => {
			await using source = await copySource({ edits: QUICK_LOOKS });
			await using harness = await createTestHarness(kind, {
				entry: source.entry,
				people: FAULTY * 2,
				callTimeoutMs: CALL_TIMEOUT_MS,
			});
			const random = createRandom(SEED);
			const aims = [random.pick(TARGETS), ...aimsFor(kind).filter(isFault)];
			const rounds = aims.length * FAULTY * MOST_TRIES;
			const result = await runFaults({ harness, rounds, batch: FAULTY, random, aims, untilMet: true });
			expect(result).toMatchObject({ problems: [], brokenTurns: [], missing: [] });
			const { delivered, toldNot, notKnown, tooLate } = result.verdict;
			expect(delivered + toldNot + notKnown + tooLate).toBe(result.verdict.rounds);
			expect(result.claims.get('arrived')).toBeGreaterThan(0);
		});
	});
}

/** Of answers in one press. */
export function describePresses(kind: StoreKind): void {
	describeOn(kind, () => {
		it('in one press is neither lost nor sent twice, early or after Undo, and goes over nobody else', {
			timeout: TIMEOUT_MS,
		}, async () => {
			await using harness = await createTestHarness(kind, { people: PEOPLE, callTimeoutMs: 600, env: PRESS_ENV });
			// More that ask than are answered at once, so that nobody waits for the last ones.
			const desk = await openDesk(harness, BATCH * 3);
			const stage = { harness, desk, batch: BATCH, random: createRandom(SEED), undoMs: UNDO_MS };

			/** Runs until what is counted has been met. */
			async function untilMet<R extends { problems: readonly string[] }>(
				run: () => Promise<R>,
				counts: (result: R) => Readonly<Record<string, number>>,
			): Promise<void> {
				const met: Record<string, number> = {};
				for (let tries = 0; tries < MOST_TRIES; tries++) {
					const result = await run();
					expect(result.problems).toEqual([]);
					for (const [name, count] of Object.entries(counts(result))) met[name] = (met[name] ?? 0) + count;
					if (Object.values(met).every((count) => count > 0)) return;
				}
				expect.fail(`${MOST_TRIES} runs met too little: ${JSON.stringify(met)}`);
			}

			await untilMet(
				// Two kills: of one replica, which often meets nothing, and of both.
				() => runPresses({ ...stage, presses: 2 * BATCH }),
				({ histogram }) => ({ killed: Object.values(histogram).reduce((sum, count) => sum + count, 0) }),
			);
			await untilMet(
				() => runDuels({ ...stage, duels: BATCH, byForm: false }),
				({ told, forms }) => ({ replies: told.reply, forms }),
			);
			await untilMet(
				() => runDuels({ ...stage, duels: BATCH, byForm: true }),
				({ told }) => ({ windows: told.window }),
			);
			await untilMet(
				// More at once: not each of them meets somebody who was second.
				() => runUndos({ ...stage, batch: 2 * BATCH, undos: 2 * BATCH }),
				({ takenBack, tooLate, offered, drafts }) => ({ takenBack, tooLate, offered, drafts }),
			);
			desk.close();
		});
	});
}
