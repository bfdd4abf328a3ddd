import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../support/random.ts';
import { createHarness, type Harness } from '../harness.ts';
import { createStoreUnderTest } from '../shared-stores.ts';
import { runDuels } from './duels.ts';
import { type FaultName, isFault } from './kinds/index.ts';
import { TARGETS } from './moments.ts';
import { aimsFor, runFaults } from './run.ts';
import { runStops } from './stops.ts';

/** Long enough for a dead replica's lease to end and for receipts that Slack's rates delay. */
const TIMEOUT_MS = 300_000;
/** Longer: faults run one after the other, and some leave leases that have to end. */
const FAULTS_TIMEOUT_MS = 600_000;
const ENTRY = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/**
 * Each run is judged, and one of them has to hit what it aims at. On PostgreSQL every fourth kill hits nothing, because
 * it takes the replica without an answer in hand: four runs were once too few.
 */
const MOST_RUNS = 12;
/** Answers under way at once. */
const BATCH = 8;
/** Answers that meet one fault. */
const FAULTY = 4;
const DUELS = 8;
const STOPPED = 6;

/**
 * The short form of `npm run faults -- answers`, on another seed each time. A failure prints the requests and troubles that
 * led to it.
 */
export function describeFaults(name: string, { replicas, kills }: { replicas: 1 | 2; kills: number }): void {
	const answers = kills * BATCH;
	const seed = Date.now() % 1_000_000;

	async function inWorld(callTimeoutMs: number, use: (harness: Harness) => Promise<void>): Promise<void> {
		await using store = await createStoreUnderTest(replicas === 1 ? 'sqlite' : 'postgres');
		await using harness = await createHarness({ store, entry: ENTRY, replicas, people: BATCH * 2, callTimeoutMs });
		await use(harness);
	}

	describe(`an answer on ${name} (seed ${seed})`, () => {
		/** A kill can come too early or too late to meet an answer, more often on a busy machine. */
		async function untilMet(run: (random: Random) => Promise<boolean>): Promise<void> {
			for (let number = 0; number < MOST_RUNS; number++) {
				if (await run(createRandom(seed + number))) return;
			}
			expect.fail(`The faults met too few answers in each of ${MOST_RUNS} runs.`);
		}

		async function kill(random: Random): Promise<boolean> {
			let met = false;
			await inWorld(600, async (harness) => {
				const result = await runFaults({ harness, rounds: answers, batch: BATCH, random, aims: TARGETS });
				expect(result.brokenTurns).toEqual([]);
				expect(result.verdict.problems).toEqual([]);
				expect(harness.slack.violations()).toEqual([]);
				const { delivered, toldNot, notKnown, tooLate } = result.verdict;
				expect(delivered + toldNot + notKnown + tooLate).toBe(answers);
				const killed = Object.values(result.histogram).reduce((sum, count) => sum + count, 0);
				met = killed > 0 && (result.claims.get('arrived') ?? 0) > 0;
			});
			return met;
		}
		it('is neither lost nor sent twice nor reported wrongly when the program is killed', { timeout: TIMEOUT_MS }, () =>
			untilMet(kill),
		);

		it('is as safe under every other fault as under a kill', { timeout: FAULTS_TIMEOUT_MS }, () => {
			let missing: readonly FaultName[] | null = null;
			return untilMet(async (random) => {
				await inWorld(600, async (harness) => {
					const aims: readonly FaultName[] = missing ?? aimsFor(harness.store.kind).filter(isFault);
					const rounds = aims.length * FAULTY;
					const { brokenTurns, verdict, histogram } = await runFaults({ harness, rounds, batch: FAULTY, random, aims });
					expect(brokenTurns).toEqual([]);
					expect(verdict.problems).toEqual([]);
					expect(harness.slack.violations()).toEqual([]);
					missing = aims.filter((aim) => !histogram[aim]);
				});
				return missing?.length === 0;
			});
		});

		it('is sent alone when two people press at once, and is finished before a stop', { timeout: TIMEOUT_MS }, () =>
			inWorld(3_000, async (harness) => {
				const duels = await runDuels({ harness, duels: DUELS, batch: BATCH, random: createRandom(seed) });
				expect(duels).toMatchObject({ problems: [], clean: DUELS });
				const stopped = await runStops({ harness, stops: 1, batch: STOPPED, random: createRandom(seed) });
				expect(stopped.problems).toEqual([]);
				expect(stopped.verdict.delivered).toBe(STOPPED);
			}),
		);
	});
}
