import type { Core } from '../core.ts';
import { beforePut } from '../questions/compare.ts';
import { fingerprintOf, isReworded, shownHashOf } from '../questions/open-question.ts';
import { isOver, type Session } from '../questions/session.ts';
import type { Answer, AnswerPatch } from './answer.ts';
import { FIRST_CONFIRM_MS } from './confirm.ts';
import { isStoredAnswer } from './earlier-answers.ts';
import { classifyFailure } from './failure.ts';
import { comparisonInput, LeaseLost, type Put } from './put.ts';

/**
 * Sends a delivered answer again at its author's request, because with some versions of the service the same PUT starts
 * the agent that it could not start before; others answer 500 each time. It does so only while a fresh read shows the
 * answer and nothing newer. The request is cleared before the PUT begins, so a crash does not repeat it. Null when the
 * lease was lost.
 */
export function createRestart({ store, sessionService, clock, log }: Core, put: Put) {
	return async function restart(answer: Answer, token: string, signal: AbortSignal): Promise<Answer | null> {
		// The author is told again.
		const receiptState = { ...answer.receiptState, state: null, agentOutcome: null };
		let begun = answer;
		try {
			const permit = await sessionService.reserveDelivery(signal);
			let { session } = await permit.read(answer.question.sessionId);
			const mustReadAgain = await put.hasAsked(answer, answer.restartAskedAt ?? 0);
			if (mustReadAgain) ({ session } = await permit.read(answer.question.sessionId));
			signal.throwIfAborted();
			const now = clock.now();
			if (!canRestart(answer, session)) {
				return await put.write(answer, token, { restartAskedAt: null, nextAttemptAt: now, receiptState });
			}
			begun = await put.write(answer, token, {
				...deliveredAgain(now),
				restartAskedAt: null,
				putStartedAt: now,
				before: beforePut(comparisonInput(answer, session)),
				// If this process ends now, another one confirms it and tells the author.
				receiptState,
			});
			await put.send(begun, permit, session, []);
			return await put.write(begun, token, {
				...deliveredAgain(clock.now()),
				startFailed: false,
				lastError: null,
				receiptState,
			});
		} catch (error) {
			if (error instanceof LeaseLost) return null;
			if (signal.aborted && begun === answer) throw error;
			const { code, kind, reported } = classifyFailure(error, clock.now());
			log.warn(
				{ answer: answer.id, code },
				'could not send an answer again to start the agent; its author can ask for it again',
			);
			if (kind === 'unknown' && begun.putStartedAt !== null) {
				// While it may still land, the lease blocks all other answers to this session.
				await clock.sleep(put.landsForMs(begun.putStartedAt), signal);
			}
			const lastError = reported ? 'still_not_started' : code;
			const failed = { ...deliveredAgain(clock.now()), restartAskedAt: null, lastError, receiptState };
			return store.answers.update(begun, token, failed, { now: clock.now(), release: false });
		}
	};
}

function deliveredAgain(now: number): AnswerPatch {
	return { deliveredAt: now, agentOutcome: null, nextAttemptAt: now + FIRST_CONFIRM_MS, putStartedAt: null };
}

/**
 * Whether sending the answer again can only start the agent: the service has its values (of a wiped secret, any value)
 * and the agent has written and changed nothing since.
 */
export function canRestart(answer: Answer, session: Session): boolean {
	const { messageIndex } = answer.question;
	const message = session.messages[messageIndex];
	const storedValues = message?.humanInput.map(({ value }) => value) ?? [];
	return (
		message !== undefined &&
		session.messages.length - 1 === messageIndex &&
		!isOver(session.status) &&
		fingerprintOf(message.humanInput) === answer.fingerprint &&
		!isReworded(answer.shownHash, shownHashOf(message)) &&
		isStoredAnswer(answer, storedValues)
	);
}
