import { createHash } from 'node:crypto';
import type { z } from 'zod';

/** A type that is read-only at every depth, for values that a schema has read. */
export type DeepReadonly<Value> = Value extends object
	? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
	: Value;

export function pick<T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> {
	return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;
}

/** The value of a JSON text; null: the text is null, no JSON, or does not fit the schema. */
export function parseOrNull<T>(schema: z.ZodType<T>, json: string | null): T | null {
	if (json === null) return null;
	try {
		return schema.safeParse(JSON.parse(json)).data ?? null;
	} catch {
		return null;
	}
}

/** A host has at most 253 characters. A scheme stands before it, a port behind it. */
const LONGEST_HOST = 300;

/** Parses a URL; null: none, or its host is too long. Parsing takes quadratic time in a host's different letters. */
export function parseAddress(address: string): URL | null {
	const beforePath = /^[^/\\?#]*[/\\]*[^/\\?#]*/.exec(address)?.[0] ?? '';
	return beforePath.length - beforePath.lastIndexOf('@') > LONGEST_HOST ? null : URL.parse(address);
}

/** A short hash, to see whether two texts are equal, such as the JSON of two views. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** An address in its normal form: host in lower case, no default port, no slash at the end. */
export const normalAddress = (url: string) => new URL(url).href.replace(/\/+$/, '');
