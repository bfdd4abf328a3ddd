import { type Kysely, sql } from 'kysely';
import type { SessionKey } from '../watches/watch.ts';
import type { Tables } from './tables.ts';

// A transaction locks sessions, then watches, announcements and ladders, several of each in the order of their keys: two
// transactions with other orders would wait for each other.

/** The query of watches, which stay locked; the caller adds which. */
export function lockWatches(trx: Kysely<Tables>) {
	return trx.selectFrom('watches').select('id').orderBy('id').forUpdate();
}

/** The query of announcements, which stay locked; the caller adds which. */
export function lockAnnouncements(trx: Kysely<Tables>) {
	return trx.selectFrom('announcements').select('id').orderBy('id').forUpdate();
}

/** The query of ladders, which stay locked; the caller adds which. */
export function lockLadders(trx: Kysely<Tables>) {
	return trx.selectFrom('ladders').select('watch_id').orderBy('watch_id').forUpdate();
}

/** Makes these ladders due at `at`. */
export async function touchLadders(
	trx: Kysely<Tables>,
	ladders: ReturnType<typeof lockLadders>,
	at: number,
): Promise<void> {
	const touched = { due_at: at, change_count: sql<number>`change_count + 1` };
	await trx.updateTable('ladders').set(touched).where('watch_id', 'in', ladders).execute();
}

/** The order in which a transaction locks several sessions. */
export function inLockOrder<T>(items: readonly T[], sessionOf: (item: T) => SessionKey): readonly T[] {
	return items.toSorted((one, other) => (sessionOf(one).sessionId < sessionOf(other).sessionId ? -1 : 1));
}
