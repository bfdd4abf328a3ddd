import type { z } from 'zod';
import { type Clock, uptimeOf } from './clock.ts';

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

/** Sets an entry as the newest one, and drops the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
}

/** Enough for the people who use the app within a few minutes. */
const MAX_CACHED = 10_000;
/** So that requests about somebody unknown do not use up Slack's limit of about 100 calls a minute. */
const NULL_MAX_AGE_MS = 10_000;

/**
 * Keeps what `ask` resolved to: null for ten seconds, other values as long as a caller of `get` allows. Requests for a key
 * share a call. A failure is kept for `failureAgeMs`; when it is 0, an older value stays for those whom it is young enough.
 */
export function createCache<Value>(
	clock: Clock,
	ask: (key: string, signal?: AbortSignal) => Promise<Value>,
	failureAgeMs = 0,
) {
	const entries = new Map<string, { readonly value: Promise<Value>; at: number; limitMs: number }>();
	return {
		get(key: string, maxAgeMs: number, signal?: AbortSignal): Promise<Value> {
			const now = uptimeOf(clock);
			const known = entries.get(key);
			if (known !== undefined && now - known.at < Math.min(maxAgeMs, known.limitMs)) return known.value;
			const entry = { value: ask(key, signal), at: now, limitMs: Number.POSITIVE_INFINITY };
			setBounded(entries, key, entry, MAX_CACHED);
			entry.value.then(
				(value) => {
					if (value === null) entry.limitMs = NULL_MAX_AGE_MS;
				},
				() => {
					Object.assign(entry, { at: uptimeOf(clock), limitMs: failureAgeMs });
					if (failureAgeMs === 0 && known !== undefined) entries.set(key, known);
				},
			);
			return entry.value;
		},
		forget: (key: string) => void entries.delete(key),
	};
}

/** A state in memory, or in a row of the database that replicas share (`database/postgres.ts`). */
export interface Cell<S> {
	/**
	 * Calls `change` with the newest state (null at first) and keeps the state that it returns. Updates run one after the
	 * other. `change` is pure and may run more than once; if it returns the object that it got, nothing is written.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/** The cell of a single process. A step of `clock` empties it, because the times in it are wrong then. */
export function createMemoryCell<S>(clock?: Clock): Cell<S> {
	let kept: S | null = null;
	clock?.onStep?.(() => {
		kept = null;
	});
	return {
		async update(change) {
			const { state, result } = change(kept);
			kept = state;
			return result;
		},
	};
}
