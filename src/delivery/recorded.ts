import type { Answer, AnswerState, NewAnswer } from '../domain/answer.ts';
import { PROGRAM, recordEvents } from '../store/audit.ts';
import type { AuditEvent, Tx } from '../store/database.ts';

type Told = Pick<NewAnswer, 'id' | 'person' | 'question' | 'fingerprint' | 'shownHash' | 'origin'>;

function record({ trx, now: at }: Tx, answer: Told, event: Omit<AuditEvent, 'at'>): void {
	const { id, question, fingerprint, shownHash, origin } = answer;
	const about = { answer: id, session: question.sessionId, channel: origin.channelId, fingerprint, shownHash };
	recordEvents(trx, { at, ...about, ...event });
}

/** Records what the author did with an answer. `outcome`: its state after that; `about`: who was first. */
export function recordAct(
	tx: Tx,
	answer: Told,
	action: AuditEvent['action'],
	details: Pick<AuditEvent, 'outcome' | 'about'>,
) {
	record(tx, answer, { action, actor: answer.person.userId, ...details });
}

/** Records what the program did with somebody's answer. */
export function recordFate(tx: Tx, answer: Told, action: AuditEvent['action'], outcome: string): void {
	record(tx, answer, { action, actor: PROGRAM, about: answer.person.userId, outcome });
}

/** The action when an answer comes into a state. The other states are on the way, or their author's act is recorded. */
const ACTION_OF: Readonly<Partial<Record<AnswerState, AuditEvent['action']>>> = {
	delivered: 'delivered',
	resumed: 'resumed',
	conflicted: 'conflicted',
	refused: 'refused',
	waiting: 'failed',
	changed: 'failed',
	ended: 'failed',
};

/** Records what became of an answer, if that is news. `isDelivered`: the service has it, perhaps once more. */
export function recordChange(tx: Tx, before: Answer, after: Answer, isDelivered: boolean): void {
	const { state, agentOutcome: found, lastError } = after;
	const action = ACTION_OF[state];
	if (action !== undefined && (state !== before.state || isDelivered))
		recordFate(tx, after, action, lastError ?? state);
	if (found === 'overwritten' && found !== before.agentOutcome) recordFate(tx, after, found, state);
}
