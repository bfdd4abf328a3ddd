import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HandraiseError } from '../errors.ts';
import { StoreUnavailableError } from './database.ts';

/** Milliseconds. Only a program that makes a copy may lock the file for a moment; the event loop is blocked meanwhile. */
const BUSY_TIMEOUT = 50;

/**
 * Opens `dataDir/handraise.db` for this process alone. Creates the directory (mode 0700) and the file (0600) when needed.
 *
 * The process keeps an exclusive lock on a second, empty database, `handraise.lock`; the operating system releases it when
 * the process ends. The lock is not on the database itself, so that `sqlite3 handraise.db ".backup copy.db"` or `VACUUM
 * INTO` makes a usable copy while Handraise runs. (`cp` needs a stopped program. A copy needs `encryption.key` or
 * ENCRYPTION_KEY. A network file system is not supported: its locks and syncs are unreliable.)
 *
 * Throws `database_in_use`, `database_unsuitable` or `StoreUnavailableError`.
 */
export function openSqliteFile(dataDir: string) {
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
	function close(): void {
		try {
			database?.close();
		} finally {
			lock.close();
		}
	}
	try {
		database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
		configure(database);
		syncDirectory(directory);
	} catch (error) {
		close();
		throw mapSqliteError(error);
	}
	return { database, close };
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

/** Set and read back on every open: SQLite stores only `journal_mode` in the file. */
const PRAGMAS = [
	['journal_mode', 'WAL', 'wal'],
	['synchronous', 'FULL', 2],
	['foreign_keys', 'ON', 1],
	// Overwrites freed bytes. Copies in unused parts of pages stay: see `secret-wiping.ts`.
	['secure_delete', 'ON', 1],
	// No temporary files.
	['temp_store', 'MEMORY', 2],
	// Bytes to which the log is cut back after a burst.
	['journal_size_limit', '16777216', 16_777_216],
] as const;

function configure(database: DatabaseSync): void {
	for (const [name, value, expected] of PRAGMAS) {
		database.prepare(`PRAGMA ${name} = ${value}`).all();
		const actual = Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
		if (actual !== expected) {
			throw new HandraiseError(
				`SQLite reports ${String(actual)} for ${name}, but ${value} is required. Is DATA_DIR on a network file system?`,
				{ code: 'database_unsuitable' },
			);
		}
	}
}

function makeDirectory(directory: string): void {
	const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
	if (made !== undefined) syncDirectory(dirname(made));
}

/** Never opens an existing file: closing it would release the locks that this process holds on it (POSIX). */
function makePrivateFile(path: string): void {
	try {
		closeSync(openSync(path, 'wx', 0o600));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		chmodSync(path, 0o600);
	}
}

/** Names of new files survive a power cut only after their directory is synced. */
export function syncDirectory(directory: string): void {
	const descriptor = openSync(directory, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/**
 * Primary result codes (sqlite.org/rescode.html) that are about the machine and not about our statement: the database is
 * locked, a table is, out of memory, not writable, I/O, damaged, disk full, cannot be opened, locking protocol, no database.
 */
const UNAVAILABLE = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

const BUSY = 5;

function primaryCode(error: unknown): number | null {
	const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
	return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}

export function isSqliteBusy(error: unknown): boolean {
	return primaryCode(error) === BUSY;
}

/** Turns errors of the machine into `StoreUnavailableError`; returns any other error unchanged. */
export function mapSqliteError(error: unknown): unknown {
	if (error instanceof HandraiseError) return error;
	const code = primaryCode(error);
	if (code === null || !UNAVAILABLE.has(code)) return error;
	const { errstr } = error as { errstr?: string };
	return new StoreUnavailableError(`SQLite: ${errstr} (result code ${code}).`, { cause: error });
}
