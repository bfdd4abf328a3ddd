import type { StoreOptions } from '../../src/stores.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import type { Replicas } from './contract.ts';
import { KEY, open } from './support.ts';

/** Two replicas on a new database of PostgreSQL. */
export async function openReplicas(
	given: Partial<StoreOptions> = {},
): Promise<Replicas & { readonly databaseUrl: string }> {
	const server = await sharedPostgres();
	const databaseUrl = await server.createDatabase();
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY, ...given };
	const [store, replica] = await Promise.all([open(options), open(options)]);
	return {
		databaseUrl,
		store,
		replica,
		async close() {
			await Promise.all([store.close(), replica.close()]);
		},
	};
}
