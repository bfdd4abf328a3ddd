import type { Clock } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { type Db, isPostgres, type StoreDatabase, sql } from './database.ts';

/** How often somebody looks whether replicas run. */
export const LOOK_EVERY_MS = 100;

/** Whether a program of ours has a connection to this PostgreSQL database, besides this one. SQLite admits no other. */
async function isInUse(db: Db): Promise<boolean> {
	if (!isPostgres(db)) return false;
	const { rows } = await sql<{ is: boolean }>`select exists (select 1 from pg_stat_activity
		where application_name = 'handraise' and datname = current_database() and pid <> pg_backend_pid()) as is
		`.execute(db);
	return rows[0]?.is === true;
}

/**
 * Refuses to go on while a program uses the database. `done`: what a command has changed so far, for its operator.
 * @throws HandraiseError `database_in_use`
 */
export async function refuseInUse(db: Db, done: string): Promise<void> {
	if (!(await isInUse(db))) return;
	throw new HandraiseError(
		'A Handraise, or one of its commands, is connected to this database: stop all replicas, then run this again. ' +
			`Behind PgBouncer give the address of PostgreSQL itself, or wait until it has closed its connections. ${done}`,
		{ code: 'database_in_use' },
	);
}

/**
 * Waits until no program uses the database.
 * @throws HandraiseError `database_in_use` after `ms`
 */
export async function untilUnused({ read }: StoreDatabase, clock: Clock, ms: number, done: string): Promise<void> {
	for (const until = clock.now() + ms; clock.now() < until && (await isInUse(read)); ) await clock.sleep(LOOK_EVERY_MS);
	await refuseInUse(read, done);
}
