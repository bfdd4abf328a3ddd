import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { busyApp, examinePostgres, scansOfProgram } from './plans.ts';

it('the program reads no growing table whole, on PostgreSQL', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	await using app = await busyApp({ DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString('base64') });
	expect(await scansOfProgram(app, () => examinePostgres(databaseUrl))).toEqual([]);
}, 120_000);
