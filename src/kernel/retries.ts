import { MINUTE_MS } from './clock.ts';
import { codeOf, HandraiseError } from './errors.ts';

/** The longest Retry-After that is honored. A proxy that says "in a day" is asked again sooner. */
export const LONGEST_RETRY_AFTER_MS = 5 * MINUTE_MS;

/** The shortest wait that is believed: whoever says "Retry-After: 0" would be asked again at once, for ever. */
export const LEAST_RETRY_AFTER_MS = 1_000;

/** `firstMs` after a failure, doubled for each up to `longestMs`; or the other side's `askedMs`, at least `firstMs`. */
export function backOff(
	failures: number,
	{ firstMs, longestMs }: { firstMs: number; longestMs: number },
	askedMs: number | null = null,
): number {
	if (askedMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(askedMs, firstMs));
	return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/**
 * Repeats `turn`, which resolves to the milliseconds until the next one, until the signal is aborted; after a failure,
 * after `retryMs`. `onFailure` gets its code, unless the turn before failed with the same. Never rejects.
 */
export async function repeat(
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

export function retryAtOf(error: unknown, now: number): number | null {
	if (!(error instanceof HandraiseError) || error.retryAt === null) return null;
	return Math.min(error.retryAt, now + LONGEST_RETRY_AFTER_MS);
}
