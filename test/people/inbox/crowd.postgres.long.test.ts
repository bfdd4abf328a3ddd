import { randomBytes } from 'node:crypto';
import { it } from 'vitest';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { crowdOpensHome } from './crowd.ts';

it('fills every Home of a crowd on two replicas, while presses pass', { timeout: 600_000 }, async () => {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const env = { DATABASE_URL, ENCRYPTION_KEY: randomBytes(32).toString('base64') };
	await crowdOpensHome({ env, replicas: 2 });
});
