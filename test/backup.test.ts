import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../src/backup.ts';
import { backUp, openRestore } from '../src/store/backup.ts';
import { ANN, accepted, BOB, item, KEY, moved, OTHER_KEY, open, submission, T0, valuesOf } from './store/support.ts';
import { runHere, runRekey, startCommand } from './support/commands.ts';

let directory: string;
let dataDir: string;
let copy: string;
beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'handraise-backup-'));
	dataDir = join(directory, 'data');
	copy = join(directory, 'copy.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs `npm run backup`, or with `--restore` `npm run restore`. */
async function run(args: readonly string[], { typed = '', env = {} } = {}) {
	const { stdout, ...ended } = await runHere(main, args, { DATA_DIR: dataDir, ...env }, typed);
	return { lines: stdout.trimEnd().split('\n'), ...ended };
}
const restore = (typed: string) => run(['--restore', copy], { typed });

/** What the command does after "yes", in this process; what it lists, and where the former database is. */
async function replaced() {
	using opened = await openRestore(dataDir, copy);
	const { lines, replace } = opened;
	return { lines, former: replace('ada@host') };
}

/** The database with what `fill` stores. */
async function store(fill: (opened: Awaited<ReturnType<typeof open>>) => Promise<unknown>, encryptionKey = KEY) {
	const opened = await open({ dataDir, encryptionKey });
	await fill(opened);
	await opened.close();
}
async function answerIds(): Promise<string[]> {
	const opened = await open({ dataDir, encryptionKey: KEY });
	const rows = await opened.db.read.selectFrom('answers').select('id').orderBy('id').execute();
	await opened.close();
	return rows.map(({ id }) => id);
}
const formerFiles = () => readdirSync(dataDir).filter((name) => name.includes('.before-'));
const ASKS = 'Type "yes" to replace the database by the backup:';

describe('npm run backup', () => {
	it('copies the database of a running program into a new file that only its owner may read', async () => {
		const opened = await open({ dataDir, encryptionKey: KEY });
		await accepted(opened, submission({ id: 'in-the-log', sessionId: 'other' }));
		const { code, stdout } = await startCommand('backup', [copy], { DATA_DIR: dataDir }).closed;
		expect(stdout).toContain(`Written: ${copy}. It is a copy of ${join(dataDir, 'handraise.db')}, and`);
		expect(code).toBe(0);
		await opened.close();
		expect(statSync(copy).mode & 0o777).toBe(0o600);
		rmSync(dataDir, { recursive: true });
		const restoring = startCommand('backup', ['--restore', copy], { DATA_DIR: dataDir });
		restoring.child.stdin.end('yes\n');
		expect((await restoring.closed).code).toBe(0);
		expect(await answerIds()).toEqual(['in-the-log']);
	});

	it('does its work when nobody reads its output', async () => {
		await store(async () => {});
		const { child, closed } = startCommand('backup', [copy], { DATA_DIR: dataDir });
		child.stdout.destroy();
		expect(await closed).toMatchObject({ code: 0, stderr: '' });
		expect(existsSync(copy)).toBe(true);
	});

	it('overwrites nothing, and leaves nothing when it fails', async () => {
		await store(async () => {});
		writeFileSync(copy, 'precious');
		expect(await run([copy])).toMatchObject({
			code: 1,
			stderr: `No backup: ${copy} exists already: name a new file.\n`,
		});
		expect(readFileSync(copy, 'utf8')).toBe('precious');
		const nowhere = join(directory, 'nowhere');
		expect(() => backUp(dataDir, join(nowhere, 'copy.db'))).toThrow(`There is no directory ${nowhere}: make it first.`);
		writeFileSync(join(dataDir, 'handraise.db'), 'no database');
		const broken = join(directory, 'broken.db');
		const said = `${join(dataDir, 'handraise.db')} cannot be read: file is not a database`;
		expect(() => backUp(dataDir, broken)).toThrow(said);
		expect(existsSync(broken)).toBe(false);
	});

	it('says what to do without a database, with PostgreSQL and with other arguments', async () => {
		expect(() => backUp(dataDir, copy)).toThrow(`There is no file ${join(dataDir, 'handraise.db')}.`);
		const env = { DATABASE_URL: 'postgres://user:secret@host/database' };
		expect((await run([copy], { env })).stderr).toBe('No backup: with DATABASE_URL, pg_dump makes backups.\n');
		expect((await run([copy], { env: { DATABASE_URL: 'mysql://secret' } })).stderr).not.toContain('secret');
		expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringMatching(/^Usage: npm run backup/) });
	});
});

describe('npm run restore', () => {
	it('lists what the backup lacks, asks, and only then puts it in the place of the database, which it keeps', async () => {
		const edited = submission({ id: 'edited', sessionId: 'four', acceptedAt: T0 + 2_000 });
		await store(async (opened) => {
			await accepted(opened, submission({ id: 'same', sessionId: 'one' }), 'delivering', 'delivered');
			await accepted(opened, submission({ id: 'later', sessionId: 'two', person: BOB }));
			await accepted(opened, edited);
		});
		backUp(dataDir, copy);
		await store(async (opened) => {
			await moved(opened, 'later', 'delivering', 'delivered');
			await opened.answers.accept({ ...edited, items: [item('red')] });
			await accepted(opened, submission({ id: 'new', sessionId: 'three', acceptedAt: T0 + 61_000 }));
		});
		const listed = [
			'Answers that were given or have changed since the backup: 3',
			`2026-01-05 09:00:00 UTC  ${BOB.userId} (T1)  session two, message 1: delivered (in the backup: accepted)`,
			`2026-01-05 09:00:02 UTC  ${ANN.userId} (T1)  session four, message 1: accepted (in the backup: accepted)`,
			`2026-01-05 09:01:01 UTC  ${ANN.userId} (T1)  session three, message 1: accepted`,
			ASKS,
		];
		for (const input of ['no\n', ''])
			expect(await restore(input)).toEqual({ code: 1, lines: listed, stderr: 'No restore: nothing was changed.\n' });
		expect(await answerIds()).toEqual(['edited', 'later', 'new', 'same']);

		const { lines, ...ended } = await restore('yes\n');
		expect(ended).toEqual({ code: 0, stderr: '' });
		const [former = ''] = formerFiles();
		expect(lines).toEqual([
			...listed,
			`Restored: ${join(dataDir, 'handraise.db')}. The former database is ${join(dataDir, former)}`,
		]);
		expect(await answerIds()).toEqual(['edited', 'later', 'same']);

		copy = join(dataDir, former);
		await replaced();
		expect(await answerIds()).toEqual(['edited', 'later', 'new', 'same']);
	});

	it('refuses while Handraise runs, with what is no backup, and with one of a newer version', async () => {
		const opened = await open({ dataDir, encryptionKey: KEY });
		backUp(dataDir, copy);
		expect(await restore('yes\n')).toMatchObject({
			code: 1,
			stderr: `No restore: Another process is using the database in ${dataDir}. Stop Handraise first.\n`,
		});
		await opened.db.write((db) =>
			db.insertInto('migrations').values({ number: 999, name: 'later', appliedAt: 0 }).execute(),
		);
		const newer = join(directory, 'newer.db');
		backUp(dataDir, newer);
		await opened.close();
		copy = newer;
		expect((await restore('yes\n')).stderr).toContain('This backup cannot be used: The database has schema 999');
		const refused = () => expect(openRestore(dataDir, copy)).rejects;
		writeFileSync(copy, '');
		await refused().toThrow('This backup cannot be used: it is no database of Handraise');
		writeFileSync(copy, 'no database, but a text that is longer than the header of one'.repeat(20));
		await refused().toThrow(`${copy} cannot be read: file is not a database`);
		copy = join(directory, 'nowhere.db');
		await refused().toThrow(`There is no file ${copy}.`);
		expect(formerFiles()).toEqual([]);
	});

	it('rolls back a database that a newer version has changed', async () => {
		await store((opened) => accepted(opened, submission({ id: 'before' })));
		backUp(dataDir, copy);
		await store(async (opened) => {
			await opened.db.write((db) =>
				db.insertInto('migrations').values({ number: 999, name: 'later', appliedAt: 0 }).execute(),
			);
		});
		await expect(answerIds()).rejects.toMatchObject({ code: 'database_newer' });
		await replaced();
		expect(await answerIds()).toEqual(['before']);
	});

	it('takes the place of a damaged database, without its log, and says what nobody knows', async () => {
		await store((opened) => accepted(opened, submission({ id: 'before' })));
		backUp(dataDir, copy);
		writeFileSync(join(dataDir, 'handraise.db'), 'damaged '.repeat(2_000));
		writeFileSync(join(dataDir, 'handraise.db-wal'), 'its log');
		expect((await restore('yes\n')).lines).toEqual([
			'There is no database that can be read, so nobody knows which answers the backup lacks.',
			ASKS,
			expect.stringContaining(`Restored: ${join(dataDir, 'handraise.db')}. The`),
		]);
		const [former = ''] = formerFiles();
		expect(readFileSync(join(dataDir, former), 'utf8')).toMatch(/^damaged damaged/);
		expect(await answerIds()).toEqual(['before']);
	});

	it('applies no log of a database that is lost', async () => {
		await store((opened) => accepted(opened, submission({ id: 'before' })));
		backUp(dataDir, copy);
		const [path, log] = [join(dataDir, 'handraise.db'), join(dataDir, 'handraise.db-wal')];
		let commits = Buffer.alloc(0);
		await store(async (opened) => {
			await accepted(opened, submission({ id: 'in-the-log', sessionId: 'other' }));
			commits = readFileSync(log);
		});
		rmSync(path);
		writeFileSync(log, commits);
		expect(commits.length).toBeGreaterThan(0);
		expect((await replaced()).former).toBeNull();
		expect(formerFiles()).toEqual([expect.stringMatching(/-wal$/)]);
		expect(await answerIds()).toEqual(['before']);
	});

	it('says which key a backup from before a change of the key needs, and opens with it', async () => {
		await store((opened) => accepted(opened, submission({ id: 'before' })));
		backUp(dataDir, copy);
		expect((await replaced()).lines.join()).not.toContain('key');
		rmSync(dataDir, { recursive: true });
		await store(async () => {}, OTHER_KEY);
		const { lines } = await replaced();
		expect(lines).toContain(
			'The backup needs another key: name it in ENCRYPTION_KEY_FORMER, and run npm run rekey before the start.',
		);
		const keys = { ENCRYPTION_KEY: OTHER_KEY, ENCRYPTION_KEY_FORMER: KEY };
		expect(await runRekey({ DATA_DIR: dataDir, ...keys })).toMatchObject({ code: 0, stderr: '' });
		const opened = await open({ dataDir, encryptionKey: OTHER_KEY });
		expect(valuesOf(await opened.answers.get('before'))).toEqual(['blue']);
		await opened.close();
	});
});
