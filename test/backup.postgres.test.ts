import { beforeAll, expect, it } from 'vitest';
import { main } from '../src/backup.ts';
import { ANN, accepted, BOB, KEY, open, submission } from './store/support.ts';
import { runHere } from './support/commands.ts';
import { sharedPostgres } from './support/shared-postgres.ts';

let postgres: Awaited<ReturnType<typeof sharedPostgres>>;
beforeAll(async () => {
	postgres = await sharedPostgres();
});

it('lists what a restored database lacks, and changes nothing', async () => {
	const [databaseUrl, restoredUrl] = [await postgres.createDatabase(), await postgres.createDatabase()];
	for (const [url, ids] of [
		[databaseUrl, ['both', 'since']],
		[restoredUrl, ['both']],
	] as const) {
		await using store = await opened(url);
		for (const id of ids) {
			const person = id === 'both' ? ANN : BOB;
			await accepted(store, submission({ id, submissionKey: id, sessionId: id, person }));
		}
	}
	const restore = (name: string) => runHere(main, ['--restore', name], { DATABASE_URL: databaseUrl }, 'yes\n');
	const name = new URL(restoredUrl).pathname.slice(1);
	const { stdout, ...ended } = await restore(name);
	expect(ended).toEqual({ code: 0, stderr: '' });
	expect(stdout.split('\n')).toEqual([
		'Answers that were given or have changed since the backup: 1',
		`2026-01-05 09:00:00 UTC  ${BOB.userId} (T1)  session since, message 1: accepted`,
		'Nothing was changed. To go on with the backup, start all replicas with the DATABASE_URL of its database.',
		'',
	]);
	for (const missing of ['nowhere', '/tmp/backup.dump'])
		expect(await restore(missing)).toMatchObject({
			code: 1,
			stderr: `No restore: There is no database ${missing} on this server: restore the backup into a database with pg_restore, and give its name.\n`,
		});
	expect((await restore('postgres')).stderr).toBe(
		'No restore: This backup cannot be used: it is no database of Handraise\n',
	);
});

async function opened(databaseUrl: string) {
	const store = await open({ dataDir: '', databaseUrl, encryptionKey: KEY });
	return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
