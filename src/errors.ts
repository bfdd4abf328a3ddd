/**
 * The class of all errors that Handraise throws on purpose. Only `code` decides how an error is handled. `retryable`:
 * the same call may succeed later without a change. `message` is for operators' logs: no secrets and no text of a
 * session. `slack/blocks/errors.ts` turns codes into text for people.
 */
export class HandraiseError extends Error {
	readonly code: string;
	readonly retryable: boolean;

	constructor(
		message: string,
		{ code = 'internal', retryable = false, cause }: { code?: string; retryable?: boolean; cause?: unknown } = {},
	) {
		super(message, cause === undefined ? undefined : { cause });
		this.name = new.target.name;
		this.code = code;
		this.retryable = retryable;
	}
}

/** `internal` for an unexpected error. */
export function codeOf(error: unknown): string {
	return error instanceof HandraiseError ? error.code : 'internal';
}

/** The longest Retry-After that is honored, in milliseconds. A proxy that says "in a day" is asked again sooner. */
export const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

/** The error's `retryAt`, at most `LONGEST_RETRY_AFTER_MS` after `now`; null when the error has none. */
export function retryAtOf(error: unknown, now: number): number | null {
	if (!(error instanceof HandraiseError && 'retryAt' in error && typeof error.retryAt === 'number')) return null;
	return Math.min(error.retryAt, now + LONGEST_RETRY_AFTER_MS);
}
