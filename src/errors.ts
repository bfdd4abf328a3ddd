/**
 * What everything that Handraise throws on purpose is or extends. A subclass exists only where code asks for it by
 * `instanceof` or reads what it carries; the others are told apart by their `code`.
 *
 * `code` is stable: code decides by it, never by the message. `retryable` says whether the same call may succeed
 * later without anybody changing anything. `message` is for operators' logs and holds no secret and no untrusted text
 * of a session; what a person is told is put together at the Slack edge from `code`.
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

/** The stable code of what was thrown; `internal` for what nobody foresaw. */
export function codeOf(error: unknown): string {
	return error instanceof HandraiseError ? error.code : 'internal';
}

/**
 * The longest pause that a service's "try again later" is believed, in milliseconds, for reads, answers and the request
 * budget alike: a proxy that says "in a day" is asked again sooner.
 */
export const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

/**
 * When the service said that the next try makes sense, milliseconds since the epoch and no later than
 * `LONGEST_RETRY_AFTER_MS` from `now`; null when it did not say.
 */
export function retryAtOf(error: unknown, now: number): number | null {
	return error instanceof HandraiseError && 'retryAt' in error && typeof error.retryAt === 'number'
		? Math.min(error.retryAt, now + LONGEST_RETRY_AFTER_MS)
		: null;
}
