import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../src/stores.ts';
import { makeDataDir, open } from '../store/support.ts';
import { describeCommand, runAudit } from './audit-command.ts';

const directory = makeDataDir();
let store: Store;
beforeAll(async () => {
	store = await open({ dataDir: directory.path });
});
afterAll(async () => {
	await store.close();
	await directory.remove();
});

describeCommand(async () => ({ store, env: { DATA_DIR: directory.path } }));

it('says where there is no database, or one of another version', async () => {
	const other = makeDataDir();
	const run = async () => {
		const { code, stderr } = await runAudit([], { DATA_DIR: other.path });
		expect(code).toBe(1);
		return stderr;
	};
	expect(await run()).toBe(`There is no database ${join(other.path, 'handraise.db')}.\n`);
	const database = new DatabaseSync(join(other.path, 'handraise.db'));
	database.exec('create table anything (id)');
	expect(await run()).toBe('This database has no audit: start this version of Handraise with it first.\n');
	database.close();
	await other.remove();
});

it('names a wrong setting', async () => {
	const { code, stderr } = await runAudit([], { DATABASE_URL: 'mysql://here' });
	expect([code, stderr]).toEqual([1, expect.stringContaining('DATABASE_URL')]);
});
