import type { StoreOptions } from '../../src/stores.ts';
import { putDatabase } from '../support/made-database.ts';
import { describeStores, type Replicas } from './contract.ts';
import { makeDataDir, open } from './support.ts';

async function openReplicas(options: Partial<StoreOptions> = {}): Promise<Replicas> {
	const directory = makeDataDir();
	await putDatabase(directory.path);
	const store = await open({ dataDir: directory.path, ...options });
	return {
		store,
		replica: store,
		async close() {
			await store.close();
			await directory.remove();
		},
	};
}

// One process, which writes one after the other: races have few courses.
describeStores('SQLite', openReplicas, 20);
