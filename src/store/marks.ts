// Owns `marks`: what was changed that people see.
import { EARLY_READS_MS, type QuestionChange } from '../domain/answer.ts';
import type { QuestionKey, SessionKey } from '../domain/session.ts';
import { add, type Db, from, type Row, remove, sessionOf, type Tx } from './database.ts';
import { lockedFor } from './locks.ts';
import { AWAITED_AHEAD_MS } from './session-reads.ts';
import type { PostUrgency } from './watch.ts';
import { readEarly } from './watched-sessions.ts';

export interface MarkOptions {
	/** Only cards show the change, with this urgency. Left out: everything shows it, at once. */
	readonly cards?: PostUrgency;
	/** Left out: at once. */
	readonly afterMs?: number;
}

/**
 * Has everything drawn again that shows a session: its messages, the reminders of its questions, windows with its
 * form, and Homes. `session` null: Homes alone. Call it in the transaction of the change: after a failure in between,
 * "sending…" would stay.
 */
export async function markDue({ trx, now }: Tx, session: SessionKey | null, options: MarkOptions = {}): Promise<void> {
	const { cards = null, afterMs = 0 } = options;
	await add(trx, 'marks', {
		id: crypto.randomUUID(),
		...(session === null ? { service: null, sessionId: null } : sessionOf(session)),
		cards,
		dueAt: now + afterMs,
	}).execute();
}

/** A press redraws its own post, outside the rate limit. The mark waits this long, for the case that this fails. */
const PRESS_SHOWN_MS = 250;

/** Has everything drawn again that shows the question. After a delivery its session is read early too. */
export async function markQuestion(tx: Tx, question: QuestionKey, what: QuestionChange): Promise<void> {
	const { trx, now } = tx;
	const isPress = what === 'choice' || what === 'undo';
	await markDue(tx, question, isPress ? { afterMs: PRESS_SHOWN_MS } : {});
	if (what !== 'delivered') return;
	const at = now + EARLY_READS_MS[0];
	await readEarly(trx, question, { askedAt: now, at, by: at - AWAITED_AHEAD_MS });
}

/** Marks in one transaction; a statement's parameters are limited. */
const MOST_AT_ONCE = 500;

/** Removes and returns marks that are due, the oldest first. Other replicas wait until the end of the transaction. */
export function takeMarks(trx: Db, now: number): Promise<Row<'marks'>[]> {
	const due = from(trx, 'marks').select('id').where('dueAt', '<=', now).orderBy('dueAt').limit(MOST_AT_ONCE);
	return remove(trx, 'marks', { id: due }).where(lockedFor(trx, 'spreadingMarks')).returningAll().execute();
}
