import type { Store } from '../../src/store/open.ts';
import { open } from '../store/support.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import type { Env, Harness } from './harness.ts';

// Databases as Handraise leaves them, of this version or of another one.

type Change = 'newer' | 'older' | 'none';

export async function databaseAt({ dataDir }: Harness, change: Change, encryptionKey?: string): Promise<void> {
	const store = await open({ dataDir, encryptionKey });
	await moveSchema(store, change);
	await store.close();
}

async function moveSchema(store: Store, change: Change): Promise<void> {
	await store.db.write(async (db) => {
		if (change === 'newer') {
			await db.insertInto('migrations').values({ number: 999, name: 'later', applied_at: 0 }).execute();
		}
		if (change === 'older') await db.deleteFrom('migrations').where('number', '>', 1).execute();
	});
}

export async function postgresAt(dataDir: string, encryptionKey: string, change: Change): Promise<Env> {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const store = await open({ dataDir, databaseUrl, encryptionKey });
	await moveSchema(store, change);
	await store.close();
	return { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: encryptionKey };
}
