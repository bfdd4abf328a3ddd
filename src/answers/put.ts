import { CLOCK_ALLOWANCE_MS, type Clock, elapsedSince } from '../clock.ts';
import { type DeliveryInput, mergeForPut, type OurValues } from '../questions/compare.ts';
import type { Session } from '../questions/session.ts';
import { type Answer, itemsOf } from './answer.ts';
import type { AnswerPatch, AnswerStore, DeliveryPermit, DeliveryService } from './ports.ts';

/** A PUT leaves this process at most this long after it was noted in the store that it may, or not at all. */
export const LEAVE_WITHIN_MS = 2_000;

/** How long after it began a PUT may still land, in ms: what it may take to leave, to end, and what clocks differ by. */
export function mayLandForMs(callTimeoutMs: number): number {
	return LEAVE_WITHIN_MS + callTimeoutMs + CLOCK_ALLOWANCE_MS;
}

/** The lease was lost: another replica has this answer now, and this one must not touch it. */
export class LeaseLost extends Error {}

interface Dependencies {
	readonly store: Pick<AnswerStore, 'update'>;
	readonly service: Pick<DeliveryService, 'callTimeoutMs'>;
	readonly clock: Clock;
}

/**
 * The steps and times of a PUT, of which three moments are told apart. It *begins* when the store has noted that it may
 * have been sent (`putStartedAt`). It *leaves* when its first byte is handed to the connection, within `LEAVE_WITHIN_MS`
 * of that or never. It has *ended* when the service has answered or given it up, within the call's time-out after it
 * left. So a PUT of unknown outcome cannot land any more when those two times, and what clocks may differ by, have
 * passed since it began; and only a read that begins after that can rule it out.
 */
export function createPut({ store, service, clock }: Dependencies) {
	const landsWithinMs = mayLandForMs(service.callTimeoutMs);

	/** Whether a PUT that was noted at `markedAt` may still leave. A clock that was set since then tells nothing. */
	function mayLeave(markedAt: number): boolean {
		const since = clock.now() - markedAt;
		return since >= 0 && since <= LEAVE_WITHIN_MS && (clock.steadySince?.() ?? 0) <= markedAt;
	}

	return {
		mayLeave,

		/** For how long, in ms, a PUT that began at `at` may still land; 0 when it cannot, and when none began. */
		landsForMs(at: number | null): number {
			return at === null ? 0 : Math.max(landsWithinMs - elapsedSince(clock, at), 0);
		},

		/** Writes under the lease. @throws LeaseLost */
		async write(answer: Answer, token: string, patch: AnswerPatch): Promise<Answer> {
			const written = await store.update(answer, token, patch, { now: clock.now(), release: false });
			if (written === null) throw new LeaseLost();
			return written;
		},

		/** Sends all items as `session` has them, with `values` where they are empty. */
		async send(answer: Answer, permit: DeliveryPermit, session: Session, values: OurValues): Promise<void> {
			const { sessionId, messageIndex } = answer.question;
			const items = mergeForPut(session.messages[messageIndex]?.humanInput ?? [], values);
			const markedAt = answer.putStartedAt ?? 0;
			await permit.putAnswers(sessionId, messageIndex, items, () => mayLeave(markedAt));
		},
	};
}

export type Put = ReturnType<typeof createPut>;

/** An answer beside a session that was just read, as the rules of `questions/compare.ts` take them. */
export function comparisonInput(answer: Answer, session: Session): DeliveryInput {
	const { question, fingerprint } = answer;
	return { session, messageIndex: question.messageIndex, fingerprint, values: valuesOf(answer) };
}

export function valuesOf(answer: Answer): (string | null)[] {
	return itemsOf(answer).map((item) => item.value);
}
