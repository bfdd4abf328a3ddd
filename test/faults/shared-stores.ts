import { sharedPostgres } from '../support/shared-postgres.ts';
import { createHarness, type Harness } from './harness.ts';
import { copySource } from './source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind, type StoreUnderTest } from './stores.ts';

/** A store of its own for one test; on PostgreSQL, a database of the server that all tests share. */
export async function createStoreUnderTest(kind: StoreKind): Promise<StoreUnderTest> {
	if (kind === 'sqlite') return createSqliteUnderTest();
	return createPostgresUnderTest(await (await sharedPostgres()).createDatabase());
}

/** A copy of the program in processes that a test can kill, with one person and a store of its own. */
export async function createKillHarness(kind: StoreKind, replicas = kind === 'sqlite' ? 1 : 2): Promise<Harness> {
	await using stack = new AsyncDisposableStack();
	const { entry } = stack.use(await copySource());
	const store = stack.use(await createStoreUnderTest(kind));
	const env = { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '2000' };
	const options = { people: 1, callTimeoutMs: 2_000, env, store, entry, replicas };
	const harness = stack.use(await createHarness(options));
	const all = stack.move();
	return { ...harness, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
