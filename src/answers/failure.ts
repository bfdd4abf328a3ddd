import { HandraiseError, retryAtOf } from '../errors.ts';
import { isProvenRefusal } from './access-policy.ts';
import { type Answer, firstDueAt, TAKES_LONG_MS } from './answer.ts';

/** What a failed call to the service means for an answer. */
export interface Failure {
	/** Stable code; `internal` for an unexpected error. */
	readonly code: string;
	/**
	 * - `permanent`: the service will never take this PUT, or the author may not answer any more.
	 * - `missing`: the service does not know the session. Behind a proxy that can be temporary.
	 * - `later`: nothing was saved. Try again.
	 * - `unknown`: the answer may be saved. Read before sending again.
	 */
	readonly kind: 'permanent' | 'missing' | 'later' | 'unknown';
	/** The service asked for no retry before this time; null when it did not. */
	readonly retryAt: number | null;
	/** The service reported the failure of the PUT itself: if it saved the answer, it did not start the agent. */
	readonly reported: boolean;
}

/**
 * With the refusals of the access policy, the only codes that end an answer. Everything else can be fixed while the answer
 * waits: 401, 403, 429, 5xx, redirects, bugs of ours, a Slack that does not tell.
 */
const PERMANENT = new Set(['request_too_large', 'invalid_session_id', 'body_too_large', 'body_too_complex', 'refused']);

/** Classifies by code and fields, never by message. */
export function classifyFailure(error: unknown, now: number): Failure {
	if (!(error instanceof HandraiseError)) {
		return { code: 'internal', kind: 'unknown', retryAt: null, reported: false };
	}
	// The layers forbid to import `SessionServiceError`, so its fields are read by name.
	const fields = error as HandraiseError & { outcomeUnknown?: unknown; status?: unknown };
	const { code } = error;
	const retryAt = retryAtOf(error, now);
	if (fields.outcomeUnknown === true) {
		return { code, kind: 'unknown', retryAt, reported: typeof fields.status === 'number' && fields.status >= 500 };
	}
	const isPermanent = PERMANENT.has(code) || isProvenRefusal(code);
	const kind = code === 'session_not_found' ? 'missing' : isPermanent ? 'permanent' : 'later';
	return { code, kind, retryAt, reported: false };
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * When to try again after failed attempt number `attempts`: after 1 s, doubled each time up to a minute, half of it random
 * to spread the load, and never before `retryAt`. In whole milliseconds, as the store needs.
 */
export function nextAttemptAt(now: number, attempts: number, retryAt: number | null, random: () => number): number {
	const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_DELAY_MS);
	return Math.ceil(Math.max(now + delay / 2 + (delay / 2) * random(), retryAt ?? 0));
}

/** When to try again after `missing`. After the last retry the session counts as gone. */
export const MISSING_RETRIES_MS = [1_000, 4_000] as const;
/** A read soon after an unknown outcome, so that the author of a PUT that did land is told soon. */
const EARLY_READ_MS = 1_000;

/** When the next step is due after a failed attempt: the next try, or earlier when the author must be told something. */
export function nextStepAt(
	answer: Pick<Answer, 'acceptedAt' | 'giveUpAt' | 'press'>,
	{ retryAt }: Failure,
	{
		attempts,
		missingCount,
		isNewlyUnknown,
		now,
		random,
	}: {
		readonly attempts: number;
		readonly missingCount: number;
		/** The outcome of this attempt's PUT is unknown, and no earlier PUT was. */
		readonly isNewlyUnknown: boolean;
		readonly now: number;
		readonly random: () => number;
	},
): number {
	const missingRetry = MISSING_RETRIES_MS[missingCount - 1];
	const next =
		missingRetry !== undefined
			? now + missingRetry
			: isNewlyUnknown
				? Math.ceil(Math.max(now + EARLY_READ_MS, retryAt ?? 0))
				: nextAttemptAt(now, attempts, retryAt, random);
	const tellAt = [firstDueAt(answer) + TAKES_LONG_MS, answer.giveUpAt].filter((at) => at > now);
	return Math.min(next, ...tellAt);
}
