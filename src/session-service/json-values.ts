/**
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
	const text = asText(value);
	return text === '' ? null : text;
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
