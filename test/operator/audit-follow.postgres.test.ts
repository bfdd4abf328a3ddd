import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Replicas } from '../store/contract.ts';
import { openReplicas } from '../store/postgres-replicas.ts';
import { createCuttableProxy } from '../support/tcp-proxy.ts';
import { follow, followTwoWriters, record } from './follow-command.ts';

let replicas: Replicas & { readonly databaseUrl: string };
beforeEach(async () => {
	replicas = await openReplicas();
});
afterEach(() => replicas.close());

it('--follow misses and repeats none of the rows that two replicas write at once', async () => {
	await followTwoWriters(replicas, 400);
});

it('--follow goes on after the database was away, and says so', async () => {
	await using proxy = await createCuttableProxy(replicas.databaseUrl);
	await using follower = follow({ DATABASE_URL: proxy.url });
	await record(replicas.store, 'C1');
	await follower.until(1);
	proxy.cut();
	await follower.said('The database cannot be read.');
	await record(replicas.replica, 'C2', 'C3');
	proxy.mend();
	await follower.until(3);
	await record(replicas.store, 'C4');
	await follower.until(4);
	expect(await follower.stop()).toBe(0);
	expect(follower.lines.map(({ channel }) => channel)).toEqual(['C1', 'C2', 'C3', 'C4']);
	// It may say as well that lines wait: for transactions of other tests on the server.
	expect(follower.stderr().match(/^The database cannot be read\. Trying again each second\.$/gm)).toHaveLength(1);
});
