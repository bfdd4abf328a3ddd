// Owns `marks`: what was changed that people see.
import type { Person, SessionKey } from '../domain/session.ts';
import { add, type Db, from, type Row, remove, sessionOf, type Tx } from './database.ts';
import { lockedFor } from './locks.ts';
import type { CardUrgency } from './watch.ts';

export interface MarkOptions {
	/** Whose act it was; left out or null: an agent's, or no single person's. */
	readonly by?: Pick<Person, 'userId'> | null;
	/** Only cards show it: with `progress` when what is more urgent leaves room. Left out: everything, now. */
	readonly cards?: CardUrgency;
	/** Left out: at once. */
	readonly afterMs?: number;
}

/**
 * Has everything drawn again that shows a session: its messages, the reminders of its questions, windows with its form,
 * Homes; null: Homes alone. Part of the transaction that makes the change, or a failure in between would leave
 * "sending…" for good.
 */
export async function markDue({ trx, now }: Tx, session: SessionKey | null, options: MarkOptions = {}): Promise<void> {
	const { by = null, cards = null, afterMs = 0 } = options;
	await add(trx, 'marks', {
		id: crypto.randomUUID(),
		...(session === null ? { service: null, sessionId: null } : sessionOf(session)),
		userId: by?.userId ?? null,
		cards,
		dueAt: now + afterMs,
	}).execute();
}

/** Marks in one transaction; a statement's parameters are limited. */
const MOST_AT_ONCE = 500;

/** Removes marks that are due, the oldest first. Until the end of the transaction no other replica does. */
export function takeMarks(trx: Db, now: number): Promise<Row<'marks'>[]> {
	const due = from(trx, 'marks').select('id').where('dueAt', '<=', now).orderBy('dueAt').limit(MOST_AT_ONCE);
	return remove(trx, 'marks', { id: due }).where(lockedFor(trx, 'spreadingMarks')).returningAll().execute();
}
