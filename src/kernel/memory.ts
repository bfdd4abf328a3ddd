import { type Clock, STEP_MS, uptimeOf } from './clock.ts';

/** Sets an entry as the newest one, and drops the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
}

/** Enough for the people who use the app within a few minutes. */
const MAX_CACHED = 10_000;

/**
 * Keeps what `ask` resolved to as long as a caller of `get` allows. Requests for a key share a call. A failure is kept
 * for `failureAgeMs`; at 0, an older value stays while it is young enough.
 */
export function createCache<Value>(
	clock: Clock,
	ask: (key: string, signal?: AbortSignal) => Promise<Value>,
	{ failureAgeMs = 0, limit = MAX_CACHED } = {},
) {
	const entries = new Map<string, { readonly value: Promise<Value>; at: number; limitMs: number }>();

	/** Whether `get` asks nothing. */
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

/** Calls during a run share its result. */
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
export interface Cell<S> {
	/**
	 * Calls `change` with the newest state (null at first) and keeps the state that it returns. Updates run one after the
	 * other. `change` is pure and may run more than once; if it returns the object that it got, nothing is written.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/**
 * What this process remembers with times of the clock in it. It begins anew when the clock was set back since its last
 * use: such a time may then lie further ahead than it ever should.
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

/** The cell of a single process. */
export function createMemoryCell<S>(clock: Clock): Cell<S> {
	const memo = createMemo<S | null>(clock, () => null);
	return {
		async update(change) {
			const { state, result } = change(memo.get());
			memo.set(state);
			return result;
		},
	};
}
