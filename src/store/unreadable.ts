import { keepNewest } from '../keep-newest.ts';
import type { Log } from '../log.ts';
import type { StoreDatabase } from './database.ts';

/** What `last_error` of an announcement says while it cannot be read; it holds up nothing of its target then. */
export const UNREADABLE = 'unreadable';
/** When a row that cannot be read, an answer's too, is tried again: a replica of another version may have mended it. */
export const UNREADABLE_RETRY_MS = 10 * 60_000;

const REMEMBERED = 1_000;

/** Says once of each row that this version, or this key, cannot read it. */
export function createUnreadableNotes(log: Log): (row: { watch: string } | { announcement: string }) => void {
	const noted = new Map<string, true>();
	return (row) => {
		const name = JSON.stringify(row);
		if (noted.has(name)) return;
		keepNewest(noted, name, true, REMEMBERED);
		log.warn(row, 'a row was written by another version or with another key, and is left alone');
	};
}

/** A start may have brought the right key or the right version: what could not be read is tried at once, in its order. */
export async function retryUnreadable(db: StoreDatabase): Promise<void> {
	await db.write(async (trx) => {
		await trx
			.updateTable('announcements')
			.set((eb) => ({ next_attempt_at: eb.ref('created_at'), last_error: null }))
			.where('state', '=', 'pending')
			.where('last_error', '=', UNREADABLE)
			.execute();
		// A card does not say why it waits; one that waits for Slack's rate finds that out again.
		await trx.updateTable('watches').set({ card_not_before: 0 }).where('card_since', 'is not', null).execute();
	});
}
