import { type AuditAction, type AuditEvent, PROGRAM, recordEvents } from '../../database/audit.ts';
import type { Tx } from '../../database/database.ts';
import type { Answer, AnswerState, NewAnswer } from '../../questions/answer.ts';

type Told = Pick<NewAnswer, 'id' | 'person' | 'question' | 'fingerprint' | 'origin'>;
type Rest = Pick<AuditEvent, 'outcome' | 'about'>;

const ofAnswer = ({ id, question, fingerprint, origin }: Told) => ({
	answerId: id,
	sessionId: question.sessionId,
	channelId: origin.channelId,
	fingerprint,
});

/** Records what the author did with an answer. `outcome`: its state after that. */
export function recordAct({ trx, now: at }: Tx, answer: Told, action: AuditAction, rest: Rest): void {
	recordEvents(trx, { ...ofAnswer(answer), at, action, actor: answer.person.userId, ...rest });
}

/** Records what the program did with somebody's answer. */
export function recordFate({ trx, now: at }: Tx, answer: Told, action: AuditAction, outcome: string): void {
	recordEvents(trx, { ...ofAnswer(answer), at, action, actor: PROGRAM, about: answer.person.userId, outcome });
}

/** What it is called that an answer comes into a state; null: it is under way. */
const ACTION_OF: Readonly<Record<AnswerState, AuditAction | null>> = {
	accepted: null,
	delivering: null,
	delivered: 'delivered',
	resumed: 'resumed',
	waiting: 'failed',
	conflicted: 'conflicted',
	changed: 'failed',
	refused: 'refused',
	ended: 'failed',
	withdrawn: 'discarded',
};

/** Records what became of an answer, if that is news. `isAgain`: it was delivered once more. */
export function recordChange(tx: Tx, before: Answer, after: Answer, isAgain: boolean): void {
	const { state, agentOutcome, lastError } = after;
	const action = state === before.state && !isAgain ? null : ACTION_OF[state];
	if (action !== null) recordFate(tx, after, action, lastError ?? state);
	const isTold = agentOutcome === 'taken' || agentOutcome === 'overwritten';
	if (isTold && agentOutcome !== before.agentOutcome) recordFate(tx, after, agentOutcome, state);
}
