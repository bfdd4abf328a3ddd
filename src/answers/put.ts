import { CLOCK_ALLOWANCE_MS, elapsedSince } from '../clock.ts';
import type { Core } from '../core.ts';
import { HandraiseError } from '../errors.ts';
import { type DeliveryInput, mergeForPut, type OurValues } from '../questions/compare.ts';
import type { Session } from '../questions/session.ts';
import type { SessionServiceClient } from '../session-service/client.ts';
import { FRESH_MS, NOT_CHECKED, type Verdict } from './access-policy.ts';
import { type Answer, type AnswerPatch, itemsOf, type Person } from './answer.ts';

/** A PUT leaves this process within this time after the store has noted it, or not at all. */
export const SEND_WITHIN_MS = 2_000;

/** How long a PUT may still land after it began, in ms: the times to leave and to end, and the difference of clocks. */
export function mayLandForMs(callTimeoutMs: number): number {
	return SEND_WITHIN_MS + callTimeoutMs + CLOCK_ALLOWANCE_MS;
}

/** So long after its author was allowed to send it an answer is sent without asking the access policy again. */
const CHECK_HOLDS_MS = 60_000;
/** So many answers ask at once. While Slack hangs, others leave their places in the worker to answers that need not ask. */
export const MAX_ASKING = 16;

/** Another replica has the lease of this answer now, so this one must not write. */
export class LeaseLost extends Error {}

export type DeliveryPermit = Awaited<ReturnType<SessionServiceClient['reserveDelivery']>>;

/** Asks the access policy whether somebody may answer in this channel ('' in none). */
export type CheckAuthor = (person: Person, channelId: string, maxAgeMs: number) => Promise<Verdict>;

/**
 * The steps and times of a PUT. It *begins* when the store notes that it may be sent (`putStartedAt`). It *leaves* when
 * its first byte goes to the connection, within `SEND_WITHIN_MS` or never. It *ends* with the service's response, within
 * the call's time-out after it left. So a PUT of unknown outcome can land until both times and the difference of clocks
 * have passed since it began. Only a read that begins after that can rule it out.
 */
export function createPut({ store, sessionService, clock }: Core, checkAuthor: CheckAuthor) {
	const landsWithinMs = mayLandForMs(sessionService.callTimeoutMs);
	const asking = atMost(MAX_ASKING);

	/** Whether a PUT that began at `startedAt` may still leave. False when the clock was set since then. */
	function maySend(startedAt: number | null): boolean {
		if (startedAt === null) return false;
		const since = clock.now() - startedAt;
		return since >= 0 && since <= SEND_WITHIN_MS && (clock.steadySince?.() ?? 0) <= startedAt;
	}

	return {
		maySend,

		/** For how many ms a PUT that began at `startedAt` may still land; 0 when none began. */
		landsForMs(startedAt: number | null): number {
			return startedAt === null ? 0 : Math.max(landsWithinMs - elapsedSince(clock, startedAt), 0);
		},

		/**
		 * Asks whether the author may still answer, unless `checkedAt` is less than a minute ago. True when it has asked: the
		 * session must be read again, because somebody may have written to it meanwhile.
		 * @throws HandraiseError with the refusal as its code; `not_checked` (retryable) when Slack does not tell
		 */
		async hasAsked({ person, origin }: Answer, checkedAt: number): Promise<boolean> {
			if (Math.abs(clock.now() - checkedAt) < CHECK_HOLDS_MS) return false;
			const verdict = await asking(() => checkAuthor(person, origin.channelId ?? '', FRESH_MS), NOT_CHECKED);
			if (verdict.allowed) return true;
			const code = verdict.refusal === 'could_not_check' ? 'not_checked' : verdict.refusal;
			const error = new HandraiseError('the author of an answer may not send it, or that is not known', { code });
			throw Object.assign(error, { retryAt: verdict.retryAt ?? null });
		},

		/** Writes under the lease; with `editCount`, only to that version of the text. @throws LeaseLost */
		async write(answer: Answer, token: string, patch: AnswerPatch, editCount?: number): Promise<Answer> {
			const options = { now: clock.now(), release: false, ...(editCount !== undefined && { editCount }) };
			const written = await store.answers.update(answer, token, patch, options);
			if (written === null) throw new LeaseLost();
			return written;
		},

		/** Sends all items of `session`, with `values` in the empty ones. */
		async send(answer: Answer, permit: DeliveryPermit, session: Session, values: OurValues): Promise<void> {
			const { sessionId, messageIndex } = answer.question;
			const items = mergeForPut(session.messages[messageIndex]?.humanInput ?? [], values);
			await permit.putAnswers(sessionId, messageIndex, items, () => maySend(answer.putStartedAt));
		},
	};
}

/** Runs so many calls at once. While they are under way, others resolve to `instead`. */
export function atMost(count: number) {
	let runningCount = 0;
	return async <Value>(call: () => Promise<Value>, instead: Value): Promise<Value> => {
		if (runningCount >= count) return instead;
		runningCount++;
		return call().finally(() => runningCount--);
	};
}

export type Put = ReturnType<typeof createPut>;

/** The input of `questions/compare.ts`. */
export function comparisonInput(answer: Answer, session: Session): DeliveryInput {
	const { question, fingerprint, shownHash } = answer;
	return { session, messageIndex: question.messageIndex, fingerprint, shownHash, values: valuesOf(answer) };
}

export function valuesOf(answer: Answer): (string | null)[] {
	return itemsOf(answer).map((item) => item.value);
}
