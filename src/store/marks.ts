// Owns `marks`: what was changed that people see.
import { EARLY_READS_MS, type QuestionChange } from '../domain/answer.ts';
import type { QuestionKey, SessionKey } from '../domain/session.ts';
import { add, type Db, from, type Row, remove, sessionOf, type Tx } from './database.ts';
import { lockedFor } from './locks.ts';
import { AWAITED_AHEAD_MS } from './session-reads.ts';
import type { CardUrgency } from './watch.ts';
import { readEarly } from './watched-sessions.ts';

export interface MarkOptions {
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
	const { cards = null, afterMs = 0 } = options;
	await add(trx, 'marks', {
		id: crypto.randomUUID(),
		...(session === null ? { service: null, sessionId: null } : sessionOf(session)),
		cards,
		dueAt: now + afterMs,
	}).execute();
}

/** A press shows what it did on its post, without a rate limit; only if that fails, it is drawn as others are. */
const PRESS_SHOWN_MS = 250;

/** Has everything drawn again that shows the question, and after a delivery its session read early. */
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

/** Removes marks that are due, the oldest first. Until the end of the transaction no other replica does. */
export function takeMarks(trx: Db, now: number): Promise<Row<'marks'>[]> {
	const due = from(trx, 'marks').select('id').where('dueAt', '<=', now).orderBy('dueAt').limit(MOST_AT_ONCE);
	return remove(trx, 'marks', { id: due }).where(lockedFor(trx, 'spreadingMarks')).returningAll().execute();
}
