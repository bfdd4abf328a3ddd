import pg from 'pg';
import { expect } from 'vitest';
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

/** How many deadlocks PostgreSQL has ended in this database. Waits until all stores on it are closed. */
export async function deadlocksIn(databaseUrl: string): Promise<number> {
	const admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	const others = `select count(*)::int as count from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`;
	// A connection reports its deadlocks at its end at the latest.
	await expect.poll(async () => (await admin.query(others)).rows[0]?.count).toBe(0);
	const counted = await admin.query('select deadlocks::int from pg_stat_database where datname = current_database()');
	await admin.end();
	return counted.rows[0]?.deadlocks;
}
