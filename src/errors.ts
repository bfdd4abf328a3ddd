/**
 * The one base class of everything Handraise throws on purpose.
 *
 * `code` is stable: code decides by it, never by the message. `retryable` says whether the same call may succeed
 * later without anybody changing anything. `message` is for operators' logs and holds no secret and no untrusted text
 * of a session; what a person is told is put together at the Slack edge from `code` (and `details`).
 */
export abstract class HandraiseError extends Error {
	abstract readonly code: string;
	abstract readonly retryable: boolean;

	constructor(message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = new.target.name;
	}
}

/** The stable code of what was thrown; `internal` for what nobody foresaw. */
export function codeOf(error: unknown): string {
	return error instanceof HandraiseError ? error.code : 'internal';
}

/** When the service said that the next try makes sense, milliseconds since the epoch; null when it did not. */
export function retryAtOf(error: unknown): number | null {
	return error instanceof HandraiseError && 'retryAt' in error && typeof error.retryAt === 'number'
		? error.retryAt
		: null;
}
