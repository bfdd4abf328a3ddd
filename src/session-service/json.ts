/*
 * The cost of JSON.parse depends on a body's parts (arrays, objects, keys) far more than on its bytes. Measured with 6 to
 * 9 MB: 3 ms for prose, 35 ms for small objects of one form, 0.5 s for 3 million nested arrays, 2 s and 1.5 GB for a
 * million different keys in groups of a hundred. It cannot be interrupted. So the parts that nobody reads are removed
 * from bodies with many parts before parsing, at 2 to 4 ms a megabyte. A body that still has too many parts is not parsed.
 * For bodies of prose, Markdown or HTML this adds a few per cent to JSON.parse (`npm run bench:schema`).
 */

/** Bodies up to this size (512 KiB) are parsed as they are: the slowest took 80 ms. */
const SMALL_BYTES = 524_288;
/** Bodies with up to so many parts are parsed as they are: sessions of hundreds of messages have some ten thousand. */
const MANY_PARTS = 50_000;
/** The most parts of a body after the removal: some thousands of messages. The slowest took 80 ms. */
const MAX_PARTS = 100_000;

/** The sample: 32 bytes at a random place of every 16 KiB. */
const STRIDE = 16_384;
const WINDOW = 32;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What can follow `[` in JSON. In prose and logs mostly other letters do. */
const FIRST_OF_ARRAY: ReadonlySet<number> = new Set(Buffer.from('"{[]-0123456789tfn \n\r\t'));

/** Keys whose arrays and objects are read. */
const READ: ReadonlySet<string> = new Set([
	'session',
	'messages',
	'agent_data',
	'action',
	'human_input',
	'files',
	'sessionVariables',
	'content',
	'go_to_url',
	'done',
	'save_to_file',
	'updatedMessage',
]);
/** Keys whose arrays and objects are kept unchanged, because they are sent back to the service. */
const KEPT: ReadonlySet<string> = new Set(['title', 'description', 'value']);
const LONGEST_KEY = 40;

/** The body has more parts than this client reads. */
export class TooManyPartsError extends Error {}

const utf8 = new TextDecoder();

/** Of a list: the containers of all other keys, such as files with signed links, are removed before parsing. */
export const LIST_KEYS: ReadonlySet<string> = new Set(['sessions']);

/**
 * The body's JSON value; `value` is undefined when it is not JSON. `read`: keys whose arrays and objects are read; others
 * may be removed.
 * @throws TooManyPartsError
 */
export function decodeJson(body: Buffer, read = READ): { readonly value: unknown } {
	try {
		return { value: parseJson(body, utf8.decode(body), read) };
	} catch (error) {
		if (error instanceof TooManyPartsError) throw error;
		// The parser's message quotes the body, which may contain secrets: it is not kept, not even as a cause.
		return { value: undefined };
	}
}

/**
 * Parses a body; one with many parts without the arrays and objects that nobody reads.
 * @throws SyntaxError, TooManyPartsError
 */
export function parseJson(body: Uint8Array, text: string, read = READ): unknown {
	return JSON.parse(seemsIntricate(body) ? withoutUnread(text, read) : text);
}

/**
 * Whether a body seems to have many parts, estimated from a sample: looking at each byte takes longer than parsing most
 * bodies. The places of the sample are random, so that nobody can avoid them.
 */
export function seemsIntricate(body: Uint8Array): boolean {
	if (body.length <= SMALL_BYTES) return false;
	let parts = 0;
	for (let stride = 0; stride + STRIDE <= body.length; stride += STRIDE) {
		const from = stride + Math.floor(Math.random() * (STRIDE - WINDOW));
		for (let at = from; at < from + WINDOW; at++) if (looksLikePart(body, at)) parts++;
	}
	return parts * (STRIDE / WINDOW) > MANY_PARTS;
}

/** Whether an array, an object or a key's value seems to begin here; false in prose, and in JSON or code in a string. */
function looksLikePart(body: Uint8Array, at: number): boolean {
	const code = body[at];
	if (code === OPEN_ARRAY) return FIRST_OF_ARRAY.has(body[at + 1] ?? 0);
	if (code === OPEN_OBJECT) return body[at + 1] !== BACKSLASH;
	if (code !== COLON) return false;
	const before = body[at - 1] ?? 0;
	if (before !== QUOTE) return isSpace(before);
	let slash = at - 2;
	while (body[slash] === BACKSLASH) slash--;
	return (at - slash) % 2 === 0;
}

/**
 * Replaces each array or object under a key that nobody reads by `{}`. Invalid JSON stays invalid, except for brackets of
 * the wrong kind in what is replaced.
 * @throws TooManyPartsError when the result has too many parts
 */
export function withoutUnread(text: string, read = READ): string {
	const pieces: string[] = [];
	let from = 0;
	let parts = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (opens(code)) parts++;
		else if (code === QUOTE) {
			const end = endOfString(text, at);
			const value = valueAfter(text, end);
			if (value === null) at = end - 1;
			else {
				parts++;
				const key = keyAt(text, at, end);
				if (!opens(text.charCodeAt(value)) || read.has(key)) at = value - 1;
				else {
					const skipped = endOfContainer(text, value);
					if (KEPT.has(key)) parts += skipped.parts;
					else {
						pieces.push(text.slice(from, value), '{}');
						from = skipped.end;
					}
					at = skipped.end - 1;
				}
			}
		}
		if (parts > MAX_PARTS) throw new TooManyPartsError(`more than ${MAX_PARTS} parts`);
	}
	pieces.push(text.slice(from));
	return pieces.join('');
}

function keyAt(text: string, start: number, end: number): string {
	if (end - start > LONGEST_KEY) return '';
	const quoted = text.slice(start, end);
	return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

/** The index after the string that begins at `start`; the text's end when the string does not end. */
function endOfString(text: string, start: number): number {
	for (let from = start + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1) return text.length;
		let slash = quote - 1;
		while (text.charCodeAt(slash) === BACKSLASH) slash--;
		if ((quote - slash) % 2 === 1) return quote + 1;
		from = quote + 1;
	}
}

/** Where the value begins if the string that ends at `end` is a key; else null. */
function valueAfter(text: string, end: number): number | null {
	const colon = afterSpace(text, end);
	return text.charCodeAt(colon) === COLON ? afterSpace(text, colon + 1) : null;
}

function afterSpace(text: string, start: number): number {
	let at = start;
	while (isSpace(text.charCodeAt(at))) at++;
	return at;
}

/** The index after the array or object that begins at `start`, and how many parts it has. */
function endOfContainer(text: string, start: number): { readonly end: number; readonly parts: number } {
	let depth = 0;
	let parts = 0;
	for (let at = start; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfString(text, at) - 1;
		else if (code === COLON) parts++;
		else if (opens(code)) {
			depth++;
			parts++;
		} else if ((code === CLOSE_ARRAY || code === CLOSE_OBJECT) && --depth === 0) return { end: at + 1, parts };
	}
	return { end: text.length, parts };
}

function opens(code: number): boolean {
	return code === OPEN_ARRAY || code === OPEN_OBJECT;
}

function isSpace(code: number): boolean {
	return code === SPACE || code === LINE_FEED || code === RETURN || code === TAB;
}

/*
 * Lenient readers for values from JSON.parse: they never throw. Written by hand because they run for every message of
 * sessions of several megabytes (`schema.ts` has the measurement).
 */

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

/** A non-empty text, or null. */
export function asTextOrNull(value: unknown): string | null {
	return asText(value) || null;
}

/** The value if it is an array; else an empty one. */
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
