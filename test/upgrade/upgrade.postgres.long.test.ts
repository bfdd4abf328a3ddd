import { sharedPostgres } from '../support/shared-postgres.ts';
import { upgradeSuite } from './suite.ts';

upgradeSuite('postgres', async () => (await sharedPostgres()).createDatabase());
