import type { Person, QuestionKey } from '../answers/answer.ts';

/** A question's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function questionColumns({ service, sessionId, messageIndex }: QuestionKey) {
	return { service, session_id: sessionId, message_index: messageIndex };
}

/** A person's columns, for an insert or as an equality filter (`eb.and(…)`). */
export function personColumns({ teamId, userId }: Person) {
	return { team_id: teamId, user_id: userId };
}
