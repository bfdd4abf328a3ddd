import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { accepted, BOB, createRecordingLog, draftOf, item, KEY, makeDataDir, open, submission } from './support.ts';

const CANARY = 'canary-7f3a';

/** Writes the canary into every place that holds text of people. */
async function writeCanaries(store: Awaited<ReturnType<typeof open>>): Promise<void> {
	const items = [item(`${CANARY}-open`, { title: `${CANARY}-title` }), item(`${CANARY}-secret`, { secret: true })];
	await accepted(store, submission({ items }), 'waiting');
	await accepted(store, submission({ person: BOB, items }));
	await accepted(store, submission({ sessionId: 's2', items }), 'delivering', 'delivered');
	await store.drafts.save(draftOf({ values: { 0: CANARY } }));
}

it('writes no text of people unencrypted into the files of SQLite or into the log', async () => {
	const directory = makeDataDir();
	const log = createRecordingLog();
	const store = await open({ dataDir: directory.path, log });
	await writeCanaries(store);
	// In another process: reading the file here would release this process's locks on it.
	const found = () =>
		execFileSync('sh', ['-c', `grep -lac ${CANARY} "$1"/* || true`, 'sh', directory.path], { encoding: 'utf8' });
	expect(found()).toBe('');
	// Proves that the search works: ids are not encrypted.
	expect(execFileSync('sh', ['-c', 'grep -la U-ANN "$1"/*', 'sh', directory.path], { encoding: 'utf8' })).toContain(
		'handraise.db',
	);
	await store.close();
	expect(found()).toBe('');
	expect(JSON.stringify(log.lines)).not.toContain(CANARY);
	await directory.remove();
});

it('writes no text of people unencrypted into PostgreSQL', async () => {
	const databaseUrl = await (await sharedPostgres()).createDatabase();
	const store = await open({ databaseUrl, dataDir: '/nonexistent', encryptionKey: KEY });
	await writeCanaries(store);
	for (const table of ['answers', 'drafts', 'meta'] as const) {
		const rows = await store.db.read.selectFrom(table).selectAll().execute();
		expect(rows.length).toBeGreaterThan(0);
		expect(JSON.stringify(rows)).not.toContain(CANARY);
	}
	await store.close();
});
