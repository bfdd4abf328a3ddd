import { type Kysely, sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Dialect, StoreDatabase } from './database.ts';
import { answers } from './migrations/0001-answers.ts';
import { draftsAndClaims } from './migrations/0002-drafts-and-claims.ts';
import { watches } from './migrations/0003-watches.ts';
import { leaseTokens } from './migrations/0004-lease-tokens.ts';
import { keySalt } from './migrations/0005-key-salt.ts';
import { secretPositions } from './migrations/0006-secret-positions.ts';
import { submissionDetails } from './migrations/0007-submission-details.ts';
import { questionsFindPeople } from './migrations/0008-questions-find-people.ts';
import { nobodyForgets } from './migrations/0009-nobody-forgets.ts';
import { discovery } from './migrations/0010-discovery.ts';
import { beganWhileListed } from './migrations/0011-began-while-listed.ts';
import { whatGrows } from './migrations/0012-what-grows.ts';
import { handOversCounted } from './migrations/0013-hand-overs-counted.ts';

/** One step of the schema. Never change a released one; add another. */
export interface Migration {
	/** Counts from 1 without gaps. */
	readonly number: number;
	readonly name: string;
	/** Runs in the transaction of all pending migrations. Untyped, because `Tables` describes the newest schema. */
	up(db: Kysely<unknown>, dialect: Dialect): Promise<void>;
}

/** All migrations, in order. */
export const MIGRATIONS: readonly Migration[] = [
	answers,
	draftsAndClaims,
	watches,
	leaseTokens,
	keySalt,
	secretPositions,
	submissionDetails,
	questionsFindPeople,
	nobodyForgets,
	discovery,
	beganWhileListed,
	whatGrows,
	handOversCounted,
];

/** Any constant that no other lock of this database uses ("hand" in ASCII). */
const ADVISORY_LOCK = 0x68616e64;

/**
 * Applies pending migrations in one transaction. Replicas that start together wait for each other (an advisory lock on
 * PostgreSQL; SQLite has one process). Throws `database_newer` when a newer version has migrated the database.
 */
export async function migrate(
	db: StoreDatabase,
	{ clock, log, migrations = MIGRATIONS }: { clock: Clock; log: Log; migrations?: readonly Migration[] },
): Promise<void> {
	const applied = await db.write(async (trx) => {
		if (db.dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(trx);
		await trx.schema
			.createTable('migrations')
			.ifNotExists()
			.addColumn('number', 'integer', (column) => column.primaryKey())
			.addColumn('name', 'text', (column) => column.notNull())
			.addColumn('applied_at', 'bigint', (column) => column.notNull())
			.execute();
		const done = new Set((await trx.selectFrom('migrations').select('number').execute()).map((row) => row.number));
		const databaseSchema = Math.max(0, ...done);
		const ownSchema = Math.max(0, ...migrations.map((migration) => migration.number));
		if (databaseSchema > ownSchema) {
			throw new HandraiseError(
				`The database has schema ${databaseSchema}, but this version supports only schemas up to ${ownSchema}. ` +
					'Start the newer version of Handraise, or restore the backup made before the upgrade.',
				{ code: 'database_newer' },
			);
		}
		const pending = migrations.filter(({ number }) => !done.has(number));
		for (const migration of pending) {
			await migration.up(trx as unknown as Kysely<unknown>, db.dialect);
			await trx
				.insertInto('migrations')
				.values({ number: migration.number, name: migration.name, applied_at: clock.now() })
				.execute();
		}
		return pending.map(({ name }) => name);
	});
	if (applied.length > 0) log.info({ migrations: applied }, 'database schema updated');
}
