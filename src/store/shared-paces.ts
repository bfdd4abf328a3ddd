import { freshPace, LONGEST_PAUSE_MS, takePace } from '../watches/pace.ts';
import type { Paces } from '../watches/ports.ts';
import { lockRows, type StoreDatabase } from './database.ts';

/** The rates of `Paces` in the database, for replicas: each call is one short transaction on the rate's own row. */
export function createSharedPaces({ db }: { db: StoreDatabase }): Paces {
	return {
		take: (name, pace, { now, keep }) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('paces')
					.selectAll()
					.where('name', '=', name)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				const before = row === undefined ? freshPace : { due: row.due, pausedUntil: row.paused_until };
				const { waitMs, state } = takePace(before, pace, now, keep);
				if (state === null) return waitMs;
				const after = { due: Math.ceil(state.due), paused_until: state.pausedUntil };
				// Two replicas that both find no row: one fails on the key, and runs again with the other's.
				if (row === undefined)
					await trx
						.insertInto('paces')
						.values({ name, ...after })
						.execute();
				else await trx.updateTable('paces').set(after).where('name', '=', name).execute();
				return 0;
			}),
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
	};
}
