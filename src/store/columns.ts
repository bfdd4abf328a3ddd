import type { Person, QuestionKey } from '../answers/answer.ts';

/** A question's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function questionColumns({ service, sessionId, messageIndex }: QuestionKey) {
	return { service, session_id: sessionId, message_index: messageIndex };
}

/** A person's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function personColumns({ teamId, userId }: Person) {
	return { team_id: teamId, user_id: userId };
}

/**
 * Nobody holds the row. Also for a change by somebody else than the holder, who may be at work on it this moment: the next
 * lease has another token, so whatever the former holder writes is refused.
 */
export const WITHOUT_LEASE = { lease_token: null, lease_until: null } as const;
