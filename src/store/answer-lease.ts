import { type Kysely, sql } from 'kysely';
import type { Lease } from '../lease-loop.ts';
import type { AnswerRow } from './answer-rows.ts';
import { WITHOUT_LEASE } from './columns.ts';
import { type Dialect, lockRows } from './database.ts';
import { dueAt, hasLapsed, isDue, LONGEST_DELAY_MS, lapsesAt } from './due.ts';
import type { Tables } from './tables.ts';

/** Rows looked at for each one wanted: others may be locked by replicas that ask at the same moment. */
const LOOK_AHEAD = 8;

/** The transaction of `AnswerStore.takeDue`. */
export async function leaseDue(
	db: Kysely<Tables>,
	dialect: Dialect,
	service: string,
	lease: Lease,
	limit: number,
	now: number,
): Promise<readonly AnswerRow[]> {
	await freeLapsed(db, dialect, now);
	const candidates = sql<string>`(
		select id from (
			select id, next_attempt_at, accepted_at, row_number() over (
				partition by session_id order by next_attempt_at, accepted_at, id
			) as place
			from answers as due
			where service = ${service} and ${isDue('next_attempt_at', now, LONGEST_DELAY_MS.answer)} and lease_token is null
				and not exists (
					select 1 from answers as leased
					where leased.service = due.service and leased.session_id = due.session_id and leased.lease_token is not null
				)
		) as firsts
		where place = 1
		order by next_attempt_at, accepted_at, id
		limit ${limit * LOOK_AHEAD}
	)`;
	const due = await db
		.selectFrom('answers')
		.select('id')
		.where('id', 'in', candidates)
		// Again, for PostgreSQL: another replica may have committed between its reading of the candidates and the lock.
		.where('lease_token', 'is', null)
		.where(isDue('next_attempt_at', now, LONGEST_DELAY_MS.answer))
		.orderBy('next_attempt_at')
		.orderBy('accepted_at')
		.orderBy('id')
		.limit(limit)
		.$call(lockRows(dialect, { skipLocked: true }))
		.execute();
	if (due.length === 0) return [];
	const ids = due.map((row) => row.id);
	const rows = await db
		.updateTable('answers')
		.set({ lease_token: lease.token, lease_until: now + lease.ms })
		.where('id', 'in', ids)
		.returningAll()
		.execute();
	return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

/** A lease that lapsed is nobody's: its process is dead, or finds out with its next write. */
async function freeLapsed(db: Kysely<Tables>, dialect: Dialect, now: number): Promise<void> {
	const lapsed = await db
		.selectFrom('answers')
		.select('id')
		.where('lease_token', 'is not', null)
		.where(hasLapsed('lease_until', now))
		.$call(lockRows(dialect, { skipLocked: true }))
		.execute();
	if (lapsed.length === 0) return;
	const ids = lapsed.map((row) => row.id);
	await db.updateTable('answers').set(WITHOUT_LEASE).where('id', 'in', ids).execute();
}

/**
 * The time when `leaseDue` may find something, or null. An answer whose session is leased (itself, perhaps) is not to be
 * had before that lease lapses.
 */
export async function nextDue(db: Kysely<Tables>, service: string, now: number): Promise<number | null> {
	const due = dueAt('due.next_attempt_at', now, LONGEST_DELAY_MS.answer);
	const lapse = lapsesAt('leased.lease_until', now);
	const row = await db
		.selectFrom('answers as due')
		.leftJoin('answers as leased', (join) =>
			join
				.onRef('leased.service', '=', 'due.service')
				.onRef('leased.session_id', '=', 'due.session_id')
				.on('leased.lease_token', 'is not', null),
		)
		.where('due.service', '=', service)
		.where('due.next_attempt_at', 'is not', null)
		.select(sql<number | null>`min(case when ${lapse} > ${due} then ${lapse} else ${due} end)`.as('at'))
		.executeTakeFirstOrThrow();
	return row.at;
}
