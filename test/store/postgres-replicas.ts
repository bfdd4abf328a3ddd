import type { StoreOptions } from '../../src/store/open.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import type { Replicas } from './contract.ts';
import { KEY, open } from './support.ts';

/** Two replicas on a new database of PostgreSQL. */
export async function openReplicas(given: Partial<StoreOptions> = {}): Promise<Replicas> {
	const server = await sharedPostgres();
	const options = { databaseUrl: await server.createDatabase(), dataDir: '/nonexistent', encryptionKey: KEY, ...given };
	const [store, replica] = await Promise.all([open(options), open(options)]);
	return {
		store,
		replica,
		async close() {
			await Promise.all([store.close(), replica.close()]);
		},
	};
}
