import type { Kysely } from 'kysely';
import type { Person } from '../answers/answer.ts';
import { LONGEST_SNOOZE_MS, type SnoozeStore } from '../inbox/snooze.ts';
import type { SessionKey } from '../watches/watch.ts';
import { countChanged, remove, type StoreDatabase } from './database.ts';
import { isDue } from './due.ts';
import { personColumns, sessionColumns, type Tables } from './tables.ts';

/** Shows a session's question in this person's inbox again. */
export async function endSnooze(trx: Kysely<Tables>, person: Person, session: SessionKey): Promise<void> {
	await remove(trx, 'snoozes', { ...sessionColumns(session), ...personColumns(person) }).execute();
}

/** `SnoozeStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createSnoozeStore(db: StoreDatabase): SnoozeStore {
	return {
		async snooze({ person, session, fingerprint, until }) {
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

		async endSnoozes(serviceUrl, person) {
			await db.writeOne((trx) => remove(trx, 'snoozes', { service: serviceUrl, ...personColumns(person) }).execute());
		},

		removeEndedSnoozes: (now) =>
			db.writeOne((trx) => countChanged(remove(trx, 'snoozes').where(isDue('until', now, LONGEST_SNOOZE_MS)))),
	};
}
