import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { lockQuestionOf } from '../../src/delivery/accept-store.ts';
import { createHarness } from '../operator/doctor/harness.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { describeManyRaces } from './contract/races.ts';
import { replicasFrom } from './contract.ts';
import { openReplicas } from './postgres-replicas.ts';
import { accepted, BOB, KEY, submission, T0 } from './support.ts';

describe.each(['repeatable read', 'serializable'])('where transactions are %s by default', (isolation) => {
	let databaseUrl: string;
	const replicas = replicasFrom(async () => {
		const opened = await openReplicas({}, `set default_transaction_isolation = '${isolation}'`);
		databaseUrl = opened.databaseUrl;
		return opened;
	});

	describeManyRaces(replicas, 10);

	it('an answer sees what was committed while it waited for the lock of its question', async () => {
		const { store, replica } = replicas;
		const first = await accepted(store, submission());
		const isWaiting = sql<{ count: number }>`select count(*) as count from pg_stat_activity
			where datname = current_database() and wait_event = 'advisory'`;
		const accepting: ReturnType<typeof replica.answers.accept>[] = [];
		await store.db.write(async (trx) => {
			await lockQuestionOf(trx, first.id);
			accepting.push(replica.answers.accept(submission({ person: BOB, acceptedAt: T0 + 60 })));
			await vi.waitUntil(async () => (await isWaiting.execute(replica.db.read)).rows[0]?.count === 1);
			await trx.updateTable('answers').set({ state: 'withdrawn' }).where('id', '=', first.id).execute();
		});
		expect(await Promise.all(accepting)).toMatchObject([{ kind: 'accepted' }]);
	});

	it('a read of its own runs again after a serialization failure', async () => {
		const { adminUrl } = await sharedPostgres();
		const address = Object.assign(new URL(adminUrl), { pathname: new URL(databaseUrl).pathname });
		const admin = new pg.Client({ connectionString: address.href });
		await admin.connect();
		await admin.query(`create sequence attempts;
			create function fails_once() returns bigint language plpgsql security definer as $$
				begin if nextval('attempts') = 1 then raise exception using errcode = '40001'; end if; return 7; end $$`);
		await admin.end();
		const { rows } = await sql<{ seven: number }>`select fails_once() as seven`.execute(replicas.store.db.read);
		expect(rows).toEqual([{ seven: 7 }]);
	});

	it('the doctor says so', async () => {
		await using harness = await createHarness();
		const { lines } = await harness.doctor({ DATABASE_URL: databaseUrl, ENCRYPTION_KEY: KEY });
		expect(lines.join('\n')).toContain(
			`✓ Database: transactions of this database are ${isolation} by default; Handraise makes its own read committed.`,
		);
	});
});
