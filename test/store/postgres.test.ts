import { sharedPostgres } from '../support/shared-postgres.ts';
import {
	describeAnswerStore,
	describeClaimStore,
	describeDraftStore,
	describeWatchStore,
	type Replicas,
} from './contract.ts';
import { KEY, open } from './support.ts';

async function openReplicas(): Promise<Replicas> {
	const server = await sharedPostgres();
	const options = { databaseUrl: await server.createDatabase(), dataDir: '/nonexistent', encryptionKey: KEY };
	const [store, replica] = await Promise.all([open(options), open(options)]);
	return {
		store,
		replica,
		async close() {
			await Promise.all([store.close(), replica.close()]);
		},
	};
}

describeAnswerStore('PostgreSQL', openReplicas);
describeDraftStore('PostgreSQL', openReplicas);
describeClaimStore('PostgreSQL', openReplicas);
describeWatchStore('PostgreSQL', openReplicas);
