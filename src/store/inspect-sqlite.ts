import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type DatabaseLook, KEY_QUERY, keyFactsIn, SCHEMA_QUERY } from './inspect.ts';
import { isSqliteBusy } from './sqlite-errors.ts';

export type SqliteLook =
	| { readonly kind: 'absent' }
	| ({ readonly kind: 'database'; readonly inUse: boolean } & DatabaseLook)
	/** What was committed last is in `handraise.db-wal`, which cannot be read without making `handraise.db-shm`. */
	| { readonly kind: 'unsettled' }
	| { readonly kind: 'unreadable'; readonly reason: 'damaged' | 'no database' | 'not allowed' | 'unknown' };

/**
 * Looks at `dataDir/handraise.db` without changing or making a file, whether Handraise has it open or not. It must not
 * be called in a process that has it open: closing would drop the locks (POSIX).
 */
export function inspectSqlite(dataDir: string): SqliteLook {
	const path = join(resolve(dataDir), 'handraise.db');
	try {
		if (sizeOf(path) === 0) return { kind: 'absent' };
		if (sizeOf(`${path}-wal`) > 0 && !existsSync(`${path}-shm`)) return { kind: 'unsettled' };
		const inUse = isLocked(join(resolve(dataDir), 'handraise.lock'));
		const database = openUnchanged(path);
		try {
			if (!inUse) findDamage(database);
			return { kind: 'database', inUse, ...look(database) };
		} finally {
			database.close();
		}
	} catch (error) {
		return { kind: 'unreadable', reason: reasonOf(error) };
	}
}

/** Bytes; 0 for a file that is not there. */
function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether another process holds the lock. Ours is gone again before anybody could be refused because of it. */
function isLocked(path: string): boolean {
	if (!existsSync(path)) return false;
	const lock = new DatabaseSync(path, { readOnly: true, timeout: 0 });
	try {
		lock.prepare('select count(*) from sqlite_schema').get();
		return false;
	} catch (error) {
		if (isSqliteBusy(error)) return true;
		throw error;
	} finally {
		lock.close();
	}
}

/**
 * Reading a database in WAL mode makes its `-wal` and `-shm` files where there are none, even when it is opened
 * read-only. Where nobody has it open they are not needed: `immutable` reads the file alone.
 */
function openUnchanged(path: string): DatabaseSync {
	if (existsSync(`${path}-wal`) && existsSync(`${path}-shm`))
		return new DatabaseSync(path, { readOnly: true, timeout: 500 });
	const url = pathToFileURL(path);
	url.searchParams.set('immutable', '1');
	return new DatabaseSync(url, { readOnly: true });
}

class Damaged extends Error {}

function findDamage(database: DatabaseSync): void {
	const verdict = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
	if (verdict !== 'ok') throw new Damaged();
}

function look(database: DatabaseSync): DatabaseLook {
	const tables = new Set(
		database
			.prepare("select name from sqlite_schema where type = 'table'")
			.all()
			.map((row) => row.name),
	);
	const schema = tables.has('migrations') ? database.prepare(SCHEMA_QUERY).get()?.number : null;
	const keyRows = tables.has('meta') ? database.prepare(KEY_QUERY).all() : [];
	return {
		schema: typeof schema === 'number' ? schema : null,
		...keyFactsIn(keyRows),
	};
}

/** Result codes of SQLite (sqlite.org/rescode.html) and of the system. */
const REASONS = new Map<unknown, 'damaged' | 'no database' | 'not allowed'>([
	[11, 'damaged'],
	[26, 'no database'],
	[3, 'not allowed'],
	[14, 'not allowed'],
	['EACCES', 'not allowed'],
]);

function reasonOf(error: unknown) {
	if (error instanceof Damaged) return 'damaged';
	const { errcode, code } = error as { errcode?: number; code?: string };
	return REASONS.get(errcode ?? code) ?? 'unknown';
}
