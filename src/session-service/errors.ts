import { HandraiseError } from '../errors.ts';

export type SessionServiceErrorCode =
	| 'unauthorized'
	| 'session_not_found'
	| 'rate_limited'
	| 'unavailable'
	| 'timed_out'
	| 'refused'
	| 'unreadable_answer'
	| 'body_too_large'
	| 'body_too_complex'
	| 'request_too_large'
	| 'redirected'
	| 'aborted'
	| 'invalid_session_id';

/**
 * Everything a call to the session service throws, besides the reason of a caller's own signal on a read.
 * Messages name the operation and the status, never the answer's text, the key or an address.
 */
export abstract class SessionServiceError extends HandraiseError {
	abstract override readonly code: SessionServiceErrorCode;
	/**
	 * Whether the call may have changed the session all the same. Always false for a read. For a PUT it is false only
	 * where the service certainly saved nothing (never connected, refused before it was sent, 401, 403, 404, 429 and
	 * the other 4xx); when true, read and compare before sending again.
	 */
	readonly outcomeUnknown: boolean;

	constructor(message: string, options: { cause?: unknown; outcomeUnknown?: boolean } = {}) {
		super(message, 'cause' in options ? { cause: options.cause } : {});
		this.outcomeUnknown = options.outcomeUnknown ?? false;
	}
}

/** 401 or 403: the key is missing, wrong or was revoked. Retryable: an operator can mend it while an answer waits. */
export class UnauthorizedError extends SessionServiceError {
	override readonly code = 'unauthorized';
	override readonly retryable = true;
}

/** 404: no session with this id for this key (one of another account reads the same). */
export class SessionNotFoundError extends SessionServiceError {
	override readonly code = 'session_not_found';
	override readonly retryable = false;
}

/** 429, or the request budget knows already that nothing may be sent before the caller's deadline. Nothing was saved. */
export class RateLimitedError extends SessionServiceError {
	override readonly code = 'rate_limited';
	override readonly retryable = true;
	/** Clock time in milliseconds at which the next try makes sense. */
	readonly retryAt: number;
	/** The same, as milliseconds from when this was thrown. */
	readonly retryAfterMs: number;

	constructor(message: string, options: { cause?: unknown; retryAt: number; now: number }) {
		super(message, options);
		this.retryAt = options.retryAt;
		this.retryAfterMs = Math.max(0, options.retryAt - options.now);
	}
}

/** 5xx, no connection, or a connection that broke. */
export class UnavailableError extends SessionServiceError {
	override readonly code = 'unavailable';
	override readonly retryable = true;
	/** The answer's status, or null when there was no answer. */
	readonly status: number | null;

	constructor(message: string, options: { cause?: unknown; outcomeUnknown?: boolean; status?: number | null } = {}) {
		super(message, options);
		this.status = options.status ?? null;
	}
}

/** No connection, no headers, a stalled body, or the whole call took too long. */
export class TimedOutError extends SessionServiceError {
	override readonly code = 'timed_out';
	override readonly retryable = true;
}

/** The service will not accept this request, however often it is sent. */
export class RefusedError extends SessionServiceError {
	override readonly code = 'refused';
	override readonly retryable = false;
	readonly status: number;
	/**
	 * `message_index`: the service's words for an index out of range. It might use the same words for another failed
	 * update, so read the session before giving up: when the index exists there, treat it like `unavailable`.
	 */
	readonly reason: 'status' | 'message_index';

	constructor(
		message: string,
		options: { status: number; reason: 'status' | 'message_index'; outcomeUnknown?: boolean; cause?: unknown },
	) {
		super(message, options);
		this.status = options.status;
		this.reason = options.reason;
	}
}

/** An answer that is not what the service sends: HTML of a proxy, truncated or foreign JSON, wrong types. */
export class UnreadableAnswerError extends SessionServiceError {
	override readonly code = 'unreadable_answer';
	override readonly retryable = true;
}

/** The answer's body is larger than this client holds. */
export class BodyTooLargeError extends SessionServiceError {
	override readonly code = 'body_too_large';
	override readonly retryable = false;
	readonly limitBytes: number;

	constructor(message: string, options: { limitBytes: number; outcomeUnknown?: boolean }) {
		super(message, options);
		this.limitBytes = options.limitBytes;
	}
}

/** The answer's body has more parts (messages, keys, arrays within arrays) than this client reads. */
export class BodyTooComplexError extends SessionServiceError {
	override readonly code = 'body_too_complex';
	override readonly retryable = false;
}

/** The PUT would be larger than the service takes (100 kB): it was not sent. */
export class RequestTooLargeError extends SessionServiceError {
	override readonly code = 'request_too_large';
	override readonly retryable = false;
	readonly bytes: number;
	readonly limitBytes: number;

	constructor(message: string, options: { bytes: number; limitBytes: number }) {
		super(message);
		this.bytes = options.bytes;
		this.limitBytes = options.limitBytes;
	}
}

/** A redirect that is not followed: to another origin, too many, or of a PUT. A wrong base address, mostly. */
export class RedirectedError extends SessionServiceError {
	override readonly code = 'redirected';
	override readonly retryable = false;
}

/** The caller's signal ended a PUT; `outcomeUnknown` says whether it had been sent by then. */
export class AbortedError extends SessionServiceError {
	override readonly code = 'aborted';
	override readonly retryable = true;
}

/**
 * An id that cannot be one path segment (empty, `.`, `..`, too long, with control characters) or is a word of the service's
 * own paths. Nothing was sent.
 */
export class InvalidSessionIdError extends SessionServiceError {
	override readonly code = 'invalid_session_id';
	override readonly retryable = false;
}
