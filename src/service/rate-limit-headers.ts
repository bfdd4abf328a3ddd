import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import type { HttpResponse } from './exchange.ts';
import type { RateLimitObservation } from './token-bucket.ts';

/** The length of the service's window, for a 429 that does not say how long to wait. */
const DEFAULT_PAUSE_SECONDS = 60;

/**
 * Reads `RateLimit-*` and, for a 429, `Retry-After`. (The seconds in the service's body are wrong.) `elapsedMs`: since
 * the request was sent. The service may have counted the request that much earlier.
 */
export function readRateLimit(
	{ status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
	now: number,
	elapsedMs: number,
): RateLimitObservation {
	const remaining = wholeNumber(headers.get('ratelimit-remaining'));
	const reset = wholeNumber(headers.get('ratelimit-reset'));
	const resetSeconds = reset === undefined ? undefined : Math.max(0, reset - elapsedMs / 1000);
	const after = retryAfter(headers.get('retry-after'), now) ?? reset ?? DEFAULT_PAUSE_SECONDS;
	const retryAfterSeconds = status === 429 ? Math.min(after, LONGEST_RETRY_AFTER_MS / 1000) : undefined;
	return { limit: limitPerMinute(headers), remaining, resetSeconds, retryAfterSeconds };
}

/** Requests a minute by the strictest policy of these headers (`250;w=60`: seconds), else by the limit; at least 1. */
export function limitPerMinute(headers: { get(name: string): string | null | undefined }): number | undefined {
	const stated = `${headers.get('ratelimit-limit') ?? ''},${headers.get('ratelimit-policy') ?? ''}`.slice(0, 1_000);
	const limit = /^\s*([1-9]\d{0,8})\b/.exec(stated)?.[1];
	if (limit === undefined) return undefined;
	const policies = Array.from(stated.matchAll(/\b([1-9]\d{0,8})\s*;[^,]*\bw=([1-9]\d{0,8})/g), ([, count, seconds]) =>
		Math.max(1, Math.floor((Number(count) * 60) / Number(seconds))),
	);
	return policies.length === 0 ? Number(limit) : Math.min(...policies);
}

function wholeNumber(value: string | undefined): number | undefined {
	return value !== undefined && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : undefined;
}

/** `Retry-After` in seconds. HTTP allows seconds or a date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
	const seconds = wholeNumber(value);
	if (seconds !== undefined || value === undefined) return seconds;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
