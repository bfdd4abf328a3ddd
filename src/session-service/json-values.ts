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
