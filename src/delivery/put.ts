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
import { questionViewAt } from '../domain/session-snapshot.ts';
import { elapsedSince, uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { backOff, retryAtOf } from '../kernel/retries.ts';
import { pick } from '../kernel/values.ts';
import type { DeliveryPermit } from '../service/service.ts';
import { type AccessPolicy, type AccessVerdict, isProvenRefusal, NOT_CHECKED } from '../slack/access-policy.ts';
import type { AnswerStore } from './answer-store.ts';

/** An attempt that begins within this time after its author was allowed to send it asks the access policy nothing. */
export const CHECK_COUNTS_MS = 60_000;
/** At most this many ask at once. While Slack hangs, the worker's other places are for answers that need not ask. */
const MAX_ASKING = 16;

/** Another replica has the lease of this answer now, so this one must not write. */
export class LeaseLost extends Error {}

/** Asks the access policy whether somebody may still answer. */
export type Policy = Pick<AccessPolicy, 'checkAbsent' | 'checkNamed'>;

/**
 * The steps and times of a PUT. It *begins* when the store notes that it may be sent (`putStartedAt`). It *leaves* when
 * its first byte goes to the connection, within `SEND_WITHIN_MS` or never. It *ends* with the service's response,
 * within the call's time-out after it left. So a PUT of unknown outcome can land until both times and the difference of
 * clocks have passed since it began. Only a read that begins after that can rule it out.
 */
export function createPut({ store, sessionService, clock }: Core<{ answers: AnswerStore }>, policy: Policy) {
	const landsWithinMs = mayLandForMs(sessionService.callTimeoutMs);
	const checkHoldsMs = CHECK_COUNTS_MS + sessionService.deliveryReadMs;
	const asking = atMost(MAX_ASKING);

	/** Whether a PUT that began then, by uptime, may still leave. */
	const maySend = (begunAt: number) => uptimeOf(clock) - begunAt <= SEND_WITHIN_MS;

	return {
		/** For how many ms a PUT that began at `startedAt` may still land; 0 when none began. */
		landsForMs(startedAt: number | null): number {
			return startedAt === null ? 0 : Math.max(landsWithinMs - elapsedSince(clock, startedAt), 0);
		},

		/**
		 * Asks whether the author may still answer: lists of channels always, the rest if `checkedAt` is older than
		 * `CHECK_COUNTS_MS`. Resolves to when that was asked, or to `checkedAt`.
		 * @throws HandraiseError with the refusal as its code; `not_checked` (retryable) when Slack does not tell
		 */
		async check({ person, origin, question }: Answer, checkedAt: number): Promise<number> {
			const now = clock.now();
			const isDue = Math.abs(now - checkedAt) >= CHECK_COUNTS_MS;
			const { sessionId: answers } = question;
			const ask = () => policy.checkAbsent(person, { channelId: origin.channelId ?? '', answers }, 'late');
			const asked = isDue ? asking<AccessVerdict>(ask, NOT_CHECKED) : policy.checkNamed(person, answers, 'send');
			const { refusal, retryAt = null } = await asked;
			if (refusal === null) return isDue ? now : checkedAt;
			const code = refusal === 'could_not_check' ? 'not_checked' : refusal;
			throw new HandraiseError('the author of an answer may not send it, or that is not known', { code, retryAt });
		},

		/** @throws HandraiseError `timed_out` (retryable) when the read took longer than the check before it holds */
		assertChecked(checkedAt: number): void {
			if (Math.abs(clock.now() - checkedAt) <= checkHoldsMs) return;
			const details = { code: 'timed_out', retryable: true };
			throw new HandraiseError('reading a session took longer than the check of an author holds', details);
		},

		/** With `editCount`, writes only to that version of the text. @throws LeaseLost */
		async write(answer: Answer, token: string, patch: AnswerPatch, editCount?: number): Promise<Answer> {
			const options = { now: clock.now(), release: false, ...(editCount !== undefined && { editCount }) };
			const written = await store.answers.update(answer, token, patch, options);
			if (written === null) throw new LeaseLost();
			return written;
		},

		/** Sends all items of `session`, with `values` in the empty ones. `begunAt`: when the PUT began, by uptime. */
		async send(
			{ question: { sessionId, messageIndex } }: Answer,
			permit: DeliveryPermit,
			{ session, values, begunAt }: { session: Session; values: OurValues; begunAt: number },
		): Promise<void> {
			const items = mergeForPut(session.messages[messageIndex]?.sent ?? [], values);
			await permit.putAnswers(sessionId, messageIndex, items, () => maySend(begunAt));
		},
	};
}

/** Runs at most `count` calls at once. Further ones resolve to `instead`. */
function atMost(count: number) {
	let runningCount = 0;
	return async <Value>(call: () => Promise<Value>, instead: Value): Promise<Value> => {
		if (runningCount >= count) return instead;
		runningCount++;
		return call().finally(() => runningCount--);
	};
}

export type Put = ReturnType<typeof createPut>;

/** What is written when the service has an answer. */
export function deliveredPatch(now: number, startFailed = false): AnswerPatch {
	return { ...checkedFrom(now), state: 'delivered', lastError: null, startFailed };
}

/** The confirmation checks begin, and no PUT may land any more. */
function checkedFrom(now: number): AnswerPatch {
	return { deliveredAt: now, agentOutcome: null, nextAttemptAt: now + EARLY_READS_MS[0], putStartedAt: null };
}

export function comparisonInput(answer: Answer, session: Session): DeliveryInput {
	const { question, fingerprint, shownHash } = answer;
	return { session, messageIndex: question.messageIndex, fingerprint, shownHash, values: valuesOf(answer) };
}

/** What to write of a read of its session, where the answer repeats a credential that none before named. */
export function newRepeats({ content }: Answer, session: Session): Pick<AnswerPatch, 'repeats'> {
	if (content.kind !== 'readable') return {};
	const { items, repeats: known } = content;
	const repeats = [...new Set([...(known ?? []), ...repeatsOf(items, session)])];
	return known != null && repeats.length === known.length ? {} : { repeats };
}

/** What an answer was sent to, as long as the session shows that. */
export function keptQuestion(session: Session, { question, shownHash }: Answer): Pick<AnswerPatch, 'asked'> {
	const view = questionViewAt(session, question.messageIndex);
	if (view === null || isReworded(shownHash, view.shownHash)) return {};
	return { asked: { context: view.context, items: view.items.map((item) => pick(item, 'title', 'description')) } };
}

/** The values of the PUT, by position; null: the item keeps the value that it has in the session. */
export const valuesOf = (answer: Answer): (string | null)[] => itemsOf(answer).map((item) => item.value);

/**
 * - `permanent`: this PUT can never be sent, or the author may not answer any more.
 * - `missing`: 404. The service, or something in front of it, does not know the session.
 * - `later`: nothing was saved. Try again.
 * - `unknown`: the answer may be saved. Read before sending again.
 */
type Kind = 'permanent' | 'missing' | 'later' | 'unknown';

/** Only these codes and refusals end an answer. Others can be fixed while it waits: any status, our bugs. */
const PERMANENT = new Set(['request_too_large', 'invalid_session_id', 'body_too_large', 'body_too_complex']);

/** Classifies by code and fields, never by message. */
export function classifyFailure(error: unknown, now: number) {
	const code = codeOf(error);
	// The layers forbid importing `SessionServiceError`, so its fields are read by name.
	const { outcomeUnknown, status } = error as { readonly outcomeUnknown?: boolean; readonly status?: number | null };
	return {
		code,
		kind: outcomeUnknown === true || !(error instanceof HandraiseError) ? 'unknown' : kindOf(code),
		/** The service asked for no retry before this time; null when it did not. */
		retryAt: retryAtOf(error, now),
		/** The service reported the failure of the PUT itself: if it saved the answer, it did not start the agent. */
		reported: outcomeUnknown === true && (status ?? 0) >= 500,
	};
}

function kindOf(code: string): Kind {
	if (code === 'session_not_found') return 'missing';
	return PERMANENT.has(code) || isProvenRefusal(code) ? 'permanent' : 'later';
}

const DELAY = { firstMs: 1_000, longestMs: 60_000 } as const;

/** After 1 s, doubled up to a minute, half of it random to spread the load, never before `retryAt`. In whole ms. */
export function nextAttemptAt(now: number, attempts: number, retryAt: number | null, random: () => number): number {
	const delay = backOff(attempts, DELAY);
	return Math.ceil(Math.max(now + delay / 2 + (delay / 2) * random(), retryAt ?? 0));
}

/** When to try again after the first 404s: behind a proxy, they may pass within seconds. */
const MISSING_RETRIES_MS = [1_000, 4_000] as const;
/** A read soon after an unknown outcome tells the author of a PUT that did land. */
const EARLY_READ_MS = 1_000;

/** When to try again, or to ask the author if sooner. `isNewlyUnknown`: only this PUT's outcome is unknown. */
export function nextStepAt(
	answer: Answer,
	attempted: { attempts: number; missingCount: number; isNewlyUnknown: boolean; retryAt: number | null },
	now: number,
	random: () => number,
): number {
	const { attempts, missingCount, isNewlyUnknown, retryAt } = attempted;
	const soonMs = MISSING_RETRIES_MS[missingCount - 1] ?? (isNewlyUnknown ? EARLY_READ_MS : null);
	const soonAt = soonMs === null ? null : Math.ceil(Math.max(now + soonMs, retryAt ?? 0));
	const at = soonAt ?? nextAttemptAt(now, attempts, retryAt, random);
	return answer.giveUpAt > now ? Math.min(at, answer.giveUpAt) : at;
}
