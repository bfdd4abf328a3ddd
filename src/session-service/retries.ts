import pRetry from 'p-retry';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { RateLimitedError, SessionServiceError, type SessionServiceErrorCode } from './errors.ts';

/** What may pass within seconds. A wrong key does not, although an operator can mend it. */
const PASSING: ReadonlySet<SessionServiceErrorCode> = new Set([
	'unavailable',
	'timed_out',
	'unreadable_answer',
	'rate_limited',
]);

/** Milliseconds before the first repeat; doubled for each further one up to the longest, then spread over 50 to 100 %. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/**
 * Runs a read again after failures that may pass, until `retries` are used up; none begins after `deadline` (clock
 * milliseconds).
 * p-retry counts and decides; the waiting is ours, because it honours Retry-After and runs on the injected clock.
 * @throws what the last attempt threw, or the signal's reason
 */
export function retryRead<T>(
	attempt: () => Promise<T>,
	{
		retries,
		deadline,
		signal,
		clock,
		log,
		random = Math.random,
	}: {
		retries: number;
		deadline: number;
		signal?: AbortSignal | undefined;
		clock: Clock;
		log: Log;
		random?: () => number;
	},
): Promise<T> {
	return pRetry(attempt, {
		retries,
		minTimeout: 0,
		signal,
		async onFailedAttempt({ error, attemptNumber, retriesLeft }) {
			if (!(error instanceof SessionServiceError) || !PASSING.has(error.code) || retriesLeft === 0) throw error;
			const now = clock.now();
			const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attemptNumber - 1));
			const wait = error instanceof RateLimitedError ? error.retryAt - now : full * (0.5 + random() / 2);
			if (now + wait >= deadline) throw error;
			log.debug({ code: error.code, attempt: attemptNumber, waitMs: Math.round(wait) }, 'reading again');
			await clock.sleep(wait, signal);
		},
	});
}
