import type { ExpressionBuilder } from 'kysely';
import type { Person, QuestionKey } from '../answers/answer.ts';
import type { ClaimStore } from '../answers/ports.ts';
import type { StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';

/** `ClaimStore` over SQLite or PostgreSQL. */
export function createClaimStore({ db }: { db: StoreDatabase }): ClaimStore {
	return {
		claim: ({ question, person, until }, now) =>
			db.write(async (trx) => {
				const prolonged = await trx
					.updateTable('claims')
					.set({ until })
					.where(onQuestion(question))
					.where(ofPerson(person))
					.where('until', '>', now)
					.executeTakeFirst();
				if (prolonged.numUpdatedRows > 0n) return false;
				const made = await trx
					.insertInto('claims')
					.values({
						service: question.service,
						session_id: question.sessionId,
						message_index: question.messageIndex,
						team_id: person.teamId,
						user_id: person.userId,
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
					.where(onQuestion(question))
					.where(ofPerson(person))
					.executeTakeFirst();
				return result.numDeletedRows > 0n;
			}),

		async active(question, now) {
			const rows = await db.read
				.selectFrom('claims')
				.selectAll()
				.where(onQuestion(question))
				.where('until', '>', now)
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

function onQuestion(question: QuestionKey) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'claims'>) =>
		and([
			eb('service', '=', question.service),
			eb('session_id', '=', question.sessionId),
			eb('message_index', '=', question.messageIndex),
		]);
}

function ofPerson(person: Person) {
	return ({ eb, and }: ExpressionBuilder<Tables, 'claims'>) =>
		and([eb('team_id', '=', person.teamId), eb('user_id', '=', person.userId)]);
}
