import { WITHOUT_LEASE } from './columns.ts';
import type { StoreDatabase } from './database.ts';

/**
 * Frees what the process before this one had in hand when it was killed: on SQLite, whose lock this process has, nobody
 * else can hold a lease. Without this an answer would wait after a crash until its lease has run out. On PostgreSQL the
 * holder may be a living replica.
 */
export async function freeOrphanedLeases(db: StoreDatabase): Promise<void> {
	if (db.dialect !== 'sqlite') return;
	await db.write(async (trx) => {
		await trx.updateTable('answers').set(WITHOUT_LEASE).where('lease_token', 'is not', null).execute();
		await trx.updateTable('watched_sessions').set(WITHOUT_LEASE).where('lease_token', 'is not', null).execute();
		await trx.updateTable('watches').set(WITHOUT_LEASE).where('lease_token', 'is not', null).execute();
		await trx.updateTable('announcements').set(WITHOUT_LEASE).where('lease_token', 'is not', null).execute();
	});
}
