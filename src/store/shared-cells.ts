import { type Kysely, sql } from 'kysely';
import type { Cell } from '../cell.ts';
import { change, from, isPostgres } from './database.ts';
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
	/** Changes that wait for the running transaction. */
	let waiting: WaitingChange<S>[] = [];
	let isRunning = false;

	async function apply(trx: Kysely<Tables>, changes: readonly WaitingChange<S>[]): Promise<unknown[]> {
		// Other replicas wait for the row until the commit ends. A database crash may lose the latest counts, which are
		// outdated after its restart.
		if (isPostgres(trx)) await sql`set local synchronous_commit to off`.execute(trx);
		const row = await from(trx, 'shared_states', { name }).select('state').forUpdate().executeTakeFirst();
		// No schema check: only this program writes the state, and it is outdated after minutes.
		const before = row === undefined ? null : (JSON.parse(row.state) as S);
		let state: S | null = before;
		const results = changes.map((one) => {
			const changed = one.change(state);
			state = changed.state;
			return changed.result;
		});
		if (state === null || state === before) return results;
		// When two replicas find no row, one fails on the key and runs again with the other's state.
		const written = { name, state: JSON.stringify(state), changed_at: clock.now() };
		if (before === null) await trx.insertInto('shared_states').values(written).execute();
		else await change(trx, 'shared_states', { name }).set(written).execute();
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
		update<R>(change: (state: S | null) => { state: S; result: R }) {
			const { promise, resolve, reject } = Promise.withResolvers<R>();
			waiting.push({ change, resolve: resolve as (result: unknown) => void, reject });
			if (!isRunning) void run();
			return promise;
		},
	};
}
