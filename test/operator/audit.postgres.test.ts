import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Replicas } from '../store/contract.ts';
import { openReplicas } from '../store/postgres-replicas.ts';
import { accepted, KEY, open, submission } from '../store/support.ts';
import { describeCommand, runAudit, settledEvents } from './audit-command.ts';

let replicas: Replicas & { readonly databaseUrl: string };
beforeAll(async () => {
	replicas = await openReplicas();
});
afterAll(() => replicas.close());

describeCommand(async () => ({ store: replicas.store, env: { DATABASE_URL: replicas.databaseUrl } }));

it('tells of a restored dump at the next start, whose transactions count anew, and goes on behind its rows', async () => {
	const { databaseUrl, store, close } = await openReplicas();
	await accepted(store, submission());
	const env = { DATABASE_URL: databaseUrl };
	await settledEvents(store.db.read);
	const [first] = (await runAudit([], env)).lines;
	// As a dump of a server that has counted further, in a database with another id.
	await sql`update audit_events set transaction_id = transaction_id + 1000000`.execute(store.db.read);
	await sql`update meta set value = '1' where name = 'audit_database'`.execute(store.db.read);
	await close();
	const options = { databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY };
	const [restored, other] = await Promise.all([open(options), open(options)]);
	await accepted(restored, submission({ sessionId: 's2' }));
	await settledEvents(restored.db.read);
	const { lines } = await runAudit([], env);
	expect(lines.map(({ action, session }) => [action, session])).toEqual([
		['answered', 's1'],
		['restored', null],
		['answered', 's2'],
	]);
	expect(lines[0]?.number).toBe(first?.number);
	expect((await runAudit(['--after', lines[1]?.cursor ?? ''], env)).lines).toEqual(lines.slice(2));
	await Promise.all([restored.close(), other.close()]);
});

it('says that no database can be reached', async () => {
	const { code, stderr } = await runAudit([], { DATABASE_URL: 'postgres://127.0.0.1:1/handraise' });
	expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be reached')]);
});
