import type { Session } from '../questions/session.ts';
import { BodyTooComplexError, UnreadableAnswerError } from './errors.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { parseJson, TooManyPartsError } from './json-parts.ts';
import { isPutSuccess, readSessionAnswer } from './schema.ts';

const utf8 = new TextDecoder();

/** The body's JSON value; `value` is undefined when it is not JSON. @throws TooManyPartsError */
export function decodeJson(body: Buffer): { readonly value: unknown } {
	try {
		return { value: parseJson(body, utf8.decode(body)) };
	} catch (error) {
		if (error instanceof TooManyPartsError) throw error;
		// The parser's own message quotes the body, which may hold secrets: it is not kept, not even as a cause.
		return { value: undefined };
	}
}

/** @throws UnreadableAnswerError, BodyTooComplexError */
export function readSessionFrom(answer: ExchangeAnswer, sessionId: string): Session {
	const read = () => readSessionAnswer(readJson(answer), sessionId);
	const session = answer.status === 200 ? unlessTooComplex(read, answer, false) : null;
	if (session === null) throw new UnreadableAnswerError(`No session in the answer (${describe(answer)})`);
	return session;
}

/**
 * Whether the PUT's answer is the service's own success. Anything else with a 2xx (a proxy's page, an empty body) says
 * nothing about what was saved.
 * @throws UnreadableAnswerError, BodyTooComplexError
 */
export function readPutAnswer(answer: ExchangeAnswer): void {
	if (unlessTooComplex(() => isPutSuccess(readJson(answer)), answer, true)) return;
	throw new UnreadableAnswerError(`No confirmation in the answer (${describe(answer)})`, { outcomeUnknown: true });
}

function readJson(answer: ExchangeAnswer): unknown {
	// `accept-encoding: identity` was asked for; who compresses all the same is not read, so there is no bomb to defuse.
	const encoding = answer.headers.get('content-encoding') ?? 'identity';
	return encoding === 'identity' ? decodeJson(answer.body).value : undefined;
}

function unlessTooComplex<T>(read: () => T, answer: ExchangeAnswer, outcomeUnknown: boolean): T {
	try {
		return read();
	} catch (error) {
		if (!(error instanceof TooManyPartsError)) throw error;
		throw new BodyTooComplexError(`Too many parts in the answer (${describe(answer)})`, { outcomeUnknown });
	}
}

function describe(answer: ExchangeAnswer): string {
	return `status ${answer.status}, ${answer.body.length} bytes`;
}
