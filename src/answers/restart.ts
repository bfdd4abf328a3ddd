import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { beforePut } from '../questions/compare.ts';
import { fingerprintOf } from '../questions/fingerprint.ts';
import { isOver, type Session } from '../questions/session.ts';
import type { Answer } from './answer.ts';
import { FIRST_CONFIRM_MS } from './confirm.ts';
import { standsThere } from './earlier-answers.ts';
import { classifyFailure } from './failure.ts';
import type { AnswerPatch, AnswerStore, DeliveryService } from './ports.ts';
import { comparisonInput, LeaseLost, type Put } from './put.ts';

interface Dependencies {
	readonly store: Pick<AnswerStore, 'update'>;
	readonly service: DeliveryService;
	readonly put: Put;
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Sends a delivered answer once more, at its author's request, because the service said that it could not start the
 * agent: the same PUT starts it. Only while a fresh read still shows the answer and nothing newer, and never again by
 * itself: the request is cleared before the PUT begins. Null when the lease was lost.
 */
export function createRestart({ store, service, put, clock, log }: Dependencies) {
	return async function restart(answer: Answer, token: string, signal: AbortSignal): Promise<Answer | null> {
		const heard = { ...answer.receiptState, state: null, agentOutcome: null };
		let begun = answer;
		try {
			const permit = await service.reserveDelivery(signal);
			const { session } = await permit.read(answer.question.sessionId);
			signal.throwIfAborted();
			const now = clock.now();
			if (!canRestart(answer, session)) {
				return await put.write(answer, token, { restartAskedAt: null, nextAttemptAt: now, receiptState: heard });
			}
			begun = await put.write(answer, token, {
				...deliveredAgain(now),
				restartAskedAt: null,
				putStartedAt: now,
				before: beforePut(comparisonInput(answer, session)),
				// If this process ends now, another one confirms and tells.
				receiptState: heard,
			});
			await put.send(begun, permit, session, []);
			return await put.write(begun, token, {
				...deliveredAgain(clock.now()),
				startFailed: false,
				lastError: null,
				receiptState: heard,
			});
		} catch (error) {
			if (error instanceof LeaseLost) return null;
			if (signal.aborted && begun === answer) throw error;
			const { code, kind } = classifyFailure(error, clock.now());
			log.warn({ answer: answer.id, code }, 'an answer could not be sent again to start the agent');
			if (kind === 'unknown' && begun.putStartedAt !== null) {
				// While it may still land, the lease holds back all other answers to this session.
				await clock.sleep(put.landsForMs(begun.putStartedAt), signal);
			}
			const failed = { ...deliveredAgain(clock.now()), restartAskedAt: null, lastError: code, receiptState: heard };
			return store.update(begun, token, failed, { now: clock.now(), release: false });
		}
	};
}

function deliveredAgain(now: number): AnswerPatch {
	return { deliveredAt: now, agentOutcome: null, nextAttemptAt: now + FIRST_CONFIRM_MS, putStartedAt: null };
}

/**
 * Whether sending it again can only start the agent: what it says stands there (of a wiped secret only that something
 * does) and the agent has written nothing since.
 */
export function canRestart(answer: Answer, session: Session): boolean {
	const { messageIndex } = answer.question;
	const items = session.messages[messageIndex]?.humanInput ?? [];
	const there = items.map(({ value }) => value);
	return (
		session.messages.length - 1 === messageIndex &&
		!isOver(session.status) &&
		fingerprintOf(items) === answer.fingerprint &&
		standsThere(answer, there)
	);
}
