import { elapsedSince, startDeadline, steadySince } from '../../core/basics.ts';
import type { Core } from '../../core.ts';
import { type Answer, type AnswerPatch, NOTHING_TO_START } from '../../questions/answer.ts';
import { LOST_AFTER_MS } from '../../questions/asked.ts';
import { beforePut } from '../../questions/compare.ts';
import type { AnswerStore } from './answer-store.ts';
import { canRestart, outcomeIn } from './earlier-answers.ts';
import {
	checkedFrom,
	classifyFailure,
	comparisonInput,
	deliveredPatch,
	FIRST_CONFIRM_MS,
	LeaseLost,
	newRepeats,
	type Put,
	valuesOf,
} from './put.ts';

/** When to check whether the agent went on, in ms after the delivery. */
const CONFIRMATION_CHECKS_MS = [FIRST_CONFIRM_MS, 5_000, 15_000, 60_000, 75_000, 600_000];
/** How long a check may wait for the budget. The next answer to the session waits meanwhile. */
const BUDGET_WITHIN_MS = 2_000;

/** Checks once whether the agent went on; returns what to write. A read that fails or is late finds nothing. */
export function createConfirmation(core: Core<{ answers: AnswerStore }>) {
	const { store, sessionService, clock } = core;
	async function read(sessionId: string, signal: AbortSignal) {
		using deadline = startDeadline(clock, sessionService.callTimeoutMs + BUDGET_WITHIN_MS);
		const either = AbortSignal.any([signal, deadline.signal]);
		const reading = await sessionService.read(sessionId, { priority: 'background', ahead: true, signal: either });
		return { ...reading, steadySince: steadySince(clock) };
	}

	return async function confirm(answer: Answer, signal: AbortSignal): Promise<AnswerPatch> {
		let found: AnswerPatch | null = null;
		try {
			const reading = await read(answer.question.sessionId, signal);
			found = { ...(await outcomeIn(store.answers, answer, reading)), ...newRepeats(answer, reading.session) };
		} catch {
			signal.throwIfAborted();
		}
		const now = clock.now();
		// Only time that has certainly passed: a clock change skips no check.
		const elapsed = elapsedSince(clock, answer.deliveredAt ?? now);
		const emptySince = (found?.evidence ?? answer.evidence)?.emptySince ?? null;
		const nextMs = CONFIRMATION_CHECKS_MS.find((ms) => ms > elapsed);
		if (found?.agentOutcome === undefined && nextMs !== undefined) {
			// Then it is certain whether it is lost.
			const certainAt = emptySince === null ? 0 : emptySince + LOST_AFTER_MS + 1_000;
			const nextAt = now + nextMs - elapsed;
			return { ...found, nextAttemptAt: certainAt > now ? Math.min(nextAt, certainAt) : nextAt };
		}
		return { agentOutcome: emptySince !== null ? 'unconfirmed' : 'unseen', ...found, nextAttemptAt: now };
	};
}

/**
 * Sends a delivered answer again for its author: with some versions of the service the same PUT starts the agent then.
 * The request is cleared before the PUT begins, so a crash does not repeat it. @throws LeaseLost
 */
export function createRestart(core: Core<{ answers: AnswerStore }>, put: Put) {
	const { store, sessionService, clock, log } = core;
	return async function restart(answer: Answer, token: string, signal: AbortSignal): Promise<Answer> {
		// The author is told again.
		const receiptState = { ...answer.receiptState, state: null, agentOutcome: null };
		let begun = answer;
		try {
			const checkedAt = await put.check(answer, answer.restartAskedAt ?? 0);
			using permit = await sessionService.reserveDelivery(signal);
			const reading = await permit.read(answer.question.sessionId);
			const { session } = reading;
			signal.throwIfAborted();
			put.assertChecked(checkedAt);
			const now = clock.now();
			const standing = await store.answers.standing(answer.question);
			if (!canRestart(answer, session, standing?.id === answer.id)) {
				const found = await outcomeIn(store.answers, answer, { ...reading, steadySince: steadySince(clock) });
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
			await put.send(begun, permit, session, valuesOf(begun));
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
