/**
 * What JSON.parse costs depends on a body's parts (arrays, objects, keys) far more than on its bytes. Measured with 6 to
 * 9 MB: 3 ms for prose, 35 ms for small objects of one form, 0.5 s for 3 million arrays within each other, 2 s and 1.5 GB
 * for a million different keys in groups of a hundred. It cannot be interrupted. So bodies with many parts lose those that
 * nobody reads before they are parsed, which takes 2 to 4 ms a megabyte, and those with too many others are not parsed at
 * all. For bodies of prose, Markdown or HTML all this adds a few per cent to JSON.parse (`npm run bench:schema`).
 */

/** Bodies up to this size (512 KiB) are parsed as they are: the costliest took 80 ms. */
const SMALL_BYTES = 524_288;
/** So many parts are parsed as they are, too: sessions of hundreds of messages have some ten thousand. */
const MANY_PARTS = 50_000;
/** What is left of a body may have so many parts, some thousands of messages. The costliest took 80 ms. */
const MOST_PARTS = 100_000;

/** Of every 16 KiB of a body, 32 bytes at a random place are looked at. */
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

/** What can follow `[` in JSON; in prose and logs other letters do mostly. */
const FIRST_OF_ARRAY: ReadonlySet<number> = new Set(Buffer.from('"{[]-0123456789tfn \n\r\t'));

/** Keys under which something is read that is no text: their arrays and objects are gone into. */
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
/** Keys whose arrays and objects are kept as they are: they are sent back to the service. */
const KEPT: ReadonlySet<string> = new Set(['title', 'description', 'value']);
const LONGEST_KEY = 40;

/** The body has more parts than this client reads. */
export class TooManyPartsError extends Error {}

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

/**
 * The JSON value of a body's text; of a body with many parts without the arrays and objects that nobody reads.
 * @throws SyntaxError, TooManyPartsError
 */
export function parseJson(body: Uint8Array, text: string): unknown {
	return JSON.parse(seemsIntricate(body) ? withoutUnread(text) : text);
}

/**
 * Whether a body seems to have many parts. An estimate from a sample, since looking at each byte would take longer than
 * parsing most bodies does; the sample's places are random, so nobody can write around them.
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

/** Whether an array, an object or a key's value seems to begin here. Not in prose, nor in JSON or code within a string. */
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
 * The text with `{}` in the place of each array or object under a key that nobody reads. What is no JSON stays none, but
 * for brackets of the wrong kind in what is left out.
 * @throws TooManyPartsError when what is left has too many
 */
export function withoutUnread(text: string): string {
	const kept: string[] = [];
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
				if (!opens(text.charCodeAt(value)) || READ.has(key)) at = value - 1;
				else {
					const skipped = endOfContainer(text, value);
					if (KEPT.has(key)) parts += skipped.parts;
					else {
						kept.push(text.slice(from, value), '{}');
						from = skipped.end;
					}
					at = skipped.end - 1;
				}
			}
		}
		if (parts > MOST_PARTS) throw new TooManyPartsError(`more than ${MOST_PARTS} parts`);
	}
	kept.push(text.slice(from));
	return kept.join('');
}

function keyAt(text: string, start: number, end: number): string {
	if (end - start > LONGEST_KEY) return '';
	const quoted = text.slice(start, end);
	return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

/** The index after the string that begins at `start`; the text's end when it has none. */
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

/** Where the value begins when the string that ends at `end` is a key; null when it is none. */
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
 * Lenient readers for values that came out of JSON.parse: what a sensible person would read, never an exception.
 * Hand-written because they run for every message of sessions of several megabytes (`schema.ts` has the measurement).
 */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object with named fields; null for arrays, null and everything else. */
export function asObject(value: unknown): JsonObject | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** Strings as they are, numbers and booleans in their JSON form, anything else as the empty string. */
export function asText(value: unknown): string {
	if (typeof value === 'string') return value;
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** A non-empty text, or null. */
export function asTextOrNull(value: unknown): string | null {
	return asText(value) || null;
}

/** The elements of an array; none for everything else. */
export function asArray(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** A container that is being written: the values that are left, with their keys where it is an object. */
interface Open {
	readonly keys: readonly string[] | null;
	readonly values: readonly unknown[];
	next: number;
}

/**
 * The value as JSON, however deep it is nested: JSON.stringify calls itself for each level and ends in a RangeError at
 * some thousands. A number too large for a double (`1e400` in the body) stays one.
 */
export function jsonTextOf(value: unknown): string {
	const parts: string[] = [];
	const stack: Open[] = [];
	function write(one: unknown): void {
		if (typeof one === 'object' && one !== null) {
			const keys = Array.isArray(one) ? null : Object.keys(one);
			stack.push({ keys, values: keys === null ? (one as unknown[]) : Object.values(one), next: 0 });
			parts.push(keys === null ? '[' : '{');
		} else if (typeof one === 'number' && !Number.isFinite(one)) parts.push(one > 0 ? '1e400' : '-1e400');
		else parts.push(JSON.stringify(one));
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
