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
