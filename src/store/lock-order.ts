import { type Kysely, sql } from 'kysely';
import type { SessionKey } from '../watches/watch.ts';
import { change, type Filter, from } from './database.ts';
import type { Tables } from './tables.ts';

// A transaction locks sessions, then watches, announcements and ladders, several of each in the order of their keys: two
// transactions with other orders would wait for each other.

/** The query of these watches, which stay locked. */
export function lockWatches(trx: Kysely<Tables>, filter: Filter<'watches'>) {
	return from(trx, 'watches', filter).select('id').orderBy('id').forUpdate();
}

/** The query of these announcements, which stay locked. */
export function lockAnnouncements(trx: Kysely<Tables>, filter: Filter<'announcements'>) {
	return from(trx, 'announcements', filter).select('id').orderBy('id').forUpdate();
}

/** The query of these ladders, which stay locked. */
export function lockLadders(trx: Kysely<Tables>, filter: Filter<'ladders'>) {
	return from(trx, 'ladders', filter).select('watch_id').orderBy('watch_id').forUpdate();
}

/** Makes these ladders due at `at`. */
export async function touchLadders(trx: Kysely<Tables>, filter: Filter<'ladders'>, at: number): Promise<void> {
	const touched = { due_at: at, change_count: sql<number>`change_count + 1` };
	await change(trx, 'ladders', { watch_id: lockLadders(trx, filter) })
		.set(touched)
		.execute();
}

/** The order in which a transaction locks several sessions. */
export function inLockOrder<T>(items: readonly T[], sessionOf: (item: T) => SessionKey): readonly T[] {
	return items.toSorted((one, other) => (sessionOf(one).sessionId < sessionOf(other).sessionId ? -1 : 1));
}
