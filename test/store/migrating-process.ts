import { type Kysely, sql } from 'kysely';
import { systemClock } from '../../src/kernel/clock.ts';
import type { StoreDatabase } from '../../src/store/database.ts';
import { MIGRATIONS, type Migration, migrate, OWN_SCHEMA } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { createRecordingLog } from './support.ts';

/** The migrations of a newer version, which moves and changes a column of the answers. */
export function newerMigrations(halfWay: () => Promise<void> = async () => {}): readonly Migration[] {
	const artificial: Migration = {
		number: OWN_SCHEMA + 1,
		name: 'artificial',
		async up(db: Kysely<unknown>) {
			await sql`alter table answers rename column timeline to history`.execute(db);
			await sql`create table half_done (id integer primary key)`.execute(db);
			await halfWay();
			await sql`update answers set history = '"moved"'`.execute(db);
			await sql`drop table half_done`.execute(db);
		},
	};
	return [...MIGRATIONS, artificial];
}

/** Opens a database by its address, or by the directory of SQLite's file. */
export function openAt(place: string): StoreDatabase {
	return place.startsWith('postgres:') ? openPostgres(place, createRecordingLog()) : openSqlite(place);
}

/** Of migrations that look for no replica: no test that uses it has one. */
export const context = () => ({
	clock: systemClock,
	log: createRecordingLog(),
	lookMs: 0,
});

// As a program: migrates the database at the given place, says "half" in the middle and waits there until it is killed.
if (import.meta.main) {
	const keepAlive = setInterval(() => {}, 60_000);
	const migrations = newerMigrations(async () => {
		process.stdout.write('half\n');
		await new Promise(() => {});
	});
	await migrate(openAt(process.argv[2] ?? ''), { ...context(), migrations });
	clearInterval(keepAlive);
}
