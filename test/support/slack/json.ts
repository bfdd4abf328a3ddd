/** A JSON object whose shape is somebody else's business. */
export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The string at a key, or undefined when there is none. */
export function text(value: unknown, key: string): string | undefined {
	const found = isRecord(value) ? value[key] : undefined;
	return typeof found === 'string' ? found : undefined;
}

/** The objects of an array at a key; everything else in it is left out. */
export function records(value: unknown, key: string): Json[] {
	const found = isRecord(value) ? value[key] : undefined;
	return Array.isArray(found) ? found.filter(isRecord) : [];
}

/** The object at a key, or undefined. */
export function record(value: unknown, key: string): Json | undefined {
	const found = isRecord(value) ? value[key] : undefined;
	return isRecord(found) ? found : undefined;
}

/** Slack's booleans in forms come as "true", "1" or true. */
export function flag(value: unknown): boolean {
	return value === true || value === 'true' || value === '1' || value === 1;
}
