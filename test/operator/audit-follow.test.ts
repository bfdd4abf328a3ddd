import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeDataDir, open } from '../store/support.ts';
import { startCommand } from '../support/commands.ts';
import { follow, record } from './follow-command.ts';

const directory = makeDataDir();
const env = { DATA_DIR: directory.path };
beforeEach(() => mkdir(directory.path, { recursive: true }));
afterEach(() => rm(directory.path, { recursive: true, force: true }));

it('--follow prints what happens next, beside the running program, until it is stopped', async () => {
	const store = await open({ dataDir: directory.path });
	await record(store, 'C1');
	await using follower = follow(env, 'SIGINT');
	await follower.until(1);
	await record(store, 'C2');
	await follower.until(2);
	await store.close();
	const again = await open({ dataDir: directory.path });
	await record(again, 'C3');
	await follower.until(3);
	expect(await follower.stop()).toBe(0);
	expect(follower.lines.map(({ channel }) => channel)).toEqual(['C1', 'C2', 'C3']);
	expect(follower.stderr()).toBe('');
	await again.close();
});

it('--follow goes on after the database was away, and says so', async () => {
	const store = await open({ dataDir: directory.path });
	await record(store, 'C1');
	await using follower = follow(env, 'SIGTERM');
	await follower.until(1);
	await store.close();
	await rename(join(directory.path, 'handraise.db'), join(directory.path, 'away.db'));
	await follower.said('The database cannot be read.');
	await rename(join(directory.path, 'away.db'), join(directory.path, 'handraise.db'));
	const again = await open({ dataDir: directory.path });
	await record(again, 'C2');
	await follower.until(2);
	expect(await follower.stop()).toBe(0);
	expect(follower.lines.map(({ channel }) => channel)).toEqual(['C1', 'C2']);
	await again.close();
});

it.each(['', '--follow'])('ends without a word when nobody reads any more (%s)', async (option) => {
	const store = await open({ dataDir: directory.path });
	for (const batch of [1, 2, 3]) await record(store, ...Array.from({ length: 1_000 }, (_, at) => `C${batch}${at}`));
	const by = ['sh', '-c', '"$@" | head -n 1', 'sh'];
	const { code, stdout, stderr } = await startCommand('audit', option === '' ? [] : [option], env, { by }).closed;
	expect([code, stderr]).toEqual([0, '']);
	expect(stdout.split('\n')).toHaveLength(2);
	await store.close();
});
