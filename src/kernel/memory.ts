import { type Clock, STEP_MS, uptimeOf } from './clock.ts';

/** Sets an entry as the newest one, and removes the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
}

/** Enough for the people who use the app within a few minutes. */
const MAX_CACHED = 10_000;

/**
 * Caches the results of `ask`. The caller of `get` says how old a result may be. Callers for one key share a call. A
 * failure is kept for `failureAgeMs`. With 0, the former result stays after a failure.
 */
export function createCache<Value>(
	clock: Clock,
	ask: (key: string, signal?: AbortSignal) => Promise<Value>,
	{ failureAgeMs = 0, limit = MAX_CACHED } = {},
) {
	const entries = new Map<string, { readonly value: Promise<Value>; at: number; limitMs: number }>();

	/** Whether `get` would return a cached result. */
	function has(key: string, maxAgeMs: number): boolean {
		const { at, limitMs } = entries.get(key) ?? { at: 0, limitMs: 0 };
		return uptimeOf(clock) - at < Math.min(maxAgeMs, limitMs);
	}

	return {
		has,
		get(key: string, maxAgeMs: number, signal?: AbortSignal): Promise<Value> {
			const known = entries.get(key);
			if (known !== undefined && has(key, maxAgeMs)) return known.value;
			const entry = { value: ask(key, signal), at: uptimeOf(clock), limitMs: Number.POSITIVE_INFINITY };
			setBounded(entries, key, entry, limit);
			entry.value.catch(() => {
				Object.assign(entry, { at: uptimeOf(clock), limitMs: failureAgeMs });
				if (failureAgeMs === 0 && known !== undefined) entries.set(key, known);
			});
			return entry.value;
		},
		forget: (key: string) => void entries.delete(key),
	};
}

/** A function whose callers share the result while it runs. */
export function shareRunning<T>(run: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | null = null;
	return () => {
		running ??= run().finally(() => {
			running = null;
		});
		return running;
	};
}

/** A state in memory, or in a row that replicas share (`store/shared-states.ts`). */
export interface SharedState<S> {
	/**
	 * Calls `change` with the newest state (null at first) and keeps the state that it returns. Updates run one after the
	 * other. `change` is pure and may run more than once; if it returns the object that it got, nothing is written.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/**
 * A value of this process that holds clock times. It begins anew when the clock was set back since the last use,
 * because its times would then lie too far ahead.
 */
export function createMemo<Value>(clock: Clock, begin: () => Value) {
	let value = begin();
	let usedAt = Number.NEGATIVE_INFINITY;
	return {
		get(): Value {
			const now = clock.now();
			if (usedAt > now + STEP_MS) value = begin();
			usedAt = now;
			return value;
		},
		set(next: Value): void {
			value = next;
			usedAt = clock.now();
		},
	};
}

/** A `SharedState` for a single process. */
export function createMemoryState<S>(clock: Clock): SharedState<S> {
	const memo = createMemo<S | null>(clock, () => null);
	return {
		async update(change) {
			const { state, result } = change(memo.get());
			memo.set(state);
			return result;
		},
	};
}
