import { type Kysely, sql } from 'kysely';
import type { Lease } from '../answers/ports.ts';
import { REVOKED, WITHOUT_LEASE } from './answer-changes.ts';
import type { AnswerRow } from './answer-rows.ts';
import { type Dialect, lockRows } from './database.ts';
import type { Tables } from './tables.ts';

/** Rows looked at for each one wanted: others may be locked by replicas that ask at the same moment. */
const LOOK_AHEAD = 8;

/** The transaction of `AnswerStore.takeDue`. */
export async function leaseDue(
	db: Kysely<Tables>,
	dialect: Dialect,
	lease: Lease,
	limit: number,
	now: number,
): Promise<readonly AnswerRow[]> {
	await freeLapsed(db, dialect, lease, now);
	const candidates = sql<string>`(
		select id from (
			select id, next_attempt_at, accepted_at, row_number() over (
				partition by service, session_id order by next_attempt_at, accepted_at, id
			) as place
			from answers as due
			where next_attempt_at <= ${now} and lease_owner is null and not exists (
				select 1 from answers as leased
				where leased.service = due.service and leased.session_id = due.session_id and leased.lease_owner is not null
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
		.where('lease_owner', 'is', null)
		.where('next_attempt_at', '<=', now)
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
		.set({ lease_owner: lease.owner, lease_until: now + lease.ms, lease_revoked: 0 })
		.where('id', 'in', ids)
		.returningAll()
		.execute();
	return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

/**
 * A lease that lapsed is nobody's: its process is dead, or finds out with its next write. When that process is the one
 * that asks, it is alive and its task may be too (a laptop that slept): then the task is to find out first.
 */
async function freeLapsed(db: Kysely<Tables>, dialect: Dialect, lease: Lease, now: number): Promise<void> {
	const lapsed = await db
		.selectFrom('answers')
		.select(['id', 'lease_owner', 'lease_revoked'])
		.where('lease_owner', 'is not', null)
		.where('lease_until', '<=', now)
		.$call(lockRows(dialect, { skipLocked: true }))
		.execute();
	const [own, free]: [string[], string[]] = [[], []];
	for (const row of lapsed) (row.lease_owner === lease.owner && row.lease_revoked === 0 ? own : free).push(row.id);
	if (free.length > 0) await db.updateTable('answers').set(WITHOUT_LEASE).where('id', 'in', free).execute();
	if (own.length > 0) {
		const revoked = { ...REVOKED, lease_until: now + lease.ms };
		await db.updateTable('answers').set(revoked).where('id', 'in', own).execute();
	}
}

/**
 * The time when `leaseDue` may find something, or null. An answer whose session is leased (itself, perhaps) is not to be
 * had before that lease lapses.
 */
export async function nextDue(db: Kysely<Tables>): Promise<number | null> {
	const row = await db
		.selectFrom('answers as due')
		.leftJoin('answers as leased', (join) =>
			join
				.onRef('leased.service', '=', 'due.service')
				.onRef('leased.session_id', '=', 'due.session_id')
				.on('leased.lease_owner', 'is not', null),
		)
		.where('due.next_attempt_at', 'is not', null)
		.select(
			sql<number | null>`min(case when leased.lease_until > due.next_attempt_at then leased.lease_until
				else due.next_attempt_at end)`.as('at'),
		)
		.executeTakeFirstOrThrow();
	return row.at;
}
