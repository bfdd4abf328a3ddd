import type { Kysely } from 'kysely';
import type { Person } from '../answers/answer.ts';
import type { Snooze } from '../inbox/snooze.ts';
import type { SessionKey } from '../watches/watch.ts';
import { countChanged, remove, type StoreDatabase } from './database.ts';
import { personColumns, sessionColumns, type Tables } from './tables.ts';

/** Shows a session's question in this person's inbox again. */
export async function endSnooze(trx: Kysely<Tables>, person: Person, session: SessionKey): Promise<void> {
	await remove(trx, 'snoozes', { ...sessionColumns(session), ...personColumns(person) }).execute();
}

/** The stored snoozes, one for a person and a session. */
export function createSnoozeStore(db: StoreDatabase) {
	return {
		/** Snoozes a question; replaces what the person has snoozed of this session. */
		async snooze({ person, session, fingerprint, until }: Snooze): Promise<void> {
			await db.writeOne((trx) =>
				trx
					.insertInto('snoozes')
					.values({ ...personColumns(person), ...sessionColumns(session), fingerprint, until })
					.onConflict((conflict) =>
						conflict.columns(['team_id', 'user_id', 'service', 'session_id']).doUpdateSet({ fingerprint, until }),
					)
					.execute(),
			);
		},

		/** Shows a person all questions of a session service again. */
		async endSnoozes(serviceUrl: string, person: Person): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'snoozes', { service: serviceUrl, ...personColumns(person) }).execute());
		},

		/** Forgets snoozes that ended before `now`. Returns how many. */
		removeEndedSnoozes: (now: number) =>
			db.writeOne((trx) => countChanged(remove(trx, 'snoozes').where('until', '<=', now))),
	};
}
