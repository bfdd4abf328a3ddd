import { codeOf, HandraiseError, retryAtOf } from '../errors.ts';
import { isProvenRefusal } from './access-policy.ts';
import { type Answer, firstDueAt, TAKES_LONG_MS } from './answer.ts';

/** What a failed call to the service means for an answer. */
export type Failure = ReturnType<typeof classifyFailure>;

/**
 * - `permanent`: the service will never take this PUT, or the author may not answer any more.
 * - `missing`: the service does not know the session. Behind a proxy that can be temporary.
 * - `later`: nothing was saved. Try again.
 * - `unknown`: the answer may be saved. Read before sending again.
 */
type Kind = 'permanent' | 'missing' | 'later' | 'unknown';

/**
 * The only codes that end an answer, with the refusals of the access policy. Everything else can be fixed while the answer
 * waits: 401, 403, 429, 5xx, redirects, bugs of ours, a Slack that does not tell.
 */
const PERMANENT = new Set(['request_too_large', 'invalid_session_id', 'body_too_large', 'body_too_complex', 'refused']);

/** Classifies by code and fields, never by message. */
export function classifyFailure(error: unknown, now: number) {
	const code = codeOf(error);
	// The layers forbid to import `SessionServiceError`, so its fields are read by name.
	const fields = error as { readonly outcomeUnknown?: boolean; readonly status?: number | null };
	const isReported = fields.outcomeUnknown === true && (fields.status ?? 0) >= 500;
	return {
		code,
		kind: fields.outcomeUnknown === true || !(error instanceof HandraiseError) ? 'unknown' : kindOf(code),
		/** The service asked for no retry before this time; null when it did not. */
		retryAt: retryAtOf(error, now),
		/** The service reported the failure of the PUT itself: if it saved the answer, it did not start the agent. */
		reported: isReported,
	};
}

function kindOf(code: string): Kind {
	if (code === 'session_not_found') return 'missing';
	return PERMANENT.has(code) || isProvenRefusal(code) ? 'permanent' : 'later';
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

/** What decides when an answer is tried again. */
interface Attempted {
	readonly attempts: number;
	readonly missingCount: number;
	/** The outcome of this attempt's PUT is unknown, and no earlier PUT was. */
	readonly isNewlyUnknown: boolean;
	readonly now: number;
	readonly random: () => number;
}

/** When the next step is due after a failed attempt: the next try, or earlier when the author must be told something. */
export function nextStepAt(
	answer: Pick<Answer, 'acceptedAt' | 'giveUpAt' | 'press'>,
	{ retryAt }: Pick<Failure, 'retryAt'>,
	{ attempts, missingCount, isNewlyUnknown, now, random }: Attempted,
): number {
	const soonMs = MISSING_RETRIES_MS[missingCount - 1] ?? (isNewlyUnknown ? EARLY_READ_MS : null);
	const soonAt = soonMs === null ? null : Math.ceil(Math.max(now + soonMs, retryAt ?? 0));
	const tellAt = [firstDueAt(answer) + TAKES_LONG_MS, answer.giveUpAt].filter((at) => at > now);
	return Math.min(soonAt ?? nextAttemptAt(now, attempts, retryAt, random), ...tellAt);
}
