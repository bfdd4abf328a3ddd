import type { ClaimStore } from '../answers/ports.ts';
import { personColumns, questionColumns } from './columns.ts';
import type { StoreDatabase } from './database.ts';
import { LONGEST_DELAY_MS } from './due.ts';

/** `ClaimStore` over SQLite or PostgreSQL. */
export function createClaimStore({ db }: { db: StoreDatabase }): ClaimStore {
	return {
		claim: ({ question, person, until }, now) =>
			db.write(async (trx) => {
				const prolonged = await trx
					.updateTable('claims')
					.set({ until })
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.where('until', '>', now)
					.executeTakeFirst();
				if (prolonged.numUpdatedRows > 0n) return false;
				const made = await trx
					.insertInto('claims')
					.values({
						...questionColumns(question),
						...personColumns(person),
						claimed_at: now,
						until,
					})
					.onConflict((conflict) =>
						conflict
							.columns(['service', 'session_id', 'message_index', 'team_id', 'user_id'])
							.doUpdateSet({ claimed_at: now, until })
							.where('claims.until', '<=', now),
					)
					.executeTakeFirst();
				return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
			}),

		release: (question, person) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.deleteFrom('claims')
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.executeTakeFirst();
				return result.numDeletedRows > 0n;
			}),

		async active(question, now) {
			const rows = await db.read
				.selectFrom('claims')
				.selectAll()
				.where((eb) => eb.and(questionColumns(question)))
				.where('until', '>', now)
				.where('until', '<=', now + LONGEST_DELAY_MS.claim)
				.orderBy('claimed_at')
				.orderBy('user_id')
				.execute();
			return rows.map((row) => ({
				question,
				person: { teamId: row.team_id, userId: row.user_id },
				until: row.until,
			}));
		},

		removeLapsed: (now) =>
			db.writeOne(async (trx) => {
				const result = await trx.deleteFrom('claims').where('until', '<=', now).executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
	};
}
