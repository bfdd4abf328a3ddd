import { sharedPostgres } from '../support/shared-postgres.ts';
import { RELEASES } from './releases.ts';
import { upgradeSuite } from './suite.ts';

for (const release of RELEASES)
	upgradeSuite(release, 'postgres', async () => (await sharedPostgres()).createDatabase());
