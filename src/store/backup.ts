import { chownSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { HandraiseError } from '../kernel/errors.ts';
import { META } from './audit.ts';
import type { Row } from './database.ts';
import { readKeyCheck } from './encryption.ts';
import { inspectTables, type Query, readPostgres } from './inspect.ts';
import { refuseSchema } from './migrate.ts';
import { makeDirectory, makePrivateFile, syncDirectory, takeLock } from './sqlite.ts';

const problem = (message: string) => new HandraiseError(message, { code: 'backup_unusable' });

/** Opens a file for reading and writing: the latest commits may be in a log beside it, which SQLite reads only then. */
function openExisting(path: string): DatabaseSync {
	if (!existsSync(path)) throw problem(`There is no file ${path}.`);
	const database = new DatabaseSync(path, { timeout: 5_000 });
	try {
		database.prepare('select count(*) from sqlite_schema').get();
		return database;
	} catch (error) {
		database.close();
		throw problem(`${path} cannot be read: ${(error as Error).message}`);
	}
}

/** Writes a compact copy, without remains of former texts, to a new file that only its owner may read. */
function copyTo(target: string, database: DatabaseSync): void {
	makePrivateFile(target);
	try {
		database.prepare('vacuum into ?').run(target);
		// SQLite does not sync it.
		for (const path of [target, dirname(resolve(target))]) syncDirectory(path);
	} catch (error) {
		rmSync(target);
		throw error;
	}
}

/** Notes who restored this file. The next start adds that to the audit. */
function markRestored(path: string, by: string): void {
	using database = openExisting(path);
	database.prepare('insert or replace into meta (name, value) values (?, ?)').run(META.restored, by);
}

/** Copies SQLite's database to a new file, also while Handraise runs. */
export function backUp(dataDir: string, target: string): void {
	using database = openExisting(join(dataDir, 'handraise.db'));
	if (existsSync(target)) throw problem(`${target} exists already: name a new file.`);
	const directory = dirname(resolve(target));
	if (!existsSync(directory)) throw problem(`There is no directory ${directory}: make it first.`);
	copyTo(target, database);
}

/** Selects answers without their texts. Every version has these columns. */
const ANSWERS_QUERY = `select id, user_id as "userId", team_id as "teamId", session_id as "sessionId", state,
	message_index as "messageIndex", edit_count as "editCount", cast(accepted_at as double precision) as "acceptedAt"
	from answers order by accepted_at, id`;

async function read(dialect: 'sqlite' | 'postgres', query: Query) {
	const { schema, keyCheck } = await inspectTables(dialect, query);
	const answers = (schema === null ? [] : await query(ANSWERS_QUERY)) as unknown as readonly Row<'answers'>[];
	return { schema, keyIds: readKeyCheck(keyCheck).map((sealed) => sealed.split('.')[1]), answers };
}

type Content = Awaited<ReturnType<typeof read>>;

async function readFile(path: string): Promise<Content> {
	// Closing the file also writes its log into it.
	using database = openExisting(path);
	return await read('sqlite', (statement) => database.prepare(statement).all());
}

/**
 * The lines to print before a backup replaces the database: one for each answer that the backup lacks or has in
 * another state. `present` null: it cannot be read.
 */
function compare(present: Content | null, backup: Content): readonly string[] {
	const refusal = backup.schema === null ? problem('it is no database of Handraise') : refuseSchema(backup.schema);
	if (refusal !== null) throw problem(`This backup cannot be used: ${refusal.message}`);
	if (present === null)
		return ['There is no database that can be read, so nobody knows which answers the backup lacks.'];
	const known = new Map(backup.answers.map((answer) => [answer.id, answer]));
	const lines = present.answers.flatMap(
		({ id, acceptedAt, userId, teamId, sessionId, messageIndex, state, editCount }) => {
			const then = known.get(id);
			if (then?.state === state && then.editCount === editCount) return [];
			const time = new Date(acceptedAt).toISOString().replace(/T(.*)\..*/, ' $1 UTC');
			const before = then === undefined ? '' : ` (in the backup: ${then.state})`;
			return `${time}  ${userId} (${teamId})  session ${sessionId}, message ${messageIndex}: ${state}${before}`;
		},
	);
	lines.unshift(`Answers that were given or have changed since the backup: ${lines.length}`);
	const isOtherKey = backup.keyIds.some((id) => !present.keyIds.includes(id));
	return isOtherKey
		? [
				...lines,
				'The backup needs another key: name it in ENCRYPTION_KEY_FORMER, and run npm run rekey before the start.',
			]
		: lines;
}

/** `restored`: the name of a database on the same server, into which the backup was restored. Changes nothing. */
export async function comparePostgres(databaseUrl: string, restored: string): Promise<readonly string[]> {
	const url = new URL(databaseUrl);
	url.pathname = `/${encodeURIComponent(restored)}`;
	const contentOf = (address: string) => readPostgres(address, (query) => read('postgres', query));
	const advice = 'restore the backup into a database with pg_restore, and give its name.';
	const backup = contentOf(url.href).catch((error: { readonly code?: unknown }) => {
		throw error.code === '3D000' ? problem(`There is no database ${restored} on this server: ${advice}`) : error;
	});
	return compare(...(await Promise.all([contentOf(databaseUrl), backup])));
}

/**
 * Prepares a restore of SQLite's database in `dataDir`. Handraise cannot start there until `replace`, or until this
 * is disposed of.
 */
export async function openRestore(dataDir: string, backupPath: string) {
	const directory = resolve(dataDir);
	const path = join(directory, 'handraise.db');
	makeDirectory(directory);
	// Root may run this, and Handraise as another user.
	const { uid, gid } = statSync(directory);
	const lockPath = join(directory, 'handraise.lock');
	makePrivateFile(lockPath);
	chownSync(lockPath, uid, gid);
	using opening = new DisposableStack();
	const lock = opening.use(takeLock(directory, 'Stop Handraise first.'));
	const copy = opening.use(openExisting(backupPath));
	const lines = compare(await readFile(path).catch(() => null), await readFile(backupPath));
	const opened = opening.move();

	return {
		lines,
		[Symbol.dispose]: () => opened.dispose(),
		/**
		 * Puts the backup in place; `handraise.db` exists at every moment. `by`: who runs it. Returns the path of the
		 * former database; null without one.
		 */
		replace(by: string): string | null {
			const kept = `${path}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
			const draft = `${path}.restored`;
			rmSync(draft, { force: true });
			copyTo(draft, copy);
			markRestored(draft, by);
			chownSync(draft, uid, gid);
			const isReplaced = existsSync(path);
			if (isReplaced) linkSync(path, kept);
			// A database that cannot be opened left these logs. SQLite would apply them to the restored one.
			for (const log of ['-wal', '-shm']) if (existsSync(path + log)) renameSync(path + log, kept + log);
			renameSync(draft, path);
			syncDirectory(directory);
			lock.close();
			return isReplaced ? kept : null;
		},
	};
}
