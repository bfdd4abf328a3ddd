import { join } from 'node:path';
import { expect, it } from 'vitest';
import { busyApp, examineSqlite, scansOfProgram } from './plans.ts';

it('the program reads no growing table whole and has its statements planned once, on SQLite', async () => {
	await using app = await busyApp({});
	const scans = await scansOfProgram(app, async () => examineSqlite(join(app.dataDir, 'handraise.db')));
	expect(scans).toEqual([]);
}, 120_000);
