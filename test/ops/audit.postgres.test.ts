import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Replicas } from '../database/contract.ts';
import { openReplicas } from '../database/postgres-replicas.ts';
import { describeCommand, runAudit } from './audit-command.ts';

let replicas: Replicas & { readonly databaseUrl: string };
beforeAll(async () => {
	replicas = await openReplicas();
});
afterAll(() => replicas.close());

describeCommand(async () => ({ store: replicas.store, env: { DATABASE_URL: replicas.databaseUrl } }));

it('says that no database can be reached', async () => {
	const { code, stderr } = await runAudit([], { DATABASE_URL: 'postgres://127.0.0.1:1/handraise' });
	expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be reached')]);
});
