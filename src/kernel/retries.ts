import { MINUTE_MS } from './clock.ts';
import { codeOf, HandraiseError } from './errors.ts';

/** The longest Retry-After that is obeyed. A proxy that says "in a day" is asked again sooner. */
export const LONGEST_RETRY_AFTER_MS = 5 * MINUTE_MS;

/** The shortest Retry-After that is obeyed. With "Retry-After: 0", calls would be repeated without a pause. */
export const LEAST_RETRY_AFTER_MS = 1_000;

/**
 * The wait after a number of failures, in ms: `firstMs`, doubled for each further one up to `longestMs`. `askedMs`: the
 * wait that the other side asked for, which is used instead, if it is at least `firstMs`.
 */
export function backOff(
	failures: number,
	{ firstMs, longestMs }: { firstMs: number; longestMs: number },
	askedMs: number | null = null,
): number {
	if (askedMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(askedMs, firstMs));
	return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/**
 * Repeats `turn` until the signal is aborted. `turn` resolves to the milliseconds until the next one; after a failure
 * they are `retryMs`. `onFailure` gets the failure's code, unless the last turn failed with the same. Never rejects.
 */
export async function repeatUntilAborted(
	pause: (ms: number, signal: AbortSignal) => Promise<unknown>,
	signal: AbortSignal,
	turn: () => Promise<number>,
	{ retryMs, onFailure }: { readonly retryMs: number; readonly onFailure: (code: string) => void },
): Promise<void> {
	let problem: string | null = null;
	while (!signal.aborted) {
		const outcome = await turn().catch(codeOf);
		const code = typeof outcome === 'string' ? outcome : null;
		if (code !== null && code !== problem && !signal.aborted) onFailure(code);
		problem = code;
		await pause(typeof outcome === 'number' ? outcome : retryMs, signal).catch(() => undefined);
	}
}

/** The `retryAt` of an error, clock milliseconds, at most `LONGEST_RETRY_AFTER_MS` from now; null: it has none. */
export function retryAtOf(error: unknown, now: number): number | null {
	if (!(error instanceof HandraiseError) || error.retryAt === null) return null;
	return Math.min(error.retryAt, now + LONGEST_RETRY_AFTER_MS);
}
