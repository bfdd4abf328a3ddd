/**
 * One state that callers change one after the other: in memory, or in a row of the database that replicas share
 * (`store/shared-cells.ts`).
 */
export interface Cell<S> {
	/**
	 * Hands the newest state (null at first) to `change`, with nobody else in between, keeps the state it returns and
	 * resolves with its result. `change` is pure and may run more than once; when it returns the very object it got,
	 * nothing is written.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/** The cell of a single process. */
export function createMemoryCell<S>(): Cell<S> {
	let kept: S | null = null;
	return {
		async update(change) {
			const { state, result } = change(kept);
			kept = state;
			return result;
		},
	};
}
