import { HandraiseError, retryAtOf } from '../errors.ts';
import { type Answer, TAKES_LONG_MS } from './answer.ts';

/** What a failed call to the service means for an answer. */
export interface Failure {
	/** Stable code, `internal` for what nobody foresaw. */
	readonly code: string;
	/**
	 * - `permanent`: the same PUT will never be taken.
	 * - `missing`: the service does not know the session; behind a proxy that can be so for a moment.
	 * - `later`: nothing was saved; try again.
	 * - `unknown`: it may have been saved; read before sending again.
	 */
	readonly kind: 'permanent' | 'missing' | 'later' | 'unknown';
	/** Not before this time, when the service said so. */
	readonly retryAt: number | null;
	/** The service itself reported the failure of the PUT: if it saved the answer, it did not start the agent. */
	readonly reported: boolean;
}

/**
 * The only codes that end an answer for good. Somebody can fix everything else while the answer waits: 401, 403, 429,
 * 5xx, redirects, mistakes of ours.
 */
const PERMANENT = new Set(['request_too_large', 'invalid_session_id', 'body_too_large', 'body_too_complex', 'refused']);

/** Classifies by code and fields, never by message. */
export function classifyFailure(error: unknown, now: number): Failure {
	if (!(error instanceof HandraiseError)) {
		return { code: 'internal', kind: 'unknown', retryAt: null, reported: false };
	}
	// The service's errors live in a layer of their own; what they carry is read by name.
	const fields = error as HandraiseError & { outcomeUnknown?: unknown; status?: unknown };
	const { code } = error;
	const retryAt = retryAtOf(error, now);
	// The service's "failed to update" is one of these: the message was there in the read just before.
	if (fields.outcomeUnknown === true) {
		return { code, kind: 'unknown', retryAt, reported: typeof fields.status === 'number' && fields.status >= 500 };
	}
	const kind = code === 'session_not_found' ? 'missing' : PERMANENT.has(code) ? 'permanent' : 'later';
	return { code, kind, retryAt, reported: false };
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * When to try again after the `attempts`-th failed attempt: 1 s, doubled each time up to a minute, half of it random so
 * that answers spread out, and never before the time the service named. In whole milliseconds, as the store needs.
 */
export function nextAttemptAt(now: number, attempts: number, retryAt: number | null, random: () => number): number {
	const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_DELAY_MS);
	return Math.ceil(Math.max(now + delay / 2 + (delay / 2) * random(), retryAt ?? 0));
}

/** When to read again a session that the service does not know; after the last of them it is gone for good. */
export const MISSING_RETRIES_MS = [1_000, 4_000] as const;
/** A read before the end of the wait for an unknown outcome, so that a PUT that did land is told soon. */
const EARLY_READ_MS = 1_000;

/** When the next step of an answer is due after a failed attempt, in time for what its author is to be told. */
export function nextStepAt(
	answer: Pick<Answer, 'acceptedAt' | 'giveUpAt'>,
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
		/** The outcome of this attempt's PUT is unknown, and no earlier one's was. */
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
	const moments = [answer.acceptedAt + TAKES_LONG_MS, answer.giveUpAt];
	return Math.min(next, ...moments.filter((moment) => moment > now));
}
