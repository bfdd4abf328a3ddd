import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate as turnEnds } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
	Kysely,
	type SelectModifierNode,
	type SqliteDatabase,
	SqliteDialect,
	SqliteQueryCompiler,
	type SqliteStatement,
	sql,
} from 'kysely';
import { HandraiseError, StoreUnavailableError } from '../kernel/errors.ts';
import { setBounded } from '../kernel/memory.ts';
import { workAndRecord } from './audit.ts';
import { createCommits, type Db, nameInSql, rowsOf, type StoreDatabase, type Tables } from './database.ts';
import { refuseSchema } from './migrate.ts';

/** Writes per commit. Each blocks the event loop for about 0.2 ms. */
const MAX_BATCH = 64;
/** Commits per turn: `repairTimes` makes two, between which nobody may write a time of before the step. */
const COMMITS_PER_TURN = 8;
/** This process owns the file and hears of each commit: a look finds only what a wake-up missed. */
const LOOK_EVERY_MS = 30_000;

type QueuedWrite = Omit<PromiseWithResolvers<unknown>, 'promise'> & { work(db: Db): Promise<unknown> };

export interface SqliteStoreDatabase extends StoreDatabase {
	/** Runs `task` between two commits, in its own turn of the event loop. It must leave no transaction open. */
	alone<T>(task: (database: DatabaseSync) => T): Promise<T>;
}

export function openSqlite(dataDir: string): SqliteStoreDatabase {
	const file = openSqliteFile(dataDir);
	const queue: QueuedWrite[] = [];
	let flushing: Promise<void> | null = null;
	let closing: Promise<void> | null = null;
	const { record, ...commits } = createCommits(LOOK_EVERY_MS);
	const kysely = kyselyOn(file.database);

	const write = <T>(work: (db: Db) => Promise<T>) =>
		record((bound) => {
			if (closing !== null) throw storeClosed();
			const { promise, resolve, reject } = Promise.withResolvers<T>();
			const recorded = (db: Db) => workAndRecord(bound(db), work);
			queue.push({ work: recorded, resolve: resolve as (value: unknown) => void, reject });
			flushing ??= flush();
			return promise;
		});

	async function alone<T>(task: (database: DatabaseSync) => T): Promise<T> {
		if (closing !== null) throw storeClosed();
		// Callers that waited for a commit continue first.
		await turnEnds();
		return kysely.connection().execute(async () => {
			if (!file.database.isOpen) throw storeClosed();
			return guard(() => task(file.database));
		});
	}

	async function flush(): Promise<void> {
		for (let commits = 0; queue.length > 0; commits++) {
			// Other writes of this turn join the commit. Writes that follow one another without end leave turns to others.
			if (commits % COMMITS_PER_TURN === 0) await turnEnds();
			const batch = queue.splice(0, MAX_BATCH);
			await kysely.connection().execute((connection) => commitTogether(connection, file.database, batch));
		}
		flushing = null;
	}

	return {
		dialect: 'sqlite',
		read: kysely,
		write,
		writeOne: write,
		alone,
		...commits,
		ping: () => sql`select 1 from migrations limit 1`.execute(kysely),
		close() {
			closing ??= (async () => {
				await flushing;
				await kysely.connection().execute(async () => file.close());
			})();
			return closing;
		},
	};
}

export function kyselyOn(database: DatabaseSync): Db {
	const dialect = new SqliteDialect({ database: adapt(database) });
	dialect.createQueryCompiler = () => new CompilerWithoutRowLocks();
	return new Kysely<Tables>({ dialect });
}

/** SQLite knows no FOR UPDATE. */
class CompilerWithoutRowLocks extends SqliteQueryCompiler {
	protected override sanitizeIdentifier(identifier: string): string {
		return super.sanitizeIdentifier(nameInSql(identifier));
	}

	protected override visitSelectModifier(node: SelectModifierNode): void {
		if (node.modifier === 'Distinct') super.visitSelectModifier(node);
	}
}

/** One transaction. Of several writes, each has a savepoint: one that fails does not affect others. Never throws. */
async function commitTogether(connection: Db, database: DatabaseSync, batch: readonly QueuedWrite[]) {
	const settled: (() => void)[] = [];
	try {
		guard(() => database.exec('begin immediate'));
		for (const write of batch) {
			if (batch.length > 1) guard(() => database.exec('savepoint one_write'));
			try {
				const value = await write.work(connection);
				settled.push(() => write.resolve(value));
			} catch (error) {
				// After a full disk or an I/O error the whole transaction may be rolled back: all writes fail.
				if (batch.length === 1 || error instanceof StoreUnavailableError) throw error;
				guard(() => database.exec('rollback to one_write'));
				settled.push(() => write.reject(error));
			}
			if (batch.length > 1) guard(() => database.exec('release one_write'));
		}
		guard(() => database.exec('commit'));
	} catch (error) {
		try {
			if (database.isTransaction) database.exec('rollback');
		} catch {
			// SQLite has already rolled back: the original error is reported.
		}
		for (const write of batch) write.reject(error);
		return;
	}
	for (const settle of settled) settle();
}

/** Prepared statements that are kept: a watch, a press and a form prepare 187 different ones. */
const MAX_PREPARED = 400;

function adapt(database: DatabaseSync): SqliteDatabase {
	const prepared = new Map<string, SqliteStatement>();
	return {
		// Never called: after it Kysely would throw errors without a code.
		close() {},
		prepare(text) {
			if (!database.isOpen) throw storeClosed();
			const statement = prepared.get(text) ?? adaptStatement(guard(() => database.prepare(plannedOnce(text))));
			// The one that was not used for longest goes.
			setBounded(prepared, text, statement, MAX_PREPARED);
			return statement;
		},
	};
}

/**
 * Makes limits expressions. SQLite plans for the value of a bare parameter there, so it plans anew whenever one is
 * bound. That takes up to 20 times as long as running the statement.
 */
const plannedOnce = (text: string) => text.replaceAll('limit ?', 'limit ? + 0');

function adaptStatement(statement: StatementSync): SqliteStatement {
	const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
	const columns = statement.columns();
	const rowOf = rowsOf(columns);
	statement.setReturnArrays(true);
	const all = (parameters: readonly unknown[]) =>
		guard(() => statement.all(...values(parameters)) as unknown as unknown[][]).map(rowOf);
	return {
		reader: columns.length > 0,
		all,
		run: (parameters) => guard(() => statement.run(...values(parameters))),
		iterate: (parameters) => all(parameters).values(),
	};
}

const storeClosed = () => new StoreUnavailableError('The store is closed.');

function guard<T>(run: () => T): T {
	try {
		return run();
	} catch (error) {
		throw mapSqliteError(error);
	}
}

/** Milliseconds. Only a program that makes a copy may lock the file for a moment, which blocks the event loop. */
const BUSY_TIMEOUT = 50;

/**
 * Makes a directory and its parents (mode 0700). Resolves to the first one that it made, or null. Node's own way never
 * returns where a parent takes no directories, as /proc does.
 */
export function makeDirectory(path: string): string | null {
	if (existsSync(path)) return null;
	const made = makeDirectory(dirname(path));
	try {
		mkdirSync(path, { mode: 0o700 });
	} catch (error) {
		// Another process made it. What it is, is seen when it is used.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	}
	return made ?? path;
}

/**
 * Network file systems, by the type that statfs(2) tells on Linux (src/stat.c of GNU coreutils): nfs, smb, cifs, smb2,
 * afs, ceph, lustre, gpfs, ocfs2, gfs2, beegfs. 9p is not among them: gVisor shows local disks as that.
 */
const NETWORK_TYPES: readonly number[] = [
	0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x00c36400, 0x0bd00bd0, 0x47504653, 0x7461636f, 0x01161970,
	0x19830326,
];

/**
 * Opens `dataDir/handraise.db` for this process alone; creates the directory (mode 0700) and the file (0600). Until it
 * ends, the process locks a second, empty database, `handraise.lock`, so that meanwhile `VACUUM INTO` (`backup.ts`)
 * makes a usable copy. `cp` needs a stopped program. A copy needs `encryption.key` or ENCRYPTION_KEY.
 * @throws HandraiseError `database_in_use`, `database_unsuitable`, what `refuseSchema` returns; StoreUnavailableError
 */
export function openSqliteFile(dataDir: string, typeOf = (path: string) => statfsSync(path).type) {
	const directory = resolve(dataDir);
	const path = join(directory, 'handraise.db');
	try {
		const made = makeDirectory(directory);
		if (made !== null) syncDirectory(dirname(made));
		makePrivateFile(join(directory, 'handraise.lock'));
		makePrivateFile(path);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new StoreUnavailableError(
			`The data directory ${directory} cannot be written (${code}): set DATA_DIR to one that this user can write.`,
			{ cause: error },
		);
	}
	if (NETWORK_TYPES.includes(typeOf(directory)))
		throw new HandraiseError(
			`${directory} is on a network file system, whose locks and syncs SQLite cannot rely on: set DATA_DIR to a ` +
				'local disk, or DATABASE_URL.',
			{ code: 'database_unsuitable' },
		);
	using opening = new DisposableStack();
	opening.use(takeLock(directory, 'Stop it first; a second Handraise needs a DATA_DIR of its own, or DATABASE_URL.'));
	const refusal = refuseSchema(schemaIn(path));
	if (refusal !== null) throw refusal;
	return guard(() => {
		const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
		opening.defer(() => database.close());
		configure(database);
		syncDirectory(directory);
		const opened = opening.move();
		return { database, close: () => opened.dispose() };
	});
}

/**
 * The schema of a file that no process has open for writing. Changes no byte of it, as the open for writing does: that
 * applies the log. Null: it has none, or cannot be read, which the open for writing reports.
 */
function schemaIn(path: string): number | null {
	const shm = `${path}-shm`;
	// SQLite reads a log only with this file. A copy of a database may lack it.
	const lacksShm = existsSync(`${path}-wal`) && !existsSync(shm);
	if (lacksShm) makePrivateFile(shm);
	try {
		using database = openUnchanged(path, { inUse: false });
		return database.prepare('select max(number) as schema from migrations').get()?.schema as number | null;
	} catch {
		return null;
	} finally {
		if (lacksShm) rmSync(shm);
	}
}

/**
 * Opens a database for reading, without creating files. WAL mode creates a missing `-wal` and `-shm` even then,
 * unless the file is `immutable`: that is safe, because without them nobody has it open. `inUse`: whether a process
 * may have it open for writing; else the `-shm` that a killed process left stays as it is too.
 */
export function openUnchanged(path: string, { inUse }: { inUse: boolean }): DatabaseSync {
	const hasLog = existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
	if (hasLog && inUse) return new DatabaseSync(path, { readOnly: true, timeout: 500 });
	const url = pathToFileURL(path);
	url.searchParams.set(hasLog ? 'readonly_shm' : 'immutable', '1');
	return new DatabaseSync(url, { readOnly: true });
}

/** Held until it is closed. @throws HandraiseError `database_in_use`, with `advice` */
export function takeLock(directory: string, advice: string): DatabaseSync {
	const lock = new DatabaseSync(join(directory, 'handraise.lock'), { timeout: 0 });
	try {
		// Nothing is ever written to it, so it needs no journal file.
		lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
		return lock;
	} catch (error) {
		lock.close();
		if (!isSqliteBusy(error)) throw mapSqliteError(error);
		const message = `Another process is using the database in ${directory}. ${advice}`;
		throw new HandraiseError(message, { code: 'database_in_use', cause: error });
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
		if (actual !== expected)
			throw new HandraiseError(
				`SQLite reports ${String(actual)} for ${name}, but ${value} is required. Is DATA_DIR on a network file system?`,
				{ code: 'database_unsuitable' },
			);
	}
}

/** Never opens an existing file: closing it would release this process's locks on it (POSIX). */
export function makePrivateFile(path: string): void {
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
 * Primary result codes (sqlite.org/rescode.html) about the machine and not our statement: BUSY, LOCKED, NOMEM,
 * READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB.
 */
const UNAVAILABLE = new Set([5, 6, 7, 8, 10, 11, 13, 14, 15, 26]);

const BUSY = 5;
/** The extended code of a failed sync: the commit is rolled back here, but a kill may recover it from the log. */
const IOERR_FSYNC = 1034;

function primaryCode(error: unknown): number | null {
	const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
	return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : null;
}

export const isSqliteBusy = (error: unknown) => primaryCode(error) === BUSY;

export function mapSqliteError(error: unknown): unknown {
	if (error instanceof HandraiseError) return error;
	const code = primaryCode(error);
	if (code === null || !UNAVAILABLE.has(code)) return error;
	const { errstr, errcode } = error as { errstr?: string; errcode?: number };
	const lost = { cause: error, commitUnknown: errcode === IOERR_FSYNC };
	return new StoreUnavailableError(`SQLite: ${errstr} (result code ${code}).`, lost);
}
