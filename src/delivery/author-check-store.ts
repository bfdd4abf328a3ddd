import type { SessionKey } from '../domain/session.ts';
import { change, type Db, sessionOf, WITHOUT_LEASE } from '../store/database.ts';

/**
 * Call it after a change of who may answer a session. The author of an answer is checked before its read, and not
 * after that. So whoever is about to send one loses its lease, and begins again.
 */
export async function checkAuthorsAgain(trx: Db, session: SessionKey): Promise<void> {
	const unsent = change(trx, 'answers', { ...sessionOf(session), putStartedAt: null }, WITHOUT_LEASE);
	await unsent.where('leaseToken', 'is not', null).execute();
}
