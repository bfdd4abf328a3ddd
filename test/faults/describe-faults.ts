import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runDuels } from '../bench/faults/duels.ts';
import { isFault } from '../bench/faults/kinds/index.ts';
import { TARGETS } from '../bench/faults/moments.ts';
import { createRandom } from '../bench/faults/random.ts';
import { aimsFor, runFaults } from '../bench/faults/run.ts';
import { runStops } from '../bench/faults/stops.ts';
import { createPostgresUnderTest, createSqliteUnderTest } from '../bench/faults/stores.ts';
import { createWorld, type World } from '../bench/faults/world.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

/** A dead replica's lease has to run out, among other things, and Slack's rates hold receipts up. */
const TIMEOUT_MS = 300_000;
/** Faults come one after the other; some leave leases behind that have to run out. */
const FAULTS_TIMEOUT_MS = 600_000;
const ENTRY = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Under way at once. */
const BATCH = 12;
/** That meet one fault. */
const FAULTY = 8;
const DUELS = 8;
const STOPPED = 6;

/**
 * The short form of `npm run test:faults`, on another seed each time: what it finds is printed with the requests and
 * troubles that led to it.
 */
export function describeFaults(name: string, { replicas, kills }: { replicas: 1 | 2; kills: number }): void {
	const answers = kills * BATCH;
	const seed = Date.now() % 1_000_000;

	async function inWorld(callTimeoutMs: number, use: (world: World) => Promise<void>): Promise<void> {
		await using store =
			replicas === 1
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await (await sharedPostgres()).createDatabase());
		await using world = await createWorld({ store, entry: ENTRY, replicas, people: BATCH * 2, callTimeoutMs });
		await use(world);
	}

	describe(`an answer on ${name} (seed ${seed})`, () => {
		test('is neither lost nor sent twice nor wrongly told of when the program is killed', { timeout: TIMEOUT_MS }, () =>
			inWorld(600, async (world) => {
				const random = createRandom(seed);
				const result = await runFaults({ world, rounds: answers, batch: BATCH, random, aims: TARGETS });
				expect(result.brokenTurns).toEqual([]);
				expect(result.verdict.problems).toEqual([]);
				expect(world.slack.violations()).toEqual([]);
				expect(result.verdict.delivered + result.verdict.toldNot).toBe(answers);
				// The oracle saw something: kills that met answers, and receipts.
				expect(Object.values(result.histogram).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
				expect(result.claims.get('arrived')).toBeGreaterThan(0);
			}),
		);

		test('is as safe when something else goes wrong than a kill', { timeout: FAULTS_TIMEOUT_MS }, () =>
			inWorld(600, async (world) => {
				const aims = aimsFor(world.store.kind).filter(isFault);
				const rounds = aims.length * FAULTY;
				const { brokenTurns, verdict, histogram } = await runFaults({
					world,
					rounds,
					batch: FAULTY,
					random: createRandom(seed),
					aims,
				});
				expect(brokenTurns).toEqual([]);
				expect(verdict.problems).toEqual([]);
				expect(world.slack.violations()).toEqual([]);
				expect(aims.filter((aim) => !histogram[aim])).toEqual([]);
			}),
		);

		test('wins alone against one of the same moment, and is finished before a stop', { timeout: TIMEOUT_MS }, () =>
			inWorld(3_000, async (world) => {
				const duels = await runDuels({ world, duels: DUELS, batch: BATCH, random: createRandom(seed) });
				expect(duels).toMatchObject({ problems: [], clean: DUELS });
				const stopped = await runStops({ world, stops: 1, batch: STOPPED, random: createRandom(seed) });
				expect(stopped.problems).toEqual([]);
				expect(stopped.verdict.delivered).toBe(STOPPED);
			}),
		);
	});
}
