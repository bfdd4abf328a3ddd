import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { RateLimitObservation } from './budget-state.ts';

/** A 429 that does not say how long: as long as the service's window. */
const DEFAULT_PAUSE_SECONDS = 60;

/**
 * Reads `RateLimit-*` and, of a 429, `Retry-After`. Only headers: the service's plain sentence in the body names
 * another number of seconds (57 beside a header of 28 in one answer), and the header is the right one.
 *
 * @param elapsedMs since the request was sent: the service counts a request when it arrives and may answer seconds
 * later, so `RateLimit-Reset` is that much older
 */
export function readRateLimit(
	status: number,
	headers: ReadonlyMap<string, string>,
	now: number,
	elapsedMs: number,
): RateLimitObservation {
	const limit = seconds(headers.get('ratelimit-limit'));
	const remaining = seconds(headers.get('ratelimit-remaining'));
	const reset = seconds(headers.get('ratelimit-reset'));
	const resetSeconds = reset === undefined ? undefined : Math.max(0, reset - elapsedMs / 1000);
	const after = retryAfter(headers.get('retry-after'), now) ?? reset ?? DEFAULT_PAUSE_SECONDS;
	return {
		...(limit === undefined ? {} : { limit }),
		...(remaining === undefined ? {} : { remaining }),
		...(resetSeconds === undefined ? {} : { resetSeconds }),
		...(status === 429 ? { retryAfterSeconds: Math.min(after, LONGEST_RETRY_AFTER_MS / 1000) } : {}),
	};
}

function seconds(value: string | undefined): number | undefined {
	return value !== undefined && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : undefined;
}

/** Seconds, or a date as HTTP allows. */
function retryAfter(value: string | undefined, now: number): number | undefined {
	const plain = seconds(value);
	if (plain !== undefined || value === undefined) return plain;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
