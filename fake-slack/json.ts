/** A JSON object of unknown shape. */
export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWellFormed(value: unknown): boolean {
	if (typeof value === 'string') return value.isWellFormed();
	if (Array.isArray(value)) return value.every(isWellFormed);
	return !isRecord(value) || Object.entries(value).every(([key, one]) => key.isWellFormed() && isWellFormed(one));
}

/**
 * The value of a JSON text, or undefined when Slack cannot read it. Half a surrogate pair, which JavaScript silently
 * writes as an escape, is an error to PHP's parser ("Single unpaired high surrogate in Unicode escape").
 */
export function parseJson(body: string): unknown {
	try {
		const value: unknown = JSON.parse(body);
		return isWellFormed(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

/** The string at a key, or undefined when there is none. */
export function text(value: unknown, key: string): string | undefined {
	const found = isRecord(value) ? value[key] : undefined;
	return typeof found === 'string' ? found : undefined;
}

/** The text or number at a key as text; undefined when there is neither. */
export function scalar(value: Json, key: string): string | undefined {
	const found = value[key];
	return typeof found === 'number' ? String(found) : text(value, key);
}

/** The objects of an array at a key; other items are dropped. */
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
