// How somebody gives a question back. Its row is written by its owner, `store/question-store.ts`.
import { type HandedQuestion, type HandOver, targetOfHandOver } from '../domain/hand-over.ts';
import type { SessionKey } from '../domain/session.ts';
import { PROGRAM, recordEvents } from '../store/audit.ts';
import { type AuditEvent, type Db, from, type Tx } from '../store/database.ts';
import { lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { giveBackQuestion, openQuestionOf, readHandOver } from '../store/question-store.ts';
import { planPosts } from './plan-store.ts';
import type { ContentOf, NewPost } from './post.ts';

/** The question that `userId` gives back. `undelivered`: Slack refused the direct message about it. */
export type GivenBack = HandedQuestion & Pick<ContentOf<'givenBack'>, 'undelivered'> & { readonly userId: string };

/**
 * Gives a question back to whoever handed it over, and tells them. `closed`: it is not open, or nobody has it;
 * `notYours`: somebody else has it; `repeated`: it was given back before.
 */
export async function giveBack(tx: Tx, given: GivenBack) {
	const { trx, now } = tx;
	const { userId: by, undelivered, ...handed } = given;
	const asked = await lockHandedQuestion(trx, handed);
	const current = readHandOver(asked, handed.teamId);
	if (asked === undefined || current === null) return { kind: 'closed' } as const;
	if (current.to !== by) return { kind: 'notYours', handOver: current } as const;
	if (current.givenBackAt !== null) return { kind: 'givenBack', handOver: current, repeated: true } as const;
	const handOver = { ...current, givenBackAt: now };
	await giveBackQuestion(trx, asked, now);
	const how = undelivered ? { actor: PROGRAM, outcome: 'undelivered' } : { actor: by, outcome: 'givenBack' };
	recordHandOver(tx, handOver, { action: 'givenBack', ...how, about: handOver.from });
	const { id: handOverId, watchId } = handOver;
	const content = { kind: 'givenBack', watchId, handOverId, by, ...(undelivered && { undelivered }) } as const;
	await passOn(tx, handOver.session, { target: targetOfHandOver(handOver), key: 'givenBack', content });
	return { kind: 'givenBack', handOver, repeated: false } as const;
}

/** Gives a question back whose direct message Slack refuses, unless its hand-over has ended. */
export async function giveBackUndelivered(tx: Tx, handOverId: string, questionId: string | null) {
	const held = from(tx.trx, 'questions', { id: questionId ?? '', handOverId });
	const handOver = readHandOver(await held.selectAll().executeTakeFirst());
	if (handOver !== null) await giveBack(tx, { ...handOver, userId: handOver.to, undelivered: true });
}

/** Records an event of a hand-over in the audit log. */
export function recordHandOver({ trx, now: at }: Tx, handOver: HandOver, event: Omit<AuditEvent, 'at'>): void {
	const { session, channelId: channel, fingerprint } = handOver;
	recordEvents(trx, { at, session: session.sessionId, channel, fingerprint, ...event });
}

/** Locks the session and returns the question; undefined when that is not open any more. */
export async function lockHandedQuestion(trx: Db, { session, fingerprint }: HandedQuestion) {
	await lockSession(trx, session);
	const question = await openQuestionOf(trx, session);
	return question?.fingerprint === fingerprint ? question : undefined;
}

/** Has all that shows a session drawn again, because somebody else has its question, and plans the message about it. */
export async function passOn(tx: Tx, session: SessionKey, post: NewPost): Promise<void> {
	await markDue(tx, session);
	await planPosts(tx, [post]);
}
