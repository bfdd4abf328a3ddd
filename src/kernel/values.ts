import { createHash } from 'node:crypto';
import type { z } from 'zod';

/** A type read-only at every depth: of values that a schema read. */
export type DeepReadonly<Value> = Value extends object
	? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
	: Value;

export function pick<T extends object, Key extends keyof T>(from: T, ...keys: readonly Key[]): Pick<T, Key> {
	return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>;
}

/** Null for null, and for text that is no JSON or does not fit the schema. */
export function parseOrNull<T>(schema: z.ZodType<T>, json: string | null): T | null {
	if (json === null) return null;
	try {
		return schema.safeParse(JSON.parse(json)).data ?? null;
	} catch {
		return null;
	}
}

/** A host has at most 253 characters; before it stands a scheme, behind it a port. */
const LONGEST_HOST = 300;

/** Null for what is no URL, or has a longer host: parsing takes as long as the square of its different letters. */
export function parseAddress(address: string): URL | null {
	const beforePath = /^[^/\\?#]*[/\\]*[^/\\?#]*/.exec(address)?.[0] ?? '';
	return beforePath.length - beforePath.lastIndexOf('@') > LONGEST_HOST ? null : URL.parse(address);
}

/** Such as of the JSON of a view: with the same hash, two look the same. */
export const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** One spelling for an address: small letters in the host, no default port, no slash at the end. */
export const normalAddress = (url: string) => new URL(url).href.replace(/\/+$/, '');
