import type { ClaimStore } from '../answers/ports.ts';
import { personColumns, questionColumns } from './columns.ts';
import type { StoreDatabase } from './database.ts';
import { isDue, LONGEST_DELAY_MS } from './due.ts';

/** `ClaimStore` over SQLite or PostgreSQL. */
export function createClaimStore({ db }: { db: StoreDatabase }): ClaimStore {
	return {
		claim: ({ question, person, until }, now) =>
			db.write(async (trx) => {
				const prolonged = await trx
					.updateTable('claims')
					.set({ until })
					.where((eb) => eb.and({ ...questionColumns(question), ...personColumns(person) }))
					.where(({ not }) => not(hasLapsed(now)))
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
							.where(hasLapsed(now)),
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
				.where(({ not }) => not(hasLapsed(now)))
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
				const result = await trx.deleteFrom('claims').where(hasLapsed(now)).executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
	};
}

/** Whether a claim has lapsed, or is from before a clock was put back. */
function hasLapsed(now: number) {
	return isDue('claims.until', now, LONGEST_DELAY_MS.claim);
}
