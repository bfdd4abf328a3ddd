import pg from 'pg';
import { expect } from 'vitest';

/** How many deadlocks PostgreSQL has ended in this database. Waits until all stores on it are closed. */
export async function deadlocksIn(databaseUrl: string): Promise<number> {
	const admin = new pg.Client({ connectionString: databaseUrl });
	await admin.connect();
	const others = `select count(*)::int as count from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`;
	// A connection reports its deadlocks at its end at the latest.
	await expect.poll(async () => (await admin.query(others)).rows[0]?.count).toBe(0);
	const counted = await admin.query('select deadlocks::int from pg_stat_database where datname = current_database()');
	await admin.end();
	return counted.rows[0]?.deadlocks;
}
