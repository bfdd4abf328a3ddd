import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HandraiseError } from '../errors.ts';
import { StoreUnavailableError } from './database.ts';

/** Milliseconds. Nobody else writes, but a program that makes a copy may lock for a moment; the event loop waits with us. */
const BUSY_TIMEOUT = 50;

export interface SqliteFile {
	readonly database: DatabaseSync;
	/** Closes the database and lets another process have it. */
	close(): void;
}

/**
 * Opens `dataDir/handraise.db` for this process alone, making the directory (mode 0700) and the file (0600).
 *
 * The process keeps an exclusive lock on a second, empty database, `handraise.lock`, as long as it lives: the operating
 * system drops it with the process, however that ends. The lock is not on the database itself so that `sqlite3
 * handraise.db ".backup copy.db"` or `VACUUM INTO` by another program gives a usable copy while Handraise runs. (A copy
 * by `cp` needs a stopped program. A copy is of use only with `encryption.key` or ENCRYPTION_KEY. The directory must not
 * be on a network file system: its locks and syncs cannot be relied on.)
 *
 * Throws `database_in_use`, `database_unsuitable` or `StoreUnavailableError`.
 */
export function openSqliteFile(dataDir: string): SqliteFile {
	const directory = resolve(dataDir);
	const path = join(directory, 'handraise.db');
	try {
		makeDirectory(directory);
		makePrivateFile(join(directory, 'handraise.lock'));
		makePrivateFile(path);
	} catch (error) {
		throw new StoreUnavailableError(`The data directory ${directory} cannot be written.`, { cause: error });
	}
	const lock = takeLock(directory);
	let database: DatabaseSync | undefined;
	try {
		database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
		configure(database);
		// The names of new files survive a power cut only once their directory is synced.
		syncDirectory(directory);
	} catch (error) {
		database?.close();
		lock.close();
		throw mapSqliteError(error);
	}
	const opened = database;
	return {
		database: opened,
		close() {
			try {
				opened.close();
			} finally {
				lock.close();
			}
		},
	};
}

function takeLock(directory: string): DatabaseSync {
	const lock = new DatabaseSync(join(directory, 'handraise.lock'), { timeout: 0 });
	try {
		// Nothing is ever written to it, so it needs no journal file.
		lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
		return lock;
	} catch (error) {
		lock.close();
		if (!isSqliteBusy(error)) throw mapSqliteError(error);
		throw new HandraiseError(
			`Another process is using the database in ${directory}. Stop it first, or give this one its own DATA_DIR. ` +
				'To run several at once, set DATABASE_URL to a PostgreSQL database.',
			{ code: 'database_in_use', cause: error },
		);
	}
}

/** Durability and integrity as promised; set and read back on every open, since SQLite keeps only `journal_mode` in the file. */
const PRAGMAS = [
	['journal_mode', 'WAL', 'wal'],
	['synchronous', 'FULL', 2],
	['foreign_keys', 'ON', 1],
	// Overwrites what is freed. Copies in unused parts of pages stay: see `secret-wiping.ts`.
	['secure_delete', 'ON', 1],
	// No file beside the database for what SQLite keeps for a moment only.
	['temp_store', 'MEMORY', 2],
	// A burst may grow the log; it is cut back to this many bytes.
	['journal_size_limit', '16777216', 16_777_216],
] as const;

function configure(database: DatabaseSync): void {
	for (const [name, value, expected] of PRAGMAS) {
		database.prepare(`PRAGMA ${name} = ${value}`).all();
		const actual = Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
		if (actual !== expected) {
			throw new HandraiseError(
				`SQLite answers ${String(actual)} for ${name} where ${value} is needed. Is DATA_DIR on a network file system?`,
				{ code: 'database_unsuitable' },
			);
		}
	}
}

function makeDirectory(directory: string): void {
	const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
	if (made !== undefined) syncDirectory(dirname(made));
}

/** Never opens a file that exists: closing it again would drop the locks this process holds on it (POSIX). */
function makePrivateFile(path: string): void {
	try {
		closeSync(openSync(path, 'wx', 0o600));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		chmodSync(path, 0o600);
	}
}

function syncDirectory(directory: string): void {
	const descriptor = openSync(directory, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Primary result codes (sqlite.org/rescode.html) that say something about the machine, not about our statement. */
const UNAVAILABLE: ReadonlyMap<number, string> = new Map([
	[5, 'the database is locked by another program'],
	[6, 'a table is locked'],
	[7, 'out of memory'],
	[8, 'the database cannot be written'],
	[10, 'disk I/O error'],
	[11, 'the database file is damaged'],
	[13, 'the disk is full'],
	[14, 'the database file cannot be opened'],
	[15, 'the locking protocol failed'],
	[26, 'the file is not a database'],
]);

const BUSY = 5;

function primaryCode(error: unknown): number | null {
	const code = (error as { code?: unknown; errcode?: unknown } | null)?.code;
	const errcode = (error as { errcode?: unknown } | null)?.errcode;
	return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}

export function isSqliteBusy(error: unknown): boolean {
	return primaryCode(error) === BUSY;
}

/** What the machine is to blame for becomes a `StoreUnavailableError`; anything else stays what it is. */
export function mapSqliteError(error: unknown): unknown {
	if (error instanceof HandraiseError) return error;
	const code = primaryCode(error);
	const reason = code === null ? undefined : UNAVAILABLE.get(code);
	if (reason === undefined) return error;
	return new StoreUnavailableError(`SQLite: ${reason} (result code ${code}).`, { cause: error });
}
