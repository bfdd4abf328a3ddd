import { type Operation, SessionServiceError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';

/**
 * The most arrays, objects and elements of a body: some thousands of messages. JSON.parse cannot be interrupted, and
 * takes 2 s and 1.5 GB for a million different keys, but 60 ms for 32 MB of prose (`npm run bench:schema`).
 */
const MAX_PARTS = 100_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

const utf8 = new TextDecoder();

/**
 * What `read` finds in the JSON of a response; it returns null for anything else than a response to this operation.
 * @throws SessionServiceError `body_too_complex`, `not_a_list` for a list, else `unreadable_answer`: an empty body, a proxy's
 * page or foreign JSON says nothing about a session, nor about what a PUT saved
 */
export function readBody<T>(
	{ status, headers, body }: HttpResponse,
	operation: Operation,
	read: (value: unknown) => T | null,
): T {
	const outcomeUnknown = operation === 'put';
	// We ask for `identity`. A compressed response is not decompressed, so there is no danger of a decompression bomb.
	const isPlain = (headers.get('content-encoding') ?? 'identity') === 'identity';
	const text = isPlain ? utf8.decode(body) : '';
	const about = `of a ${operation} (status ${status}, ${body.length} bytes)`;
	if (hasTooManyParts(text)) {
		throw new SessionServiceError('body_too_complex', `The response ${about} has too many parts`, { outcomeUnknown });
	}
	const result = read(parsed(text));
	if (result !== null) return result;
	const code = operation === 'list' ? 'not_a_list' : 'unreadable_answer';
	throw new SessionServiceError(code, `The response ${about} is not what was asked for`, { outcomeUnknown });
}

/** The JSON value of a text; undefined when it is not JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The parser's message quotes the body, which may contain secrets: it is not kept, not even as a cause.
		return undefined;
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
function endOfString(text: string, start: number): number {
	for (let from = start + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1) return text.length;
		let slash = quote - 1;
		while (text.charCodeAt(slash) === BACKSLASH) slash--;
		if ((quote - slash) % 2 === 1) return quote;
		from = quote + 1;
	}
}

/* Lenient readers for values from JSON.parse: they never throw. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is an object and no array; else null. */
export function asObject(value: unknown): JsonObject | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** Strings unchanged, numbers and booleans as JSON, everything else as the empty string. */
export function asText(value: unknown): string {
	if (typeof value === 'string') return value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function asTextOrNull(value: unknown): string | null {
	return asText(value) || null;
}

export function asArray(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** A container that is being written; `keys` is null for an array. */
interface Open {
	readonly keys: readonly string[] | null;
	readonly values: readonly unknown[];
	next: number;
}

/**
 * The value as JSON, however deep it is nested: JSON.stringify is recursive and throws a RangeError at some thousand
 * levels. A number too large for a double (`1e400` in the body) stays a number.
 */
export function jsonTextOf(value: unknown): string {
	const parts: string[] = [];
	const stack: Open[] = [];
	function write(element: unknown): void {
		if (typeof element === 'object' && element !== null) {
			const keys = Array.isArray(element) ? null : Object.keys(element);
			stack.push({ keys, values: keys === null ? (element as unknown[]) : Object.values(element), next: 0 });
			parts.push(keys === null ? '[' : '{');
		} else if (typeof element === 'number' && !Number.isFinite(element)) parts.push(element > 0 ? '1e400' : '-1e400');
		else parts.push(JSON.stringify(element));
	}
	write(value);
	for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
		const { keys, values, next } = open;
		if (next === values.length) {
			parts.push(keys === null ? ']' : '}');
			stack.pop();
			continue;
		}
		open.next++;
		if (next > 0) parts.push(',');
		if (keys !== null) parts.push(JSON.stringify(keys[next]), ':');
		write(values[next]);
	}
	return parts.join('');
}
