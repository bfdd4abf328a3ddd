import { sharedPostgres } from '../support/shared-postgres.ts';
import { describeBoundValues } from './contract/bound-values.ts';

describeBoundValues('PostgreSQL', async () => ({
	dataDir: '/nonexistent',
	databaseUrl: await (await sharedPostgres()).createDatabase(),
}));
