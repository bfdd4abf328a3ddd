import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLog } from '../../src/kernel/log.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openSqlite } from '../../src/store/sqlite.ts';

const FILE = 'handraise.db';
let made: Promise<string> | null = null;

async function make(): Promise<string> {
	const directory = await mkdtemp(join(tmpdir(), 'handraise-made-'));
	const database = openSqlite(directory);
	const log = createLog('fatal', { write: () => {} });
	await migrate(database, { clock: systemClock, log });
	await database.close();
	return join(directory, FILE);
}

/**
 * Puts an empty database with the present schema into a new data directory. To make the schema takes as long as all else when
 * a database is opened (13 ms), so it is made once for the tests that are about something else.
 */
export async function putDatabase(dataDir: string): Promise<void> {
	made ??= make();
	await copyFile(await made, join(dataDir, FILE));
}
