import { CODINGS } from '../kernel/errors.ts';
import { nextTurn } from '../kernel/slices.ts';
import type { HttpResponse } from './exchange.ts';
import { type Operation, SessionServiceError } from './service.ts';

/**
 * The most arrays, objects and elements of a body, enough for thousands of messages. JSON.parse cannot be interrupted.
 * It takes 2 s and 1.5 GB for a million different keys, but 60 ms for 32 MB of prose.
 */
const MAX_PARTS = 100_000;

export const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

const utf8 = new TextDecoder();

/** Reads the JSON of a response, also given as text; null for anything else than a response to this operation. */
export type ReadJson<Value> = (value: unknown, json: string) => Value | null | Promise<Value | null>;

/**
 * What `read` finds in the JSON of a response; it returns null for a response to another operation.
 * @throws SessionServiceError `body_too_complex`, `not_a_list`, `coded_…` or `unreadable_answer` (a PUT may have saved)
 */
export async function readBody<T>(
	{ status, headers, body }: HttpResponse,
	operation: Operation,
	read: ReadJson<T>,
): Promise<T> {
	await nextTurn();
	const failed = (code: SessionServiceError['code'], what: string) => {
		const message = `The response of a ${operation} (status ${status}, ${body.length} bytes) ${what}`;
		return new SessionServiceError(code, message, { outcomeUnknown: operation === 'put' });
	};
	// We ask for `identity`. A compressed response is refused, so there is no danger of a decompression bomb.
	const coding = codingOf(headers);
	const coded = coding && failed(`coded_${coding}`, `has the content coding ${coding}`);
	if (coded !== null && coding !== 'other') throw coded;
	const text = utf8.decode(body);
	if (hasTooManyParts(text)) throw failed('body_too_complex', 'has too many parts');
	const result = await valueIn(text, read);
	if (result !== null) return result;
	// Some servers name a character set as the coding, so the code of the coding comes only after the body is unreadable.
	if (coded !== null) throw coded;
	throw failed(operation === 'list' ? 'not_a_list' : 'unreadable_answer', 'is not what was asked for');
}

/** Null when the text is not JSON, or nested too deep to be sent back. */
async function valueIn<T>(text: string, read: ReadJson<T>): Promise<T | null> {
	try {
		return await read(JSON.parse(text), text);
	} catch {
		// The parser's message quotes the body, which may contain secrets. So it is not even kept as a cause.
		return null;
	}
}

function hasTooManyParts(text: string): boolean {
	let parts = 0;
	for (let at = 0; at < text.length && parts <= MAX_PARTS; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfString(text, at);
		else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) parts++;
	}
	return parts > MAX_PARTS;
}

/** The index of the quote that ends the string that begins at `start`; the text's length when none does. */
export function endOfString(text: string, start: number): number {
	for (let from = start + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1) return text.length;
		let slash = quote - 1;
		while (text.charCodeAt(slash) === BACKSLASH) slash--;
		if ((quote - slash) % 2 === 1) return quote;
		from = quote + 1;
	}
}

/** The content coding; null: none. `other`: an unknown name such as `UTF-8`, with which the body may be readable. */
function codingOf(headers: HttpResponse['headers']): (typeof CODINGS)[number] | null {
	const codings = (headers.get('content-encoding') ?? '')
		.toLowerCase()
		.split(',')
		.map((one) => one.trim().replace(/^x-/, ''));
	const coding = codings.find((one) => !['', 'identity', 'none'].includes(one));
	return coding === undefined ? null : (CODINGS.find((known) => known === coding) ?? 'other');
}
