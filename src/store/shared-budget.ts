import { lockRows, type StoreDatabase } from './database.ts';

/** One value that replicas change in turn: the request budget's `BudgetCell`, whatever its state holds. */
export interface SharedCell<S> {
	/**
	 * Hands the newest state (null at first) to `change`, nobody else in between, and keeps what it returns; the very same
	 * object is not written again. `change` is pure and may run more than once. Throws `StoreUnavailableError`.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

/**
 * Keeps the request budget in a row of the database, for replicas behind one address: a grant costs one short
 * transaction, and everybody who waits in a process shares it.
 *
 * @param name identifies the service by its base address
 */
export function createSharedBudgetCell<S extends object>({
	db,
	name,
}: {
	db: StoreDatabase;
	name: string;
}): SharedCell<S> {
	return {
		update: (change) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('request_budgets')
					.select('state')
					.where('service', '=', name)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				// Written by this program alone, and forgotten within a window: its shape is the budget's own affair.
				const before = row === undefined ? null : (JSON.parse(row.state) as S);
				const { state, result } = change(before);
				if (state === before) return result;
				const text = JSON.stringify(state);
				// Two replicas that both find no row: one fails on the key, and runs again with the other's state.
				if (row === undefined) await trx.insertInto('request_budgets').values({ service: name, state: text }).execute();
				else await trx.updateTable('request_budgets').set({ state: text }).where('service', '=', name).execute();
				return result;
			}),
	};
}
