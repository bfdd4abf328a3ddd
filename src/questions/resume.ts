import { assistantCountOf } from './progress.ts';
import type { Session } from './session.ts';

/** What the read before the PUT showed. */
export interface BeforePut {
	readonly status: string;
	/** See `assistantCountOf`. */
	readonly assistantCount: number;
}

export type ResumeOutcome = 'resumed' | 'failed' | 'stopped' | 'paused' | 'completed' | 'notYet';

/**
 * What became of the agent after an answer was delivered, by a read after the PUT compared with the one before it.
 *
 * An end is told first, though the agent may have gone on before it: "delivered, then failed" is true in either case.
 * `resumed` needs a sign that is new: another assistant message, or a status that has become `active` (one that was
 * `active` before proves nothing). `paused` likewise, since a session answered while paused stays so until the service
 * has restarted it. Everything else, other statuses and a history that shrank included, is `notYet`.
 */
export function resumeOutcome(before: BeforePut, session: Pick<Session, 'status' | 'messages'>): ResumeOutcome {
	const { status } = session;
	if (status === 'failed' || status === 'stopped' || status === 'completed') return status;
	if (assistantCountOf(session) > before.assistantCount) return 'resumed';
	if (status === before.status) return 'notYet';
	if (status === 'active') return 'resumed';
	return status === 'paused' ? 'paused' : 'notYet';
}
