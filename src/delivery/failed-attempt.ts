import type { Answer } from '../domain/answer.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { backOff, retryAtOf } from '../kernel/retries.ts';
import { SessionServiceError } from '../service/service.ts';
import { isProvenRefusal } from '../slack/access-policy.ts';

/**
 * - `permanent`: this PUT can never be sent, or the author may not answer any more.
 * - `missing`: 404. The service, or something in front of it, does not know the session.
 * - `later`: nothing was saved. Try again.
 * - `unknown`: the answer may be saved. Read before sending again.
 */
type Kind = 'permanent' | 'missing' | 'later' | 'unknown';

/** Only these codes and refusals end an answer. Others can be fixed while it waits: any status, our bugs. */
const PERMANENT = new Set(['request_too_large', 'invalid_session_id', 'body_too_large', 'body_too_complex']);

/** The service has the answer, and the store could not note that. The next read finds it. */
export class NotNoted extends HandraiseError {
	constructor(cause: unknown) {
		super('could not record a delivery in the store', { code: 'store_unavailable', retryable: true, cause });
	}
}

export type Failure = ReturnType<typeof classifyFailure>;

/** Classifies by code and fields, never by message. */
export function classifyFailure(error: unknown, now: number) {
	const code = codeOf(error);
	const isOfService = error instanceof SessionServiceError;
	const isKnown = isOfService ? !error.outcomeUnknown : error instanceof HandraiseError && !(error instanceof NotNoted);
	return {
		code,
		kind: isKnown ? kindOf(code) : 'unknown',
		/** The service asked for no retry before this time; null when it did not. */
		retryAt: retryAtOf(error, now),
		/** The service reported the failure of the PUT itself: if it saved the answer, it did not start the agent. */
		reported: isOfService && error.outcomeUnknown && (error.status ?? 0) >= 500,
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
