import { elapsedSince, startDeadline } from '../../core/clock.ts';
import type { Core } from '../../core.ts';
import { type Answer, type AnswerPatch, NOTHING_TO_START } from '../../questions/answer.ts';
import { beforePut, resumeOutcome } from '../../questions/compare.ts';
import { isOver, isReworded, type Session } from '../../questions/session.ts';
import { stringOf } from '../../questions/texts.ts';
import type { AnswerStore } from './answer-store.ts';
import { isOverwritten, isStoredAnswer } from './earlier-answers.ts';
import {
	checkedFrom,
	classifyFailure,
	comparisonInput,
	deliveredPatch,
	FIRST_CONFIRM_MS,
	LeaseLost,
	type Put,
} from './put.ts';

/** When to check whether the agent went on, in ms after the delivery. */
const CONFIRMATION_CHECKS_MS = [FIRST_CONFIRM_MS, 5_000, 15_000, 60_000, 600_000];
/** How long a check may wait for the budget. The next answer to the session waits meanwhile. */
const BUDGET_WITHIN_MS = 2_000;

/** Checks once whether the agent went on after delivery; returns what to write. A read that fails or is late finds nothing. */
export function createConfirmation({ store, sessionService, clock }: Core<{ answers: AnswerStore }>) {
	async function read(sessionId: string, signal: AbortSignal): Promise<Session> {
		using deadline = startDeadline(clock, sessionService.callTimeoutMs + BUDGET_WITHIN_MS);
		const either = AbortSignal.any([signal, deadline.signal]);
		return (await sessionService.read(sessionId, { priority: 'background', signal: either })).session;
	}

	return async function confirm(answer: Answer, signal: AbortSignal): Promise<AnswerPatch> {
		let found: AnswerPatch | null = null;
		try {
			found = await outcomeIn(store.answers, answer, await read(answer.question.sessionId, signal));
		} catch {
			signal.throwIfAborted();
		}
		const now = clock.now();
		// Counts only time that has certainly passed, so that a clock change skips no check.
		const elapsed = elapsedSince(clock, answer.deliveredAt ?? now);
		const next = CONFIRMATION_CHECKS_MS.find((ms) => ms > elapsed);
		if (found === null && next !== undefined) return { nextAttemptAt: now + next - elapsed };
		return { agentOutcome: 'unseen', ...found, nextAttemptAt: now };
	};
}

/** What became of a delivered answer, as this read shows it; null while the agent has not gone on. */
async function outcomeIn(answers: AnswerStore, answer: Answer, session: Session): Promise<AnswerPatch | null> {
	const before = answer.before ?? { status: session.status, assistantCount: 0 };
	const overwritten = await isOverwritten(answers, answer, session);
	if (overwritten === null) return null;
	const agentOutcome = overwritten ? 'overwritten' : resumeOutcome(before, session);
	if (agentOutcome === 'resumed') return { agentOutcome, state: 'resumed', startFailed: false, restartAskedAt: null };
	return agentOutcome === 'notYet' ? null : { agentOutcome };
}

/**
 * Sends a delivered answer again for its author: with some versions of the service the same PUT starts the agent then.
 * The request is cleared before the PUT begins, so a crash does not repeat it. @throws LeaseLost
 */
export function createRestart({ store, sessionService, clock, log }: Core<{ answers: AnswerStore }>, put: Put) {
	return async function restart(answer: Answer, token: string, signal: AbortSignal): Promise<Answer> {
		// The author is told again.
		const receiptState = { ...answer.receiptState, state: null, agentOutcome: null };
		let begun = answer;
		try {
			const permit = await sessionService.reserveDelivery(signal);
			let { session } = await permit.read(answer.question.sessionId);
			if (await put.hasAsked(answer, answer.restartAskedAt ?? 0))
				({ session } = await permit.read(answer.question.sessionId));
			signal.throwIfAborted();
			const now = clock.now();
			if (!canRestart(answer, session)) {
				const found = await outcomeIn(store.answers, answer, session);
				const ended = { startFailed: false, restartAskedAt: null, lastError: NOTHING_TO_START, receiptState };
				return await put.write(answer, token, { ...found, ...ended, nextAttemptAt: now });
			}
			begun = await put.write(answer, token, {
				...checkedFrom(now),
				restartAskedAt: null,
				putStartedAt: now,
				before: await beforePut(comparisonInput(answer, session)),
				// If this process ends now, another one confirms it and tells the author.
				receiptState,
			});
			await put.send(begun, permit, session, []);
			return await put.write(begun, token, { ...deliveredPatch(clock.now()), receiptState });
		} catch (error) {
			if (error instanceof LeaseLost || (signal.aborted && begun === answer)) throw error;
			const { code, kind, reported } = classifyFailure(error, clock.now());
			log.warn('restart_failed', { answer: answer.id, code });
			if (kind === 'unknown' && begun.putStartedAt !== null) {
				// While it may still land, the lease blocks all other answers to this session.
				await clock.sleep(put.landsForMs(begun.putStartedAt), signal);
			}
			const lastError = reported ? 'still_not_started' : code;
			const next = begun === answer ? { nextAttemptAt: clock.now(), putStartedAt: null } : checkedFrom(clock.now());
			return put.write(begun, token, { ...next, restartAskedAt: null, lastError, receiptState });
		}
	};
}

/** Sending it again can only start the agent: the service has its values, and the agent has changed nothing since. */
function canRestart(answer: Answer, session: Session): boolean {
	const message = session.messages[answer.question.messageIndex];
	if (message === undefined || message !== session.messages.at(-1) || isOver(session.status)) return false;
	const storedValues = message.sent.map(({ value }) => stringOf(value));
	return (
		message.fingerprint === answer.fingerprint &&
		!isReworded(answer.shownHash, message.shownHash) &&
		isStoredAnswer(answer, storedValues)
	);
}
