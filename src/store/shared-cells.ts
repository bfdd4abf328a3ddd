import { type Kysely, sql } from 'kysely';
import type { Cell } from '../cell.ts';
import type { RateCells, RateState } from '../rate-limiter.ts';
import { lockRows } from './database.ts';
import type { Store } from './open.ts';
import type { Tables } from './tables.ts';

interface WaitingChange<S> {
	change(state: S | null): { state: S; result: unknown };
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

type SharingStore = Pick<Store, 'db' | 'clock'>;

/** A state that replicas share and that is outdated after minutes: the request budget, and who lists. */
export function createSharedState<S>(store: SharingStore, name: string): Cell<S> {
	return createCells<S>(store)(name);
}

/** The states of the rate limiter, shared by all replicas. */
export function createSharedRates(store: SharingStore): RateCells {
	const cellOf = createCells<RateState>(store);
	return {
		of: (key) => cellOf(`rate:${key}`),
		forget: (before) =>
			store.db.writeOne(async (trx) => {
				const rates = trx.deleteFrom('shared_states').where('name', 'like', 'rate:%');
				await rates.where('changed_at', '<', before).execute();
			}),
	};
}

/**
 * Cells by key, one row each. A process runs one transaction for a row at a time, with all changes that arrived meanwhile;
 * otherwise each change would occupy a connection while it waits for the row. `update` throws `StoreUnavailableError`.
 */
function createCells<S>({ db, clock }: SharingStore): (key: string) => Cell<S> {
	/** Changes that wait for the running transaction; no entry while none runs. */
	const waiting = new Map<string, WaitingChange<S>[]>();

	async function apply(trx: Kysely<Tables>, key: string, changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		// Other replicas wait for the row until the commit ends. A database crash may lose the latest counts, which are
		// outdated after its restart.
		if (db.dialect === 'postgres') await sql`set local synchronous_commit to off`.execute(trx);
		const row = await trx
			.selectFrom('shared_states')
			.select('state')
			.where('name', '=', key)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		// No schema check: only this program writes the state, and it is outdated after minutes.
		const before = row === undefined ? null : (JSON.parse(row.state) as S);
		let state: S | null = before;
		const results: unknown[] = [];
		for (const { change } of changes) {
			const changed = change(state);
			state = changed.state;
			results.push(changed.result);
		}
		if (state === null || state === before) return results;
		// When two replicas find no row, one fails on the key and runs again with the other's state.
		const written = { name: key, state: JSON.stringify(state), changed_at: clock.now() };
		if (before === null) await trx.insertInto('shared_states').values(written).execute();
		else await trx.updateTable('shared_states').set(written).where('name', '=', key).execute();
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
