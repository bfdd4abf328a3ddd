import pg from 'pg';
import { expect, it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createHarness } from './harness.ts';
import { operate, verdicts } from './live.ts';

it('doctor live begins only when no Handraise is connected to the database', async () => {
	await using harness = await createHarness();
	const url = await (await sharedPostgres()).createDatabase();
	const env = { DATABASE_URL: url, ENCRYPTION_KEY: harness.secrets.encryptionKey };
	// A replica, which may run on another machine.
	const replica = new pg.Client({ connectionString: url, application_name: 'handraise' });
	await replica.connect();
	const { exit, lines } = await operate(harness, { env });
	await replica.end();
	expect(lines).toEqual([
		expect.stringMatching(/^✗ Live check: stop Handraise first, .* Its database is in use\.$/),
		'1 problem to fix.',
	]);
	expect(exit).toBe(1);
	expect(verdicts((await operate(harness, { env })).lines).different).toEqual([]);
});
