import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../src/kernel/errors.ts';
import { mapSqliteError, openSqliteFile } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/stores.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { accepted, item, LEASE, makeDataDir, OTHER_LEASE, open, SERVICE, submission, T0, valuesOf } from './support.ts';

// sqlite.org/rescode.html
const FULL = 13;
const IOERR_WRITE = 778;
const IOERR_FSYNC = 1034;

let directory: ReturnType<typeof makeDataDir>;
let opened: Store[];
let children: ChildProcess[];

beforeEach(() => {
	directory = makeDataDir();
	opened = [];
	children = [];
});

afterEach(async () => {
	for (const child of children) await end(child);
	for (const store of opened) await store.close();
	await directory.remove();
});

async function openHere(dataDir = directory.path): Promise<Store> {
	const store = await open({ dataDir });
	opened.push(store);
	return store;
}

/** Starts another process on the same directory; resolves with the line it prints after opening the store. */
async function openElsewhere() {
	const script = fileURLToPath(new URL('child.ts', import.meta.url));
	const child = spawn(process.execPath, [script, directory.path], { stdio: ['pipe', 'pipe', 'inherit'] });
	children.push(child);
	const lines = createInterface({ input: child.stdout });
	const next = async () => ((await once(lines, 'line')) as [string])[0];
	async function accept(id: string): Promise<string> {
		child.stdin.write(`${id}\n`);
		return next();
	}
	return { child, said: await next(), accept };
}

async function end(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const exited = once(child, 'exit');
	child.kill('SIGKILL');
	await exited;
}

function mode(...path: string[]): string {
	return (statSync(join(directory.path, ...path)).mode & 0o777).toString(8);
}

describe('the file of SQLite', () => {
	it('leaves turns of the event loop to others during many writes one after another', async () => {
		const { answers } = await openHere();
		const turnsAtWrites = new Set<number>();
		let turns = 0;
		let isOver = false;
		const countTurns = () => {
			turns++;
			if (!isOver) setImmediate(countTurns);
		};
		setImmediate(countTurns);
		for (let n = 0; n < 100; n++) {
			await answers.accept(submission({ sessionId: `s${n}` }));
			turnsAtWrites.add(turns);
		}
		isOver = true;
		expect(turnsAtWrites.size).toBeGreaterThanOrEqual(5);
	});

	it('makes the database and its other files readable only by their owner', async () => {
		const store = await openHere(join(directory.path, 'deep', 'data'));
		await accepted(store, submission());
		expect(mode('deep', 'data')).toBe('700');
		const files = readdirSync(join(directory.path, 'deep', 'data')).sort();
		expect(files).toEqual(['encryption.key', 'handraise.db', 'handraise.db-shm', 'handraise.db-wal', 'handraise.lock']);
		for (const file of files) expect([file, mode('deep', 'data', file)]).toEqual([file, '600']);
	});

	it('refuses a directory on a network file system, before it holds its lock', async () => {
		const refused = { code: 'database_unsuitable', message: expect.stringContaining('is on a network file system') };
		// NFS, CIFS, SMB 2.
		for (const type of [0x6969, 0xff534d42, 0xfe534d42])
			expect(() => openSqliteFile(directory.path, () => type)).toThrow(expect.objectContaining(refused));
		await openHere();
	});

	it('gives up its lock also when the database cannot be closed', async () => {
		const { database, close } = openSqliteFile(directory.path);
		database.close();
		expect(close).toThrow('not open');
		await openHere();
	});

	it('keeps commits when it is closed and reopened, and is private again when its mode was changed', async () => {
		const store = await open({ dataDir: directory.path });
		const given = await accepted(store, submission());
		await store.close();
		chmodSync(join(directory.path, 'handraise.db'), 0o644);
		expect(valuesOf(await (await openHere()).answers.get(given.id))).toEqual(['blue']);
		expect(mode('handraise.db')).toBe('600');
	});

	it.each([
		['all files', ['', '-wal', '-shm']],
		['the file and its log', ['', '-wal']],
	] as const)('keeps every commit when %s were copied while it was in use', async (_, ends) => {
		const store = await openHere();
		const { id } = await accepted(store, submission());
		const copy = join(directory.path, 'copy');
		mkdirSync(copy);
		for (const end of ends) copyFileSync(join(directory.path, `handraise.db${end}`), join(copy, `handraise.db${end}`));
		copyFileSync(join(directory.path, 'encryption.key'), join(copy, 'encryption.key'));
		expect(await (await openHere(copy)).answers.get(id)).toMatchObject({ state: 'accepted' });
	});

	it('sets full sync, the write-ahead log and foreign keys on every open', async () => {
		for (let time = 0; time < 2; time++) {
			const store = await open({ dataDir: directory.path });
			const pragma = async (name: string) => {
				const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(store.db.read);
				return Object.values(rows[0] ?? {})[0];
			};
			expect(await pragma('journal_mode')).toBe('wal');
			expect(await pragma('synchronous')).toBe(2);
			expect(await pragma('foreign_keys')).toBe(1);
			expect(await pragma('secure_delete')).toBe(1);
			await store.close();
		}
	});

	it('is open once, in this process or another, until it is closed or its process is killed', async () => {
		const store = await open({ dataDir: directory.path });
		const inUse = { code: 'database_in_use', retryable: false };
		await expect(open({ dataDir: directory.path })).rejects.toMatchObject(inUse);
		// The refused one has left the first its lock.
		expect((await openElsewhere()).said).toBe('database_in_use');
		await accepted(store, submission());
		await store.close();
		const { child, said } = await openElsewhere();
		expect(said).toBe('open');
		await expect(open({ dataDir: directory.path })).rejects.toMatchObject(inUse);
		await end(child);
		await openHere();
	});

	it('clears the leases of a process that was killed', async () => {
		const store = await openHere();
		const given = await accepted(store, submission());
		await store.answers.takeDue(SERVICE, LEASE, 10, T0);
		await store.close();
		const next = await openHere();
		expect(await next.answers.takeDue(SERVICE, OTHER_LEASE, 10, T0)).toMatchObject([{ id: given.id }]);
	});

	it('is unavailable where nothing can be written, and where it is not a database', async () => {
		const file = join(directory.path, 'handraise.db');
		writeFileSync(file, 'x'.repeat(4_096));
		for (const dataDir of [join(file, 'data'), directory.path])
			await expect(open({ dataDir })).rejects.toMatchObject({ code: 'store_unavailable' });
	});

	it('lets VACUUM INTO and the backup command copy the database while it is in use', async () => {
		const store = await openHere();
		const given = await accepted(store, submission());
		const path = join(directory.path, 'handraise.db');
		for (const [kind, copy] of [
			['vacuum', join(directory.path, 'vacuum')],
			['backup', join(directory.path, 'backup')],
		] as const) {
			mkdirSync(copy);
			// In another process, like an operator: closing the file here would release this process's locks on it.
			execFileSync(process.execPath, ['--input-type=module', '--eval', BACKUP, kind, path, join(copy, 'handraise.db')]);
			await accepted(store, submission({ sessionId: kind }));
			execFileSync('cp', [join(directory.path, 'encryption.key'), copy]);
			const restored = await openHere(copy);
			expect(valuesOf(await restored.answers.get(given.id))).toEqual(['blue']);
		}
		expect((await openElsewhere()).said).toBe('database_in_use');
	});
});

const BACKUP = `
	import { backup, DatabaseSync } from 'node:sqlite';
	const [kind, from, to] = process.argv.slice(1);
	const database = new DatabaseSync(from, { readOnly: kind === 'backup' });
	if (kind === 'backup') await backup(database, to);
	else database.prepare('vacuum into ?').run(to);
	database.close();
`;

describe('writes on SQLite', () => {
	it('commits writes of one turn together, also those of several callbacks', async () => {
		const store = await openHere();
		const before = commits();
		await Promise.all(
			Array.from({ length: 50 }, (_, index) => store.answers.accept(submission({ sessionId: `s${index}` }))),
		);
		const shared = commits() - before;
		await accepted(store, submission({ sessionId: 'alone' }));
		expect(shared).toBe(1);
		expect(commits() - before).toBe(2);
		await Promise.all(
			Array.from({ length: 10 }, async (_, index) => {
				await new Promise<void>((resolve) => setImmediate(resolve));
				await store.answers.accept(submission({ sessionId: `callback-${index}` }));
			}),
		);
		expect(commits() - before).toBe(3);
	});

	it('rolls back only the write of a batch that fails in the middle, and continues with the next', async () => {
		const store = await openHere();
		const given = submission();
		const half = () => store.db.read.selectFrom('meta').selectAll().where('name', '=', 'half').execute();
		const failing = (error: Error) =>
			store.db.write(async (db) => {
				await db.insertInto('meta').values({ name: 'half', value: 'done' }).execute();
				throw error;
			});
		const wrong = failing(new Error('wrong'));
		const results = await Promise.allSettled([store.answers.accept(given), wrong, store.answers.accept(given)]);
		expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
		expect(results[2]).toMatchObject({ value: { kind: 'repeated' } });
		expect(await half()).toEqual([]);
		const alone = failing(new StoreUnavailableError('as if the disk were full'));
		await expect(alone).rejects.toMatchObject({ code: 'store_unavailable' });
		await accepted(store, submission({ sessionId: 's2' }));
		expect(await half()).toEqual([]);
	});

	it('shows writes to reads only after the commit', async () => {
		const store = await openHere();
		const given = submission();
		const writing = store.answers.accept(given);
		const early = await store.answers.get(given.id);
		await writing;
		expect(early).toBeNull();
		expect(await store.answers.get(given.id)).not.toBeNull();
	});

	it('finishes writes before the close and refuses them after it', async () => {
		const store = await open({ dataDir: directory.path });
		const given = submission();
		const writing = store.answers.accept(given);
		await store.close();
		expect((await writing).kind).toBe('accepted');
		await expect(store.answers.accept(submission())).rejects.toMatchObject({ code: 'store_unavailable' });
		await expect(store.answers.get(given.id)).rejects.toMatchObject({ code: 'store_unavailable' });
		await expect(store.db.ping()).rejects.toMatchObject({ code: 'store_unavailable' });
	});

	/** Counts commits in the log: frames with the size of the database (sqlite.org/fileformat2.html#walformat). */
	function commits(): number {
		const log = readFileSync(join(directory.path, 'handraise.db-wal'));
		// Emptied by the start.
		if (log.length === 0) return 0;
		const frame = 24 + log.readUInt32BE(8);
		const salts = log.subarray(16, 24);
		let count = 0;
		for (let at = 32; at + frame <= log.length; at += frame) {
			if (log.subarray(at + 8, at + 16).equals(salts) && log.readUInt32BE(at + 4) !== 0) count++;
		}
		return count;
	}
});

describe('a full disk under SQLite', () => {
	const big = 'x'.repeat(100_000);

	it('refuses writes on a full disk, keeps earlier ones and continues when there is room', async () => {
		const store = await openHere();
		const first = await accepted(store, submission());
		const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(store.db.read);
		await limit(1);
		const given = submission({ sessionId: 's2', items: [item(big)] });
		await expect(store.answers.accept(given)).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
		expect(await store.answers.get(given.id)).toBeNull();
		expect(valuesOf(await store.answers.get(first.id))).toEqual(['blue']);
		await limit(1_000_000);
		expect((await store.answers.accept(given)).kind).toBe('accepted');
	});

	it('fails every write of a commit that the full disk refused', async () => {
		const store = await openHere();
		await sql`pragma max_page_count = 1`.execute(store.db.read);
		const many = [submission({ sessionId: 's1' }), submission({ sessionId: 's2', items: [item(big)] })];
		const results = await Promise.allSettled(many.map((given) => store.answers.accept(given)));
		for (const [index, result] of results.entries()) {
			const stored = await store.answers.get(many[index]?.id ?? '');
			expect(stored !== null).toBe(result.status === 'fulfilled');
		}
		expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
	});

	it(
		'says so when it is the device that is full',
		skipUnless(canMount(), 'only root can mount a small device'),
		async () => {
			const mounted = join(directory.path, 'small');
			mkdirSync(mounted);
			mount(mounted);
			try {
				const store = await open({ dataDir: mounted });
				const filler = join(mounted, 'filler');
				expect(() => writeFileSync(filler, Buffer.alloc(2_000_000))).toThrow();
				const given = submission({ items: [item(big)] });
				await expect(store.answers.accept(given)).rejects.toMatchObject({ code: 'store_unavailable' });
				rmSync(filler);
				expect((await store.answers.accept(given)).kind).toBe('accepted');
				await store.close();
			} finally {
				unmount(mounted);
			}
		},
	);
});

describe('an I/O error under SQLite', () => {
	it('leaves it open whether a write is stored only when it was of a sync', () => {
		const failed = (errcode: number) =>
			mapSqliteError(Object.assign(new Error(), { code: 'ERR_SQLITE_ERROR', errcode }));
		expect(failed(IOERR_FSYNC)).toMatchObject({ code: 'store_unavailable', commitUnknown: true });
		expect(failed(IOERR_WRITE)).toMatchObject({ code: 'store_unavailable', commitUnknown: false });
		expect(failed(FULL)).toMatchObject({ code: 'store_unavailable', commitUnknown: false });
	});

	it(
		'of the sync of a commit is called unknown, and a kill may show that it was stored',
		skipUnless(canTrace(), 'strace is not installed or may not trace'),
		async () => {
			const { child, accept } = await openElsewhere();
			expect(await accept('first')).toBe('accepted');
			await failSyncs(child);
			expect(await accept('second')).toBe('perhaps stored');
			await end(child);
			const { answers } = await openHere();
			expect(await answers.get('first')).not.toBeNull();
			expect(await answers.get('second')).not.toBeNull();
		},
	);
});

/** The program is in some images only, and may not trace in every container. */
function canTrace(): boolean {
	try {
		execFileSync('sh', ['-c', 'strace -qq -e trace=none true'], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}

/** From now on the disk of this process fails at each sync, after it has taken the writes. */
async function failSyncs({ pid }: ChildProcess): Promise<void> {
	const trace = 'exec strace -f -p "$1" -e trace=fsync,fdatasync -e inject=fsync,fdatasync:error=EIO';
	const tracing = spawn('sh', ['-c', trace, 'sh', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
	children.push(tracing);
	for await (const line of createInterface({ input: tracing.stderr })) if (line.includes('attached')) return;
}

/** Only root can mount, and not in every container. */
function canMount(): boolean {
	if (process.getuid?.() !== 0) return false;
	const probe = makeDataDir();
	try {
		mount(probe.path);
		unmount(probe.path);
		return true;
	} catch {
		return false;
	} finally {
		void probe.remove();
	}
}

function mount(path: string): void {
	execFileSync('sh', ['-c', 'mount -t tmpfs -o size=1m tmpfs "$1"', 'sh', path], { stdio: 'ignore' });
}

function unmount(path: string): void {
	execFileSync('sh', ['-c', 'umount "$1"', 'sh', path]);
}

it('refuses a data directory in a place that takes none, with a message', async () => {
	await expect(openHere('/proc/nope/deeper')).rejects.toThrow(
		'The data directory /proc/nope/deeper cannot be written (ENOENT): set DATA_DIR to one that this user can write.',
	);
});
