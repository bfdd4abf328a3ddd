import { chargePace, freshPace, LONGEST_PAUSE_MS, type PaceState, type Paces, takePace } from '../pace.ts';
import { lockRows, type StoreDatabase } from './database.ts';

/** The rates of `Paces` in the database, for replicas: each call is one short transaction on the rate's own row. */
export function createSharedPaces({ db }: { db: StoreDatabase }): Paces {
	/** `change` may run again; the state it returns is written, null leaves the row as it is. */
	function change<R>(name: string, decide: (before: PaceState) => { state: PaceState | null; result: R }): Promise<R> {
		return db.write(async (trx) => {
			const row = await trx
				.selectFrom('paces')
				.selectAll()
				.where('name', '=', name)
				.$call(lockRows(db.dialect))
				.executeTakeFirst();
			const before = row === undefined ? freshPace : { due: row.due, pausedUntil: row.paused_until };
			const { state, result } = decide(before);
			if (state === null) return result;
			const after = { due: Math.ceil(state.due), paused_until: state.pausedUntil };
			// Two replicas that both find no row: one fails on the key, and runs again with the other's.
			if (row === undefined)
				await trx
					.insertInto('paces')
					.values({ name, ...after })
					.execute();
			else await trx.updateTable('paces').set(after).where('name', '=', name).execute();
			return result;
		});
	}

	return {
		take: (name, pace, { now, keep }) =>
			change(name, (before) => {
				const { waitMs, state } = takePace(before, pace, now, keep);
				return { state, result: waitMs };
			}),
		charge: (name, pace, { now, count }) =>
			change(name, (before) => ({ state: chargePace(before, pace, now, count), result: undefined })),
		pause: (name, until, now) =>
			db.writeOne(async (trx) => {
				await trx
					.insertInto('paces')
					.values({ name, due: 0, paused_until: Math.ceil(until) })
					.onConflict((conflict) =>
						conflict
							.column('name')
							.doUpdateSet({ paused_until: Math.ceil(until) })
							.where(({ eb, or }) =>
								or([
									eb('paces.paused_until', '<', Math.ceil(until)),
									eb('paces.paused_until', '>', now + LONGEST_PAUSE_MS),
								]),
							),
					)
					.execute();
			}),
		forget: (before) =>
			db.writeOne(async (trx) => {
				await trx.deleteFrom('paces').where('due', '<', before).where('paused_until', '<', before).execute();
			}),
	};
}
