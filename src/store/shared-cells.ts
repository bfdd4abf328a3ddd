import { type Kysely, sql } from 'kysely';
import type { Cell } from '../cell.ts';
import type { RateCells, RateState } from '../rate-limiter.ts';
import { isPostgres, type StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** How one kind of state is stored: one row for each key. */
interface Rows<S> {
	/** Reads the row and locks it until the transaction ends. */
	find(trx: Kysely<Tables>, key: string): Promise<S | null>;
	insert(trx: Kysely<Tables>, key: string, state: S): Promise<unknown>;
	update(trx: Kysely<Tables>, key: string, state: S): Promise<unknown>;
}

interface WaitingChange<S> {
	change(state: S | null): { state: S; result: unknown };
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/** A state that replicas share and that is outdated after minutes: the request budget, and who lists. */
export function createSharedState<S>({ db, key: name }: { db: StoreDatabase; key: string }): Cell<S> {
	return createCells<S>(db, {
		async find(trx, key) {
			const row = await trx
				.selectFrom('request_budgets')
				.select('state')
				.where('service', '=', key)
				.forUpdate()
				.executeTakeFirst();
			// No schema check: only this program writes the state, and it is outdated after minutes.
			return row === undefined ? null : (JSON.parse(row.state) as S);
		},
		insert: (trx, key, state) =>
			trx
				.insertInto('request_budgets')
				.values({ service: key, state: JSON.stringify(state) })
				.execute(),
		update: (trx, key, state) =>
			trx
				.updateTable('request_budgets')
				.set({ state: JSON.stringify(state) })
				.where('service', '=', key)
				.execute(),
	})(name);
}

/** The states of the rate limiter, shared by all replicas. */
export function createSharedRates({ db }: { db: StoreDatabase }): RateCells {
	const columns = ({ due, pausedUntil }: RateState) => ({
		due: Math.ceil(due),
		paused_until: Math.ceil(pausedUntil),
	});
	return {
		of: createCells<RateState>(db, {
			async find(trx, key) {
				const row = await trx.selectFrom('paces').selectAll().where('name', '=', key).forUpdate().executeTakeFirst();
				return row === undefined ? null : { due: row.due, pausedUntil: row.paused_until };
			},
			insert: (trx, key, state) =>
				trx
					.insertInto('paces')
					.values({ name: key, ...columns(state) })
					.execute(),
			update: (trx, key, state) => trx.updateTable('paces').set(columns(state)).where('name', '=', key).execute(),
		}),
		forget: (before) =>
			db.writeOne(async (trx) => {
				await trx.deleteFrom('paces').where('due', '<', before).where('paused_until', '<', before).execute();
			}),
	};
}

/**
 * Cells by key, one row each. A process runs one transaction for a row at a time, with all changes that arrived meanwhile;
 * otherwise each change would occupy a connection while it waits for the row. `update` throws `StoreUnavailableError`.
 */
function createCells<S>(db: StoreDatabase, rows: Rows<S>): (key: string) => Cell<S> {
	/** Changes that wait for the running transaction; no entry while none runs. */
	const waiting = new Map<string, WaitingChange<S>[]>();

	async function apply(trx: Kysely<Tables>, key: string, changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		// Other replicas wait for the row until the commit ends. A database crash may lose the latest counts, which are
		// outdated after its restart.
		if (isPostgres(trx)) await sql`set local synchronous_commit to off`.execute(trx);
		const before = await rows.find(trx, key);
		let state: S | null = before;
		const results: unknown[] = [];
		for (const { change } of changes) {
			const changed = change(state);
			state = changed.state;
			results.push(changed.result);
		}
		if (state === null || state === before) return results;
		// When two replicas find no row, one fails on the key and runs again with the other's state.
		if (before === null) await rows.insert(trx, key, state);
		else await rows.update(trx, key, state);
		return results;
	}

	async function run(key: string): Promise<void> {
		for (let changes = waiting.get(key); changes?.length; changes = waiting.get(key)) {
			const taken = changes;
			waiting.set(key, []);
			try {
				const results = await db.write((trx) => apply(trx, key, taken));
				for (const [index, { resolve }] of taken.entries()) resolve(results[index]);
			} catch (error) {
				for (const { reject } of taken) reject(error);
			}
		}
		waiting.delete(key);
	}

	return (key) => ({
		update: <R>(change: (state: S | null) => { state: S; result: R }) =>
			new Promise<R>((resolve, reject) => {
				const entry: WaitingChange<S> = { change, resolve: resolve as (result: unknown) => void, reject };
				const queue = waiting.get(key);
				if (queue !== undefined) queue.push(entry);
				else {
					waiting.set(key, [entry]);
					void run(key);
				}
			}),
	});
}
