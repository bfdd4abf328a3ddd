import { it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { RELEASES } from './releases.ts';
import { expectSchemaOfNew } from './rows.ts';
import { upgradeSuite } from './suite.ts';

const createDatabase = async () => (await sharedPostgres()).createDatabase();

it.each(RELEASES)('a database of $version gets the schema that a new one has, on PostgreSQL', async (release) => {
	const [upgraded, made] = [await createDatabase(), await createDatabase()];
	await expectSchemaOfNew({ release, store: 'postgres', upgraded, made });
});

for (const release of RELEASES) upgradeSuite(release, 'postgres', createDatabase);
