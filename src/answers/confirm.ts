import { elapsedSince, startDeadline } from '../clock.ts';
import type { Core } from '../core.ts';
import { codeOf } from '../errors.ts';
import { resumeOutcome } from '../questions/compare.ts';
import type { Session } from '../questions/session.ts';
import type { AgentOutcome, Answer, AnswerPatch } from './answer.ts';
import { isOverwritten } from './earlier-answers.ts';

/** The first confirmation check, in ms after the delivery. */
export const FIRST_CONFIRM_MS = 2_000;
/** When to check whether the agent went on, in ms after the delivery. */
const CONFIRMATION_CHECKS_MS = [FIRST_CONFIRM_MS, 5_000, 15_000, 60_000, 600_000];
/** How long a check may wait for the budget. The next answer to the session waits meanwhile. */
const BUDGET_WITHIN_MS = 2_000;

/**
 * Checks once whether the agent went on after a delivered answer. Returns what to write: the agent outcome, or when to
 * check again. A read that fails or gets no budget in time counts as a check without a result.
 */
export function createConfirmation({ store, sessionService, clock }: Core) {
	async function read(sessionId: string, signal: AbortSignal): Promise<Session> {
		const deadline = startDeadline(clock, sessionService.callTimeoutMs + BUDGET_WITHIN_MS);
		try {
			const either = AbortSignal.any([signal, deadline.signal]);
			return (await sessionService.read(sessionId, { priority: 'background', signal: either })).session;
		} finally {
			deadline.end();
		}
	}

	/** Counts only time that has certainly passed, so that a clock change skips no check. */
	function nextCheck({ deliveredAt }: Answer): number | null {
		const now = clock.now();
		const elapsed = elapsedSince(clock, deliveredAt ?? now);
		const next = CONFIRMATION_CHECKS_MS.find((ms) => ms > elapsed);
		return next === undefined ? null : now + next - elapsed;
	}

	async function agentOutcomeOf(answer: Answer, session: Session): Promise<AgentOutcome | 'notYet'> {
		if (await isOverwritten(store.answers, answer, session)) return 'overwritten';
		return resumeOutcome(answer.before ?? { status: session.status, assistantCount: 0 }, session);
	}

	return {
		async check(answer: Answer, signal: AbortSignal): Promise<AnswerPatch> {
			let agentOutcome: AgentOutcome | 'notYet' = 'notYet';
			let lastError: string | null = null;
			try {
				agentOutcome = await agentOutcomeOf(answer, await read(answer.question.sessionId, signal));
			} catch (error) {
				signal.throwIfAborted();
				lastError = codeOf(error);
			}
			// The result of the last *Send again* stays.
			const noted = answer.startFailed ? {} : { lastError };
			if (agentOutcome === 'notYet') {
				const next = nextCheck(answer);
				if (next !== null) return { nextAttemptAt: next, ...noted };
				agentOutcome = 'unseen';
			}
			return {
				agentOutcome,
				...noted,
				nextAttemptAt: clock.now(),
				...(agentOutcome === 'resumed' ? { state: 'resumed' as const, startFailed: false } : {}),
			};
		},
	};
}
