import type { Kysely } from 'kysely';
import type { Person } from '../answers/answer.ts';
import type { Snooze } from '../inbox/snooze.ts';
import type { SessionKey } from '../watches/watch.ts';
import type { StoreDatabase } from './database.ts';
import { personColumns, type Tables } from './tables.ts';
import { onSession } from './watch-writes.ts';

/** Shows a session's question in this person's inbox again. */
export async function endSnooze(trx: Kysely<Tables>, person: Person, session: SessionKey): Promise<void> {
	await trx
		.deleteFrom('snoozes')
		.where(onSession(session))
		.where((eb) => eb.and(personColumns(person)))
		.execute();
}

/** The stored snoozes, one for a person and a session. */
export function createSnoozeStore(db: StoreDatabase) {
	return {
		/** Snoozes a question; replaces what the person has snoozed of this session. */
		async snooze({ person, session, fingerprint, until }: Snooze): Promise<void> {
			const { service, sessionId } = session;
			await db.writeOne((trx) =>
				trx
					.insertInto('snoozes')
					.values({ ...personColumns(person), service, session_id: sessionId, fingerprint, until })
					.onConflict((conflict) =>
						conflict.columns(['team_id', 'user_id', 'service', 'session_id']).doUpdateSet({ fingerprint, until }),
					)
					.execute(),
			);
		},

		/** Shows a person all questions of a session service again. */
		async endSnoozes(serviceUrl: string, person: Person): Promise<void> {
			await db.writeOne((trx) =>
				trx
					.deleteFrom('snoozes')
					.where('service', '=', serviceUrl)
					.where((eb) => eb.and(personColumns(person)))
					.execute(),
			);
		},

		/** Forgets snoozes that ended before `now`. Returns how many. */
		removeEndedSnoozes: (now: number) =>
			db.writeOne(async (trx) => {
				const ended = trx.deleteFrom('snoozes').where('until', '<=', now);
				return Number((await ended.executeTakeFirst()).numDeletedRows);
			}),
	};
}
