import { type Kysely, sql } from 'kysely';
import type { Cell } from '../cell.ts';
import { isPostgres } from './database.ts';
import type { Store } from './open.ts';
import type { Tables } from './tables.ts';

interface WaitingChange<S> {
	change(state: S | null): { state: S; result: unknown };
	resolve(result: unknown): void;
	reject(error: unknown): void;
}

/**
 * A state that replicas share and that is outdated after minutes: the request budget, who lists, and rates. A process runs one
 * transaction for it at a time, with all changes that arrived meanwhile; otherwise each change would occupy a connection
 * while it waits for the row. `update` throws `StoreUnavailableError`.
 */
export function createSharedState<S>({ db, clock }: Pick<Store, 'db' | 'clock'>, name: string): Cell<S> {
	/** Changes that wait for the running transaction; null while none runs. */
	let waiting: WaitingChange<S>[] | null = null;

	async function apply(trx: Kysely<Tables>, changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		// Other replicas wait for the row until the commit ends. A database crash may lose the latest counts, which are
		// outdated after its restart.
		if (isPostgres(trx)) await sql`set local synchronous_commit to off`.execute(trx);
		const row = await trx
			.selectFrom('shared_states')
			.select('state')
			.where('name', '=', name)
			.forUpdate()
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
		const written = { name, state: JSON.stringify(state), changed_at: clock.now() };
		if (before === null) await trx.insertInto('shared_states').values(written).execute();
		else await trx.updateTable('shared_states').set(written).where('name', '=', name).execute();
		return results;
	}

	async function run(): Promise<void> {
		for (let changes = waiting; changes?.length; changes = waiting) {
			const taken = changes;
			waiting = [];
			try {
				const results = await db.write((trx) => apply(trx, taken));
				for (const [index, { resolve }] of taken.entries()) resolve(results[index]);
			} catch (error) {
				for (const { reject } of taken) reject(error);
			}
		}
		waiting = null;
	}

	return {
		update: <R>(change: (state: S | null) => { state: S; result: R }) =>
			new Promise<R>((resolve, reject) => {
				const entry: WaitingChange<S> = { change, resolve: resolve as (result: unknown) => void, reject };
				if (waiting !== null) waiting.push(entry);
				else {
					waiting = [entry];
					void run();
				}
			}),
	};
}
