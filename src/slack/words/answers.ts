import { type Aftermath, type Answer, type AnswerState, FAILED_STATES } from '../../answers/answer.ts';

/** An answer's state in a word or two, for lists. */
const STATE_WORDS = {
	accepted: '💾 Saved',
	delivering: '📨 Being delivered',
	waiting: '⏳ Not delivered yet; waiting for its author',
	delivered: '✅ Delivered',
	resumed: '▶️ The agent went on',
	conflicted: '🔀 Not sent: somebody else answered first',
	changed: '✏️ Not sent: the question changed',
	refused: '⛔ Not delivered: the session service refused it',
	ended: '🏁 Not sent: the session was over',
	withdrawn: '↩️ Given up by its author',
} as const satisfies Record<AnswerState, string>;

/** How the session went on after delivery; null while nobody knows. */
export const AFTERMATH_WORDS = {
	resumed: '▶️ The agent went on',
	failed: '❌ Then the session failed',
	stopped: '⏹️ Then the session was stopped',
	paused: '⏸️ Then the session was paused',
	completed: '✅ Then the session completed',
	overwritten: '⚠️ Then it was overwritten from outside Handraise',
	unseen: '👀 The agent has not moved yet. The answer is there; look at the session later',
} as const satisfies Record<Aftermath, string>;

type Sent = Pick<Answer, 'state'> & Partial<Pick<Answer, 'putStartedAt'>>;
type Receipt = Sent & Pick<Answer, 'aftermath' | 'lastError'> & Partial<Pick<Answer, 'startFailed'>>;

/** In these nothing is sent any more. */
const UNSENT_STATES = [...FAILED_STATES, 'withdrawn'] as const;

/**
 * An earlier PUT may have arrived although nothing is sent any more: it was answered with a failure or not at all, and what
 * the session shows now does not tell.
 */
export function mayHaveArrived({ state, putStartedAt }: Sent): boolean {
	return putStartedAt != null && (UNSENT_STATES as readonly AnswerState[]).includes(state);
}

/** What a state means when an earlier PUT may have arrived. */
const PERHAPS_ARRIVED = {
	waiting: '⏳ Sent, and may have arrived; waiting for its author',
	conflicted: '🔀 Sent, and may have arrived before the answer that stands there',
	changed: '✏️ Sent, and may have arrived before the agent went on',
	refused: '⛔ Sent, and may have arrived; then the session service refused it',
	ended: '🏁 Sent, and may have arrived before the session ended',
	withdrawn: '↩️ Given up by its author; it may have arrived',
} as const satisfies Record<(typeof UNSENT_STATES)[number], string>;

/** The words for one entry of an answer's timeline. */
export function timelineWords(answer: Sent, entry: AnswerState): string {
	const isLast = entry === answer.state;
	return isLast && mayHaveArrived(answer) ? PERHAPS_ARRIVED[entry as keyof typeof PERHAPS_ARRIVED] : STATE_WORDS[entry];
}

/** The one sentence that a receipt begins with, also without mark-up. */
export function receiptHeadline(answer: Receipt): string {
	if (mayHaveArrived(answer)) return perhapsArrivedHeadline(answer.state);
	switch (answer.state) {
		case 'accepted':
			return answer.lastError !== null
				? 'Your answer is saved and not delivered yet.'
				: 'Your answer is saved. Delivering…';
		case 'delivering':
			return answer.lastError !== null
				? 'Your answer is saved and was sent. Handraise is checking whether it arrived.'
				: 'Your answer is saved. Delivering…';
		case 'waiting':
			return 'Your answer is saved, but could not be delivered.';
		case 'delivered':
		case 'resumed':
			return deliveredHeadline(answer);
		case 'conflicted':
			return 'Your answer was not sent: somebody else answered first.';
		case 'changed':
			return 'Your answer was not sent: the question has changed.';
		case 'refused':
			return 'Your answer could not be delivered: the session service refused it.';
		case 'ended':
			return 'Your answer was not sent: the session is over.';
		case 'withdrawn':
			return 'You gave this answer up. Nothing was sent.';
	}
}

function perhapsArrivedHeadline(state: AnswerState): string {
	switch (state) {
		case 'conflicted':
			return 'The session has a different answer now. Yours was sent and may have arrived first.';
		case 'changed':
			return 'The agent has gone on or asks something else. Your answer was sent before and may have arrived.';
		case 'refused':
			return 'Your answer was sent and may have arrived. The session service now refuses it.';
		case 'ended':
			return 'The session is over. Your answer was sent before and may have arrived.';
		case 'withdrawn':
			return 'You gave this answer up. It was sent before and may have arrived.';
		default:
			return 'Your answer is saved. It was sent and may have arrived, but Handraise could not check.';
	}
}

function deliveredHeadline({ state, aftermath, startFailed }: Receipt): string {
	if (startFailed && (aftermath === null || aftermath === 'unseen')) {
		return 'Your answer arrived, but the session service reported a failure. The agent may not have been started.';
	}
	switch (aftermath ?? (state === 'resumed' ? 'resumed' : null)) {
		case 'resumed':
			return 'Your answer arrived and the agent went on.';
		case 'failed':
			return 'Your answer arrived, then the session failed.';
		case 'stopped':
			return 'Your answer arrived, then the session was stopped.';
		case 'paused':
			return 'Your answer arrived, then the session was paused.';
		case 'completed':
			return 'Your answer arrived and the session is complete.';
		case 'overwritten':
			return 'Your answer arrived, then somebody outside Handraise overwrote it.';
		case 'unseen':
			return 'Your answer arrived. The agent has not moved yet.';
		case null:
			return 'Your answer arrived. Waiting for the agent to go on…';
	}
}
