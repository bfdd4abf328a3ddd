import { createHarness, type Part } from '../harness.ts';
import { createPostgresUnderTest } from '../stores.ts';
import { TARGETS } from './moments.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { PEOPLE } from './presses/people.ts';
import { runPresses } from './presses/presses.ts';
import { openDesk, PRESS_ENV, UNDO_MS } from './presses/questions.ts';
import { runFaults } from './run.ts';

export interface FailoversOptions extends Omit<Part, 'harness'> {
	readonly entry: string;
	/** How often the primary dies while people answer by forms, and again while they press. */
	readonly failovers: number;
}

const CALL_TIMEOUT_MS = 600;
/** Sessions that ask, for each press at once. */
const SESSIONS_PER_PRESS = 4;

/** In each turn the primary of PostgreSQL is killed among answers on their way, and its synchronous standby is promoted. */
export async function runFailovers({ entry, failovers, ...part }: FailoversOptions) {
	const { batch } = part;
	await using pair = await startPostgresPair();
	await using store = await createPostgresUnderTest(pair.url);
	const people = Math.max(PEOPLE, batch * 2);
	const program = { store, entry, replicas: 2, people, callTimeoutMs: CALL_TIMEOUT_MS, env: PRESS_ENV };
	await using harness = await createHarness(program);
	pair.watch(harness);
	const run = { ...part, harness, outage: pair.outage };
	const count = failovers * batch;
	const forms = await runFaults({ ...run, rounds: count, aims: TARGETS });
	const desk = await openDesk(harness, Math.min(batch * SESSIONS_PER_PRESS, count));
	const presses = await runPresses({ ...run, desk, presses: count, undoMs: UNDO_MS });
	desk.close();
	return { forms, presses, failovers: pair.failovers };
}

export type FailoversResult = Awaited<ReturnType<typeof runFailovers>>;
