import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate as turnEnds } from 'node:timers/promises';
import {
	Kysely,
	type SelectModifierNode,
	type SqliteDatabase,
	SqliteDialect,
	SqliteQueryCompiler,
	type SqliteStatement,
	sql,
} from 'kysely';
import { type StoreDatabase, StoreUnavailableError } from './database.ts';
import { mapSqliteError, openSqliteFile } from './sqlite-file.ts';
import type { Tables } from './tables.ts';

/** Writes per commit. Each blocks the event loop for about 0.2 ms. */
const MAX_BATCH = 64;
/**
 * Commits in one turn of the event loop, when each leads to the next write. More than one: during `repairTimes`, which makes
 * two, nobody else may have a turn to write a time of before the step.
 */
const COMMITS_PER_TURN = 8;
/** This process owns the file and tells its loops of every change, so a look finds only what a wake-up missed. */
const LOOK_EVERY_MS = 30_000;

interface QueuedWrite {
	work(db: Kysely<Tables>): Promise<unknown>;
	resolve(value: unknown): void;
	reject(error: unknown): void;
}

export interface SqliteStoreDatabase extends StoreDatabase {
	/**
	 * Runs `task` between two commits, in its own turn of the event loop. It must leave no transaction open. Rejects with
	 * what `task` throws.
	 */
	alone<T>(task: (database: DatabaseSync) => T): Promise<T>;
}

/** Opens the database file with one connection and group commit. */
export function openSqlite(dataDir: string): SqliteStoreDatabase {
	const file = openSqliteFile(dataDir);
	const queue: QueuedWrite[] = [];
	let flushing: Promise<void> | null = null;
	let closing: Promise<void> | null = null;
	const listeners: { readonly tables: readonly string[]; readonly listener: () => void }[] = [];
	/** The tables that were changed since the listeners were told. */
	const changed = new Set<string>();
	const dialect = new SqliteDialect({ database: adapt(file.database, (table) => changed.add(table)) });
	dialect.createQueryCompiler = () => new CompilerWithoutRowLocks();
	const kysely = new Kysely<Tables>({ dialect });

	async function write<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
		if (closing !== null) throw storeClosed();
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
		flushing ??= flush();
		return promise;
	}

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
			// Other writes of this turn join the same commit. Writes that follow one another without end leave turns to others.
			if (commits % COMMITS_PER_TURN === 0) await turnEnds();
			const batch = queue.splice(0, MAX_BATCH);
			await kysely.connection().execute((connection) => commitTogether(connection, file.database, batch));
			// Also after a rollback, when one look too many does no harm.
			for (const { tables, listener } of listeners) if (tables.some((table) => changed.has(table))) listener();
			changed.clear();
		}
		flushing = null;
	}

	return {
		dialect: 'sqlite',
		read: kysely,
		write,
		writeOne: write,
		alone,
		queuedRows: (tables) => ({
			onChange: (listener) => void listeners.push({ tables, listener }),
			lookEveryMs: LOOK_EVERY_MS,
		}),
		async ping() {
			await sql`select 1 from migrations limit 1`.execute(kysely);
		},
		close() {
			closing ??= (async () => {
				await flushing;
				await kysely.connection().execute(async () => file.close());
			})();
			return closing;
		},
	};
}

/** SQLite knows no FOR UPDATE. */
class CompilerWithoutRowLocks extends SqliteQueryCompiler {
	protected override visitSelectModifier(node: SelectModifierNode): void {
		if (node.modifier === 'Distinct') super.visitSelectModifier(node);
	}
}

/** One transaction for the whole batch. Each write has a savepoint, so that a failed one does not affect the others. Never throws. */
async function commitTogether(connection: Kysely<Tables>, database: DatabaseSync, batch: readonly QueuedWrite[]) {
	const settled: (() => void)[] = [];
	try {
		await sql`begin immediate`.execute(connection);
		for (const write of batch) {
			guard(() => database.exec('savepoint one_write'));
			try {
				const value = await write.work(connection);
				settled.push(() => write.resolve(value));
			} catch (error) {
				// After a full disk or an I/O error the whole transaction may be rolled back, so all writes fail.
				if (error instanceof StoreUnavailableError) throw error;
				guard(() => database.exec('rollback to one_write'));
				settled.push(() => write.reject(error));
			}
			guard(() => database.exec('release one_write'));
		}
		await sql`commit`.execute(connection);
	} catch (error) {
		if (database.isTransaction) rollBack(database);
		for (const write of batch) write.reject(error);
		return;
	}
	for (const settle of settled) settle();
}

function rollBack(database: DatabaseSync): void {
	try {
		database.exec('rollback');
	} catch {
		// SQLite has already rolled back; the caller reports the original error.
	}
}

/** Cached prepared statements; Handraise has a few dozen. */
const MAX_PREPARED = 200;

/** The table that a statement changes. No trigger, cascade or common table expression changes a queue's rows. */
const CHANGED_TABLE = /^\s*(?:insert(?: or \w+)? into|update|delete from)\s+"?(\w+)/i;

/** `node:sqlite` as a driver for Kysely's SQLite dialect. */
function adapt(database: DatabaseSync, onChange: (table: string) => void): SqliteDatabase {
	const prepared = new Map<string, SqliteStatement>();
	return {
		// Never called: after it Kysely would throw errors without a code.
		close() {},
		prepare(text) {
			if (!database.isOpen) throw storeClosed();
			const known = prepared.get(text);
			if (known !== undefined) return known;
			if (prepared.size >= MAX_PREPARED) prepared.clear();
			const table = CHANGED_TABLE.exec(text)?.[1];
			const compiled = guard(() => database.prepare(text));
			const statement = adaptStatement(compiled, () => table !== undefined && onChange(table));
			prepared.set(text, statement);
			return statement;
		},
	};
}

function adaptStatement(statement: StatementSync, onChange: () => void): SqliteStatement {
	const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
	return {
		reader: statement.columns().length > 0,
		all(parameters) {
			const rows = guard(() => statement.all(...values(parameters)));
			if (rows.length > 0) onChange();
			return rows;
		},
		run(parameters) {
			const result = guard(() => statement.run(...values(parameters)));
			if (result.changes > 0) onChange();
			return result;
		},
		iterate: (parameters) => guard(() => statement.iterate(...values(parameters))),
	};
}

function storeClosed(): StoreUnavailableError {
	return new StoreUnavailableError('The store is closed.');
}

function guard<T>(run: () => T): T {
	try {
		return run();
	} catch (error) {
		throw mapSqliteError(error);
	}
}
