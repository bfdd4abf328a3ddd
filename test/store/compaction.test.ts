import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseEncryptionKey } from '../../src/store/encryption.ts';
import { markForCompaction } from '../../src/store/secret-wiping.ts';
import type { Store } from '../../src/stores.ts';
import { onCopy, readableRemains } from './remains.ts';
import { accepted, inTurns, KEY, makeDataDir, open, submission } from './support.ts';

let directory: ReturnType<typeof makeDataDir>;
let store: Store;
beforeEach(async () => {
	directory = makeDataDir();
	store = await open({ dataDir: directory.path });
});
afterEach(async () => {
	await store.close();
	await directory.remove();
});

const PEOPLE = 50;
const person = (index: number) => `U-GONE-${index}.`;

/** Which people of the rows below still stand in the files. */
function remains(): number {
	const ids = Array.from({ length: PEOPLE }, (_, index) => person(index));
	return onCopy(directory.path, (copy) => readableRemains(copy, parseEncryptionKey(KEY), ids)).length;
}

/** Replaces people, of whom copies stay in the files: what SQLite leaves by itself depends on how rows lie in pages. */
async function replacePeople(): Promise<void> {
	const given = Array.from({ length: PEOPLE }, (_, index) =>
		submission({ sessionId: `session-${index}`, person: { teamId: 'T1', userId: person(index) } }),
	);
	await inTurns(given, 40, (one) => accepted(store, one));
	const run = (statement: string) => sql.raw(statement).execute(store.db.read);
	// More pages than other rows need again.
	await run('create table copies as select user_id, hex(zeroblob(1500)) as filler from answers');
	await run('pragma secure_delete = off');
	await run('drop table copies');
	await run('pragma secure_delete = on');
	await store.db.write(async (trx) => {
		await sql`update answers set user_id = 'somebody' || id`.execute(trx);
		await sql`update views set user_id = 'somebody' || id`.execute(trx);
		await sql`update audit_events set actor = 'somebody' || number`.execute(trx);
		await markForCompaction(trx);
	});
}

it('leaves nothing of replaced rows in the files', async () => {
	await replacePeople();
	expect(remains()).toBeGreaterThan(0);
	expect(await store.compact()).toBe(true);
	expect(remains()).toBe(0);
	const marks = sql`select value from meta where name = 'compaction_due'`.execute(store.db.read);
	expect((await marks).rows).toEqual([]);
});

it('compacts at the next start when the program ended before', async () => {
	await replacePeople();
	await store.close();
	expect(remains()).toBeGreaterThan(0);
	store = await open({ dataDir: directory.path });
	expect(remains()).toBe(0);
});
