import { type Kysely, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Dialect, lockFor, type StoreDatabase } from './database.ts';
import { createTable, initialSchema } from './initial-schema.ts';

/** One step of the schema. Never change one that was released; add another. */
export interface Migration {
	/** The number of the schema that it makes. */
	readonly number: number;
	readonly name: string;
	/** Runs in the transaction of all pending migrations. Untyped, because `Tables` describes the newest schema. */
	up(db: Kysely<unknown>, dialect: Dialect): Promise<void>;
}

/** The initial schema and what came after it, in order. */
export const MIGRATIONS: readonly [Migration, ...Migration[]] = [initialSchema];

/** The number of this version's schema. */
export const OWN_SCHEMA = newestOf(MIGRATIONS);

function newestOf(migrations: readonly Migration[]): number {
	return Math.max(...migrations.map(({ number }) => number));
}

/**
 * Why this version cannot use a database whose schema has this number, and what to do about it: `database_newer` or
 * `database_older`. Null for a new database, and for a schema that is this version's or can be migrated to it.
 */
export function refuseSchema(schema: number | null, migrations: readonly Migration[] = MIGRATIONS) {
	if (schema === null || migrations.some(({ number }) => number === schema)) return null;
	const own = newestOf(migrations);
	if (schema > own) {
		return new HandraiseError(
			`The database has schema ${schema}, which a newer Handraise made; this version has schema ${own}. ` +
				'Start the newer version, or restore the backup made before the upgrade.',
			{ code: 'database_newer' },
		);
	}
	return new HandraiseError(
		`The database has schema ${schema}, which an older Handraise made and this version, with schema ${own}, cannot ` +
			'take over. Start the older version, or set DATA_DIR to an empty directory or DATABASE_URL to an empty database.',
		{ code: 'database_older' },
	);
}

/** Whether the schema is still this version's: a condition of the statements that take due rows and accept answers. */
export function isOwnSchema() {
	return sql<boolean>`(select max(number) from migrations) = ${OWN_SCHEMA}`;
}

/** For a statement that `isOwnSchema` kept from its row. Also tells the program, which then stops. */
export function stopBesideNewer({ onNewer }: Pick<StoreDatabase, 'onNewer'>): HandraiseError {
	const error = new HandraiseError(
		`The database no longer has schema ${OWN_SCHEMA}: a newer Handraise has changed it, so this process stops. ` +
			'Start the newer version on all replicas.',
		{ code: 'database_newer' },
	);
	onNewer?.(error);
	return error;
}

/**
 * Sets up a new database and applies pending migrations, in one transaction. Replicas that start together wait for each
 * other (an advisory lock on PostgreSQL; SQLite has one process). Throws what `refuseSchema` returns.
 */
export async function migrate(
	db: StoreDatabase,
	{ clock, log, migrations = MIGRATIONS }: { clock: Clock; log: Log; migrations?: readonly Migration[] },
): Promise<void> {
	const applied = await db.write(async (trx) => {
		await lockFor(trx, 'migrating');
		await createTable('migrations').execute(trx);
		const { schema } = await trx
			.selectFrom('migrations')
			.select(({ fn }) => fn.max<number | null>('number').as('schema'))
			.executeTakeFirstOrThrow();
		const refusal = refuseSchema(schema, migrations);
		if (refusal !== null) throw refusal;
		const pending = migrations.filter(({ number }) => number > (schema ?? 0));
		// Statements with `isOwnSchema` wait for the commit and then see the new number.
		if (pending.length > 0 && db.dialect === 'postgres') {
			await sql`lock table migrations in access exclusive mode`.execute(trx);
		}
		for (const { number, name, up } of pending) {
			await up(trx as unknown as Kysely<unknown>, db.dialect);
			await trx.insertInto('migrations').values({ number, name, applied_at: clock.now() }).execute();
		}
		return pending.map(({ name }) => name);
	});
	if (applied.length > 0) log.info({ migrations: applied }, 'database schema updated');
}
