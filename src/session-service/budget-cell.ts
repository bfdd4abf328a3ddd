import type { BudgetState } from './budget-state.ts';

/** Where the budget's state is kept: in memory, or a row of the database that replicas share. */
export interface BudgetCell {
	/**
	 * Runs `change` on the newest state (null at first), with nobody else in between, keeps the state it returns and
	 * resolves with its result. `change` is pure and may run again when the transaction does; when it returns the very
	 * state it got, nothing needs to be written.
	 */
	update<R>(change: (state: BudgetState | null) => { state: BudgetState; result: R }): Promise<R>;
}

/** The cell of a single process. */
export function createBudgetCell(): BudgetCell {
	let kept: BudgetState | null = null;
	return {
		async update(change) {
			const { state, result } = change(kept);
			kept = state;
			return result;
		},
	};
}
