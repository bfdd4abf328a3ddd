import { afterEach, beforeEach } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { describeBoundValues } from './contract/bound-values.ts';
import { makeDataDir } from './support.ts';

let directory: ReturnType<typeof makeDataDir>;
beforeEach(() => {
	directory = makeDataDir();
});
afterEach(() => directory.remove());

describeBoundValues('SQLite', async () => ({ dataDir: directory.path }));
describeBoundValues('PostgreSQL', async () => ({
	dataDir: '/nonexistent',
	databaseUrl: await (await sharedPostgres()).createDatabase(),
}));
