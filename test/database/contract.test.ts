import type { StoreOptions } from '../../src/stores.ts';
import {
	describeAnswerStore,
	describeChannelSettingsStore,
	describeClaimStore,
	describeDraftStore,
	describeInboxStore,
	describeLadderStore,
	describePersonStore,
	describeWatchStore,
	describeWorkspaces,
	type Replicas,
} from './contract.ts';
import { makeDataDir, open } from './support.ts';

async function openReplicas(options: Partial<StoreOptions> = {}): Promise<Replicas> {
	const directory = makeDataDir();
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
describeAnswerStore('SQLite', openReplicas, 20);
describeDraftStore('SQLite', openReplicas);
describeClaimStore('SQLite', openReplicas);
describeWatchStore('SQLite', openReplicas);
describeInboxStore('SQLite', openReplicas);
describeLadderStore('SQLite', openReplicas);
describeChannelSettingsStore('SQLite', openReplicas);
describePersonStore('SQLite', openReplicas);
describeWorkspaces('SQLite', openReplicas);
