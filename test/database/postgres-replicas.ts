import { systemClock } from '../../src/core/clock.ts';
import { migratePostgres, type StoreOptions } from '../../src/stores.ts';
import { createDocumentedRoles } from '../support/documented-roles.ts';
import type { Replicas } from './contract.ts';
import { createRecordingLog, KEY, open } from './support.ts';

/** Two replicas on a new database of PostgreSQL, with exactly the rights that the documents name. */
export async function openReplicas(
	given: Partial<StoreOptions> = {},
): Promise<Replicas & { readonly databaseUrl: string }> {
	const { ownerUrl, url: databaseUrl } = await createDocumentedRoles();
	await migratePostgres(ownerUrl, { clock: systemClock, log: createRecordingLog() });
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
