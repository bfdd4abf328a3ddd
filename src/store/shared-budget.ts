import { type Kysely, sql } from 'kysely';
import { lockRows, type StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** One value that replicas change in turn: the request budget's `BudgetCell`, whatever its state holds. */
export interface SharedCell<S> {
	/**
	 * Hands the newest state (null at first) to `change`, nobody else in between, and keeps what it returns; the very same
	 * object is not written again. `change` is pure and may run more than once. Throws `StoreUnavailableError`.
	 */
	update<R>(change: (state: S | null) => { state: S; result: R }): Promise<R>;
}

interface WaitingChange<S> {
	change(state: S | null): { state: S; result: unknown };
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/**
 * Keeps the request budget in a row of the database, for replicas behind one address. One transaction at a time for a
 * process, with every change that has come meanwhile: on its own each would hold a connection while it waits for the row.
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
	let waiting: WaitingChange<S>[] = [];
	let isRunning = false;

	async function apply(trx: Kysely<Tables>, changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		// The others wait for the row until the end of the commit. What a crash of the database loses is a few counts of a
		// minute that it spends on starting.
		if (db.dialect === 'postgres') await sql`set local synchronous_commit to off`.execute(trx);
		const row = await trx
			.selectFrom('request_budgets')
			.select('state')
			.where('service', '=', name)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		// Written by this program alone, and forgotten within a window: its shape is the budget's own affair.
		const before = row === undefined ? null : (JSON.parse(row.state) as S);
		let state = before;
		const results: unknown[] = [];
		for (const { change } of changes) {
			const changed = change(state);
			state = changed.state;
			results.push(changed.result);
		}
		if (state === before) return results;
		const text = JSON.stringify(state);
		// Two replicas that both find no row: one fails on the key, and runs again with the other's state.
		if (row === undefined) await trx.insertInto('request_budgets').values({ service: name, state: text }).execute();
		else await trx.updateTable('request_budgets').set({ state: text }).where('service', '=', name).execute();
		return results;
	}

	async function run(): Promise<void> {
		isRunning = true;
		while (waiting.length > 0) {
			const changes = waiting;
			waiting = [];
			try {
				const results = await db.write((trx) => apply(trx, changes));
				for (const [index, { resolve }] of changes.entries()) resolve(results[index]);
			} catch (error) {
				for (const { reject } of changes) reject(error);
			}
		}
		isRunning = false;
	}

	return {
		update: <R>(change: (state: S | null) => { state: S; result: R }) =>
			new Promise<R>((resolve, reject) => {
				waiting.push({ change, resolve: resolve as (result: unknown) => void, reject });
				if (!isRunning) void run();
			}),
	};
}
