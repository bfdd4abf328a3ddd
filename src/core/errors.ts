import { setBounded } from './values.ts';

/**
 * All errors that Handraise throws on purpose. Only `code` decides what is done; `slack/error-view.ts` makes text for
 * people. `retryable`: the same call may succeed later. `message` is for logs: no secrets, no text of a session.
 */
export class HandraiseError extends Error {
	readonly code: string;
	readonly retryable: boolean;
	/** When the next try makes sense, clock milliseconds; null when that is not known. */
	readonly retryAt: number | null;

	constructor(
		message: string,
		details: { code?: string; retryable?: boolean; retryAt?: number | null; cause?: unknown } = {},
	) {
		super(message, details.cause === undefined ? undefined : { cause: details.cause });
		this.name = new.target.name;
		this.code = details.code ?? 'internal';
		this.retryable = details.retryable ?? false;
		this.retryAt = details.retryAt ?? null;
	}
}

/** The content codings that words and codes name; any other is `other`. */
export const CODINGS = ['gzip', 'deflate', 'br', 'zstd', 'other'] as const;
export function codedCodes<T>(of: (coding: string) => T) {
	const codes = CODINGS.map((coding) => [`coded_${coding}`, of(coding)] as const);
	return Object.fromEntries(codes) as Record<(typeof codes)[number][0], T>;
}

export const codeOf = (error: unknown) => (error instanceof HandraiseError ? error.code : 'internal');

/** The longest Retry-After that is honored, in milliseconds. A proxy that says "in a day" is asked again sooner. */
export const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

/** The shortest wait that is believed, in milliseconds: whoever says "Retry-After: 0" would be asked again at once, for ever. */
export const LEAST_RETRY_AFTER_MS = 1_000;

/** Milliseconds: `firstMs` after one failure, doubled for each up to `longestMs`; or `askedMs` by the other side, at least `firstMs`. */
export function backOff(
	failures: number,
	{ firstMs, longestMs }: { firstMs: number; longestMs: number },
	askedMs: number | null = null,
): number {
	if (askedMs !== null) return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(askedMs, firstMs));
	return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

const MAX_FAILING = 1_000;

/** Counts the failures in a row of each of many things; only the newest of them. */
export function createFailures() {
	const counts = new Map<string, number>();
	return {
		/** One more. Returns how many there were in a row. */
		add(key: string): number {
			const count = (counts.get(key) ?? 0) + 1;
			setBounded(counts, key, count, MAX_FAILING);
			return count;
		},
		end: (key: string) => void counts.delete(key),
	};
}

/**
 * Repeats `turn`, which resolves to the milliseconds until the next one, until the signal is aborted. After a failure it goes
 * on after `retryMs`; `onFailure` gets its code, unless the turn before failed with the same. Never rejects.
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
