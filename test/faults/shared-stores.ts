import { sharedPostgres } from '../support/shared-postgres.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind, type StoreUnderTest } from './stores.ts';

/** A store of its own for one test; on PostgreSQL, a database of the server that all tests share. */
export async function createStoreUnderTest(kind: StoreKind): Promise<StoreUnderTest> {
	if (kind === 'sqlite') return createSqliteUnderTest();
	return createPostgresUnderTest(await (await sharedPostgres()).createDatabase());
}
