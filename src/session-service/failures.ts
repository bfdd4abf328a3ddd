import { decodeJson } from './answer-bodies.ts';
import {
	AbortedError,
	BodyTooLargeError,
	RateLimitedError,
	RedirectedError,
	RefusedError,
	SessionNotFoundError,
	type SessionServiceError,
	TimedOutError,
	UnauthorizedError,
	UnavailableError,
} from './errors.ts';
import type { ExchangeAnswer, ExchangeFailure } from './exchange.ts';
import { isMessageIndexRefusal } from './schema.ts';

/** Bytes: the exact JSON, with some room for white space. */
const LONGEST_REFUSAL = 1_000;

export type Operation = 'read' | 'put';

/** What an exchange without a whole answer means. A PUT's outcome is known only while nothing of it was written. */
export function errorOfFailure(
	failure: ExchangeFailure,
	operation: Operation,
	limitBytes: number,
): SessionServiceError {
	const outcomeUnknown = operation === 'put' && failure.sent;
	const about = `The session service's answer to a ${operation}`;
	switch (failure.kind) {
		case 'timeout':
			return new TimedOutError(`${about} did not come in time`, { cause: failure.cause, outcomeUnknown });
		case 'too_large':
			return new BodyTooLargeError(`${about} is larger than ${limitBytes} bytes`, { limitBytes, outcomeUnknown });
		case 'aborted':
			return new AbortedError(`The ${operation} was given up`, { cause: failure.cause, outcomeUnknown });
		case 'network':
			return new UnavailableError(`${about} did not come: ${failure.sent ? 'the connection broke' : 'no connection'}`, {
				cause: failure.cause,
				outcomeUnknown,
				status: failure.status,
			});
	}
}

/**
 * What an answer's status means when it is no success; null when it is (2xx, and 304 of a read).
 * By status alone, with one exception that is explained there.
 */
export function errorOfStatus(
	answer: ExchangeAnswer,
	operation: Operation,
	retry: { readonly now: number; readonly afterSeconds: number },
): SessionServiceError | null {
	const { status } = answer;
	const said = `The session service answered a ${operation} with ${status}`;
	if ((status >= 200 && status < 300) || (status === 304 && operation === 'read')) return null;
	if (status >= 300 && status < 400) {
		// 307 and 308 ask for the same request elsewhere; the other redirects may follow a request that was carried out.
		return new RedirectedError(said, { outcomeUnknown: operation === 'put' && status !== 307 && status !== 308 });
	}
	if (status === 401 || status === 403) return new UnauthorizedError(said);
	if (status === 404) return new SessionNotFoundError(said);
	if (status === 429) {
		return new RateLimitedError(said, { retryAt: retry.now + retry.afterSeconds * 1000, now: retry.now });
	}
	// 408: the service gave up waiting for the request; 425: it wants it again later. Neither is for good.
	if (status >= 500 || status === 408 || status === 425) return errorOfServerFailure(answer, operation, said);
	return new RefusedError(said, { status, reason: 'status' });
}

/**
 * A 500 is the service's way to say that the message index is out of range, too, and only the body tells it from a
 * service in trouble. This is the one place that looks at an error's text, and it takes nothing but the exact JSON
 * `{"error":"Failed to update human input"}`. Since the service may say it of an update that failed half-way as well,
 * the outcome stays unknown until the session has been read.
 */
function errorOfServerFailure(answer: ExchangeAnswer, operation: Operation, said: string): SessionServiceError {
	const outcomeUnknown = operation === 'put';
	const { status } = answer;
	const isShort = answer.body.length <= LONGEST_REFUSAL;
	if (operation === 'put' && status === 500 && isShort && isMessageIndexRefusal(decodeJson(answer.body).value)) {
		return new RefusedError(`${said}: no such message`, { status, reason: 'message_index', outcomeUnknown });
	}
	return new UnavailableError(said, { outcomeUnknown, status });
}
