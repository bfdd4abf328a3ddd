import type { Session } from '../questions/session.ts';
import { UnreadableAnswerError } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { isPutSuccess, readSessionAnswer } from './schema.ts';

const utf8 = new TextDecoder();

/** The body's JSON value; `value` is undefined when it is not JSON. */
export function decodeJson(body: Buffer): { readonly value: unknown } {
	try {
		return { value: JSON.parse(utf8.decode(body)) };
	} catch {
		// The parser's own message quotes the body, which may hold secrets: it is not kept, not even as a cause.
		return { value: undefined };
	}
}

/** @throws UnreadableAnswerError */
export function readSessionFrom(answer: ExchangeAnswer, sessionId: string): Session {
	const session = answer.status === 200 ? readSessionAnswer(readJson(answer), sessionId) : null;
	if (session === null) throw new UnreadableAnswerError(`No session in the answer (${describe(answer)})`);
	return session;
}

/**
 * Whether the PUT's answer is the service's own success. Anything else with a 2xx (a proxy's page, an empty body) says
 * nothing about what was saved.
 * @throws UnreadableAnswerError
 */
export function readPutAnswer(answer: ExchangeAnswer): void {
	if (isPutSuccess(readJson(answer))) return;
	throw new UnreadableAnswerError(`No confirmation in the answer (${describe(answer)})`, { outcomeUnknown: true });
}

function readJson(answer: ExchangeAnswer): unknown {
	// `accept-encoding: identity` was asked for; who compresses all the same is not read, so there is no bomb to defuse.
	const encoding = answer.headers.get('content-encoding') ?? 'identity';
	return encoding === 'identity' ? decodeJson(answer.body).value : undefined;
}

function describe(answer: ExchangeAnswer): string {
	return `status ${answer.status}, ${answer.body.length} bytes`;
}
