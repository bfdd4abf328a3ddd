/** A JSON object from an app: check every field before use. */
export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function str(value: unknown, key: string): string {
	const found = isRecord(value) ? value[key] : undefined;
	return typeof found === 'string' ? found : '';
}

export function list(value: unknown, key: string): Json[] {
	const found = isRecord(value) ? value[key] : undefined;
	return Array.isArray(found) ? found.filter(isRecord) : [];
}

export function obj(value: unknown, key: string): Json | null {
	const found = isRecord(value) ? value[key] : undefined;
	return isRecord(found) ? found : null;
}
