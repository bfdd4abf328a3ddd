import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Replicas } from '../store/contract.ts';
import { openReplicas } from '../store/postgres-replicas.ts';
import { connectTo } from '../support/postgres.ts';
import { follow, followTwoWriters, record } from './follow-command.ts';

let replicas: Replicas & { readonly databaseUrl: string };
beforeEach(async () => {
	replicas = await openReplicas();
});
afterEach(() => replicas.close());

it('--follow misses and repeats none of 10,000 rows that two replicas write at once', {
	timeout: 300_000,
}, async () => {
	await followTwoWriters(replicas, 10_000);
});

it('--follow says that lines wait for a transaction that stays open, and prints them after it', {
	timeout: 90_000,
}, async () => {
	await using other = await connectTo(replicas.databaseUrl);
	await other.query('begin');
	await other.query('select pg_current_xact_id()');
	await using follower = follow({ DATABASE_URL: replicas.databaseUrl });
	await record(replicas.store, 'C1');
	await follower.said('pg_stat_activity', 40_000);
	expect(follower.lines).toEqual([]);
	await other.query('commit');
	await follower.until(1);
	expect(await follower.stop()).toBe(0);
	expect(follower.stderr().split('\n')).toHaveLength(2);
});
