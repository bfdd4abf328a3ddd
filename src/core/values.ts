import type { Clock } from './clock.ts';

/** A type read-only at every depth: of values that a schema read. */
export type DeepReadonly<Value> = Value extends object
	? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
	: Value;

/** Sets an entry as the newest one, and drops the oldest one if there are more than `limit`. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
	map.delete(key);
	map.set(key, value);
	const oldest = map.keys().next();
	if (map.size > limit && !oldest.done) map.delete(oldest.value);
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
