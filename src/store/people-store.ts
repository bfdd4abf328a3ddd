// Owns `people`: what Slack told of those who use Handraise.

import { z } from 'zod';
import type { Person } from '../domain/person.ts';
import { removeInBatches } from './batches.ts';
import { add, change, type Db, from, personOf, type StoreParts, sealedColumn, sql } from './database.ts';
import { inLockOrder } from './locks.ts';

const facts = sealedColumn('people.facts', z.looseObject({}));

/** What Slack told of people, which replicas share. Facts are JSON of `slack/directory.ts`. */
export function createPeopleStore({ db, cipher }: StoreParts) {
	type Columns = { readonly facts?: string; readonly wantedAt: number | null; readonly usedAt: number };
	const put = (trx: Db, person: Person, columns: Columns) =>
		add(trx, 'people', { ...personOf(person), ...columns })
			.onConflict((conflict) => conflict.column('userId').doUpdateSet({ teamId: person.teamId, ...columns }))
			.execute();

	return {
		/** Facts by user id, of those of these people who have a row; null: the row holds none. */
		async of(teamId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
			const rows = await from(db.read, 'people', { teamId, userId: userIds }).selectAll().execute();
			return new Map(rows.map((row) => [row.userId, facts.open(row.facts, row, cipher)]));
		},

		/** Stores what Slack told of each of these people when it was asked, at `at`. */
		told: (teamId: string, told: ReadonlyMap<string, { readonly at: number }>) =>
			db.write(async (trx) => {
				for (const [userId, one] of inLockOrder([...told], ([id]) => id)) {
					const person = { teamId, userId };
					await put(trx, person, { facts: facts.seal({ ...one }, person, cipher), wantedAt: null, usedAt: one.at });
				}
			}),

		/** Notes that a Home waits for facts about its person. */
		want: (person: Person, now: number) => db.writeOne((trx) => put(trx, person, { wantedAt: now, usedAt: now })),

		/** The ids of those for whom a Home has waited since `since`. */
		async wanted(teamId: string, since: number): Promise<ReadonlySet<string>> {
			const rows = await from(db.read, 'people', { teamId }).select('userId').where('wantedAt', '>', since).execute();
			return new Set(rows.map(({ userId }) => userId));
		},

		/**
		 * Stores what a list of the workspace tells, only of people for whom a Home waits. So nobody who was
		 * forgotten comes back before they act.
		 */
		async listed(teamId: string, told: ReadonlyMap<string, object>): Promise<void> {
			if (told.size === 0) return;
			const sealed = (userId: string, one: object) => facts.seal({ ...one }, { teamId, userId }, cipher);
			const cases = Array.from(told, ([userId, one]) => sql`when ${userId} then ${sealed(userId, one)}`);
			const columns = { facts: sql<string>`case user_id ${sql.join(cases, sql` `)} end`, wantedAt: null };
			const waiting = { teamId, userId: [...told.keys()] };
			await db.writeOne((trx) => change(trx, 'people', waiting, columns).where('wantedAt', 'is not', null).execute());
		},

		/**
		 * Marks the facts about these people as outdated: whatever Slack tells next is newer. Their names are still
		 * shown.
		 */
		outdate: (teamId: string, userIds: readonly string[]) =>
			db.write(async (trx) => {
				const rows = await from(trx, 'people', { teamId, userId: userIds }).selectAll().execute();
				for (const row of inLockOrder(rows, ({ userId }) => userId)) {
					const told = facts.open(row.facts, row, cipher);
					if (told === null) continue;
					const outdated = facts.seal({ ...told, at: 0 }, row, cipher);
					await change(trx, 'people', { teamId, userId: row.userId }, { facts: outdated })
						.where('facts', '=', row.facts)
						.execute();
				}
			}),
	};
}

/** Removes people whom nobody has needed since `before`. */
export const removeUnusedPeople = (db: StoreParts['db'], before: number) =>
	removeInBatches(db, 'people', sql<boolean>`used_at < ${before}`);
