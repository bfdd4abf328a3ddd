import type { Core } from '../core.ts';
import {
	type Answer,
	type AnswerPatch,
	EARLY_READS_MS,
	itemsOf,
	mayLandForMs,
	repeatsOf,
	SEND_WITHIN_MS,
} from '../domain/answer.ts';
import { type DeliveryInput, mergeForPut, type OurValues } from '../domain/compare.ts';
import { isReworded, type Session } from '../domain/session.ts';
import { questionSnapshotAt } from '../domain/session-snapshot.ts';
import { elapsedSince, uptimeOf } from '../kernel/clock.ts';
import { pick } from '../kernel/values.ts';
import type { DeliveryPermit } from '../service/service.ts';
import type { AnswerStore } from './answer-store.ts';

/** Another replica has the lease of this answer now, so this one must not write. */
export class LeaseLost extends Error {}

/**
 * The steps and times of a PUT. It *begins* when the store notes that it may be sent (`putStartedAt`). It *leaves* when
 * its first byte goes to the connection, within `SEND_WITHIN_MS` or never. It *ends* with the service's response,
 * within the call's time-out after it left. So a PUT of unknown outcome can land until both times and the difference of
 * clocks have passed since it began. Only a read that begins after that can rule it out.
 */
export function createPut({ sessionService, clock }: Core) {
	const landsWithinMs = mayLandForMs(sessionService.callTimeoutMs);

	return {
		/** For how many ms a PUT that began at `startedAt` may still land; 0 when none began. */
		landsForMs(startedAt: number | null): number {
			return startedAt === null ? 0 : Math.max(landsWithinMs - elapsedSince(clock, startedAt), 0);
		},

		/**
		 * Sends all items of the message: those that `answer` fills with its values, the others with their present ones.
		 * `begunAt`: when the PUT began, by uptime.
		 */
		async send(answer: Answer, permit: DeliveryPermit, session: Session, begunAt: number): Promise<void> {
			const { sessionId, messageIndex } = answer.question;
			const items = mergeForPut(session.messages[messageIndex]?.sent ?? [], valuesOf(answer));
			await permit.putAnswers(sessionId, messageIndex, items, () => uptimeOf(clock) - begunAt <= SEND_WITHIN_MS);
		},
	};
}

/** Makes the write of a leased answer's step. With `editCount`, only to that version of the text. @throws LeaseLost */
export function createWrite({ store, clock }: Core<{ answers: Pick<AnswerStore, 'update'> }>) {
	return async (answer: Answer, token: string, patch: AnswerPatch, editCount?: number): Promise<Answer> => {
		return heldOrLost(await store.answers.update(answer, token, patch, { now: clock.now(), editCount }));
	};
}

/** What a write of the store returned. @throws LeaseLost */
export function heldOrLost(written: Answer | null): Answer {
	if (written === null) throw new LeaseLost();
	return written;
}

/** What is written when the service has an answer: no PUT may land any more, and confirmation checks begin. */
export function deliveredPatch(now: number, startFailed = false): AnswerPatch {
	return {
		deliveredAt: now,
		agentOutcome: null,
		nextAttemptAt: now + EARLY_READS_MS[0],
		putStartedAt: null,
		state: 'delivered',
		lastError: null,
		startFailed,
	};
}

export function comparisonInput(answer: Answer, session: Session): DeliveryInput {
	const { question, fingerprint, shownHash } = answer;
	return { session, messageIndex: question.messageIndex, fingerprint, shownHash, values: valuesOf(answer) };
}

/**
 * What to write after a read: what the answer repeats of the credentials that the session names. Empty without news.
 */
export function newRepeats({ content }: Answer, session: Session): Pick<AnswerPatch, 'repeats'> {
	if (content.kind !== 'readable') return {};
	const { items, repeats: known } = content;
	const repeats = [...new Set([...(known ?? []), ...repeatsOf(items, session)])];
	return known != null && repeats.length === known.length ? {} : { repeats };
}

/** What an answer was sent to, as long as the session shows that. */
export function keptQuestion(session: Session, { question, shownHash }: Answer): Pick<AnswerPatch, 'asked'> {
	const view = questionSnapshotAt(session, question.messageIndex);
	if (view === null || isReworded(shownHash, view.shownHash)) return {};
	return { asked: { context: view.context, items: view.items.map((item) => pick(item, 'title', 'description')) } };
}

/** The values of the PUT, by position; null: the item keeps the value that it has in the session. */
const valuesOf = (answer: Answer): OurValues => itemsOf(answer).map((item) => item.value);
