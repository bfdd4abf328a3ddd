import { fileURLToPath } from 'node:url';
import { done, task } from '../../fake-session-service/builders.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createHarness, type Harness, type HarnessOptions, watchSessions } from './harness.ts';
import {
	createPostgresUnderTest,
	createSqliteUnderTest,
	replicasOf,
	type StoreKind,
	type StoreUnderTest,
} from './stores.ts';

export const STORES = ['sqlite', 'postgres'] as const;
export const ENTRY = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Another one for each run of the tests: their names show it. */
export const SEED = Date.now() % 1_000_000;

/** A store of its own for one test; on PostgreSQL, a database of the server that all tests share. */
export async function createStoreUnderTest(kind: StoreKind): Promise<StoreUnderTest> {
	if (kind === 'sqlite') return createSqliteUnderTest();
	return createPostgresUnderTest(await (await sharedPostgres()).createDatabase());
}

/** The program in processes that a test can kill, with a store of its own. */
export async function createTestHarness(
	kind: StoreKind,
	options: Omit<HarnessOptions, 'store' | 'entry' | 'replicas'> & {
		readonly entry?: string;
		readonly replicas?: number;
	},
): Promise<Harness> {
	await using stack = new AsyncDisposableStack();
	const store = stack.use(await createStoreUnderTest(kind));
	const harness = await createHarness({ entry: ENTRY, replicas: replicasOf(kind), ...options, store });
	stack.use(harness);
	const all = stack.move();
	return { ...harness, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The same with one person. */
export function createKillHarness(kind: StoreKind, replicas = replicasOf(kind)): Promise<Harness> {
	const env = { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '2000' };
	return createTestHarness(kind, { people: 1, callTimeoutMs: 2_000, env, replicas });
}

/** Longer than the lease on what a killed process was working on. */
export const AFTER_KILL_MS = 90_000;

/** Starts the program and has Ada watch a session in #agents. Resolves when it is watched. */
export async function watchOneSession(harness: Harness, sessionId: string): Promise<void> {
	const { slack, service } = harness;
	const messages = [task('Order six chairs.'), done('I open the shop.')];
	service.sessions.put(sessionId, { status: 'active', name: 'Order chairs', messages });
	await harness.startAll();
	await harness.serving();
	const ada = slack.as('ada');
	const isWatched = () => ada.messages('#agents').some((message) => message.text().includes('Order chairs'));
	await watchSessions(harness, { person: 'ada', channel: '#agents', ids: [sessionId], isWatched });
}
