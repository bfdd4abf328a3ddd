/**
 * The class of all errors that Handraise throws on purpose. `code` alone decides what is done; `slack/error-view.ts`
 * turns it into words for people. `retryable`: the same call may succeed later. `message` is for logs: no secrets, no
 * text of a session.
 */
export class HandraiseError extends Error {
	readonly code: string;
	readonly retryable: boolean;
	/** When to try again, clock milliseconds; null: not known. */
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

/** The content codings that have a code and words of their own. Any other is `other`. */
export const CODINGS = ['gzip', 'deflate', 'br', 'zstd', 'other'] as const;

/** A record with a value for the code of each content coding, such as `coded_gzip`. */
export function codedCodes<T>(of: (coding: string) => T) {
	const codes = CODINGS.map((coding) => [`coded_${coding}`, of(coding)] as const);
	return Object.fromEntries(codes) as Record<(typeof codes)[number][0], T>;
}

export const codeOf = (error: unknown) => (error instanceof HandraiseError ? error.code : 'internal');

/** The disk is full, I/O failed, or the database is unreachable or too slow. The same call may succeed later. */
export class StoreUnavailableError extends HandraiseError {
	/** The write may be committed: the connection was lost, the database did not respond in time, or a sync failed. */
	readonly commitUnknown: boolean;

	constructor(message: string, { cause, commitUnknown = false }: { cause?: unknown; commitUnknown?: boolean } = {}) {
		super(message, { code: 'store_unavailable', retryable: true, cause });
		this.commitUnknown = commitUnknown;
	}
}
