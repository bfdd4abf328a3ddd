import type { Aftermath, Answer, AnswerState } from '../../answers/answer.ts';

/** An answer's state in a word or two, for lists. */
export const STATE_WORDS = {
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

/** The one sentence that a receipt begins with, also without mark-up. */
export function receiptHeadline(
	answer: Pick<Answer, 'state' | 'aftermath' | 'lastError'> & Partial<Pick<Answer, 'putStartedAt'>>,
): string {
	const mayHaveArrived = answer.putStartedAt != null;
	switch (answer.state) {
		case 'accepted':
			return answer.lastError !== null
				? 'Your answer is saved and not delivered yet.'
				: 'Your answer is saved. Delivering…';
		case 'delivering':
			return 'Your answer is saved. Delivering…';
		case 'waiting':
			return mayHaveArrived
				? 'Your answer is saved and was sent, but whether it arrived could not be found out.'
				: 'Your answer is saved, but could not be delivered.';
		case 'delivered':
		case 'resumed':
			return deliveredHeadline(answer.aftermath ?? (answer.state === 'resumed' ? 'resumed' : null));
		case 'conflicted':
			return 'Your answer was not sent: somebody else answered first.';
		case 'changed':
			return 'Your answer was not sent: the question has changed.';
		case 'refused':
			return 'Your answer could not be delivered: the session service refused it.';
		case 'ended':
			return 'Your answer was not sent: the session is over.';
		case 'withdrawn':
			return mayHaveArrived
				? 'You gave this answer up. It was sent before, so it may have arrived.'
				: 'You gave this answer up. Nothing was sent.';
	}
}

function deliveredHeadline(aftermath: Aftermath | null): string {
	switch (aftermath) {
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
