import type { Part } from '../harness.ts';
import { createHarness, type Harness, type HarnessOptions } from '../harness.ts';
import type { Outage } from '../hits.ts';
import { createPostgresUnderTest } from '../stores.ts';
import { TARGETS } from './moments.ts';
import { type Failover, startPostgresPair } from './postgres-pair.ts';
import { PEOPLE } from './presses/people.ts';
import { type PressesResult, runPresses } from './presses/presses.ts';
import { openDesk, PRESS_ENV, UNDO_MS } from './presses/questions.ts';
import { type RunResult, runFaults } from './run.ts';

export interface FailoversOptions extends Omit<Part, 'harness'> {
	readonly entry: string;
	/** How often the primary dies while people answer by forms, and again while they press. */
	readonly failovers: number;
}

export interface FailoversResult {
	readonly forms: RunResult;
	readonly presses: PressesResult;
	readonly failovers: readonly Failover[];
}

const CALL_TIMEOUT_MS = 600;
/** Sessions that ask, for each press at once. */
const SESSIONS_PER_PRESS = 4;

/** In each turn the primary of PostgreSQL is killed among answers on their way, and its synchronous standby is promoted. */
export async function runFailovers(options: FailoversOptions): Promise<FailoversResult> {
	const { entry, failovers, batch, random, onProgress = () => {} } = options;
	const taken: Failover[] = [];

	async function onPair<T>(
		given: Pick<HarnessOptions, 'people' | 'env'>,
		run: (harness: Harness, outage: Outage) => Promise<T>,
	): Promise<T> {
		await using pair = await startPostgresPair();
		await using store = await createPostgresUnderTest(pair.url);
		await using harness = await createHarness({ store, entry, replicas: 2, callTimeoutMs: CALL_TIMEOUT_MS, ...given });
		pair.watch(harness);
		const result = await run(harness, pair.outage);
		taken.push(...pair.failovers);
		return result;
	}

	const shared = { batch, random, onProgress };
	const count = failovers * batch;
	const forms = await onPair({ people: batch * 2 }, (harness, outage) =>
		runFaults({ ...shared, harness, rounds: count, aims: TARGETS, outage }),
	);
	const presses = await onPair({ people: PEOPLE, env: PRESS_ENV }, async (harness, outage) => {
		const desk = await openDesk(harness, batch * SESSIONS_PER_PRESS);
		const result = await runPresses({ ...shared, harness, desk, presses: count, undoMs: UNDO_MS, outage });
		desk.close();
		return result;
	});
	return { forms, presses, failovers: taken };
}
