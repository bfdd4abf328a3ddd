import type { StoreOptions } from '../../src/stores.ts';
import { createMigratedDatabase } from '../support/documented-roles.ts';
import type { Replicas } from './contract.ts';
import { KEY, open } from './support.ts';

/** Two replicas on a new database of PostgreSQL, with exactly the rights that the documents name. `setting`: of `alter database`. */
export async function openReplicas(
	given: Partial<StoreOptions> = {},
	setting: string | null = null,
): Promise<Replicas & { readonly databaseUrl: string }> {
	const databaseUrl = await createMigratedDatabase(setting);
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
