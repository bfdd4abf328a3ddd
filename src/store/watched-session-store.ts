import { type Kysely, sql } from 'kysely';
import type { HeldSession, SessionUpdate, WatchStore, WatchUpdate } from '../watches/ports.ts';
import type { SessionKey } from '../watches/watch.ts';
import type { Cipher } from './cipher.ts';
import { WITHOUT_LEASE } from './columns.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import { dueAt, isDue, isFree, LONGEST_DELAY_MS, lapsesAt } from './due.ts';
import type { Tables } from './tables.ts';
import { outlineOf, readWatchedSession, sealView, type WatchedSessionRow } from './watch-rows.ts';
import { endWatch, lockSession, onSession, queueAnnouncements, stopUnwatched, wantCard } from './watch-writes.ts';

type SessionMethods = Pick<
	WatchStore,
	'takeDue' | 'renew' | 'nextReadDueAt' | 'outlines' | 'record' | 'reschedule' | 'refresh' | 'countSessions'
>;

/** The sessions that are read, of `WatchStore`. */
export function createWatchedSessionStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }): SessionMethods {
	async function recordRead(
		trx: Kysely<Tables>,
		key: SessionKey,
		token: string,
		update: SessionUpdate,
		watches: readonly WatchUpdate[],
		now: number,
	): Promise<{ coalesced: number } | null> {
		const row = await lockSession(trx, db.dialect, key);
		if (row === undefined || row.lease_token !== token) return null;
		await trx
			.updateTable('watched_sessions')
			.set(sessionChange(row, update, cipher))
			.where(onSession(key))
			.where('lease_token', '=', token)
			.execute();
		let coalesced = 0;
		for (const watch of watches) coalesced += await recordWatch(trx, watch, now);
		if (watches.some(({ end }) => end !== null)) await stopUnwatched(trx, key);
		return { coalesced };
	}

	/** Returns 1 when its card was wanted already. */
	async function recordWatch(trx: Kysely<Tables>, update: WatchUpdate, now: number): Promise<number> {
		const before = await trx
			.selectFrom('watches')
			.selectAll()
			.where('id', '=', update.watchId)
			.where('revision', '=', update.revision)
			.where('ended_at', 'is', null)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		if (before === undefined) return 0;
		const row = await trx
			.updateTable('watches')
			.set({
				digest: JSON.stringify(update.digest),
				revision: update.revision + 1,
				...(update.changed && { last_change_at: now }),
				...(update.card !== null && update.end === null && wantCard(before, update.card, now)),
			})
			.where('id', '=', update.watchId)
			.where('revision', '=', update.revision)
			.where('ended_at', 'is', null)
			.returningAll()
			.executeTakeFirstOrThrow();
		if (update.end === null) await queueAnnouncements(trx, cipher, update.announcements, now);
		else await endWatch(trx, cipher, row, update.end, { now, announcements: update.announcements, keepPending: true });
		return update.card !== null && before.card_since !== null ? 1 : 0;
	}

	return {
		takeDue: (service, lease, limit, now) =>
			db.write(async (trx) => {
				const due = await trx
					.selectFrom('watched_sessions')
					.select('session_id')
					.where('service', '=', service)
					.where(isDue('next_read_at', now, LONGEST_DELAY_MS.read))
					.where(isFree(now))
					.orderBy(dueAt('read_by', now, LONGEST_DELAY_MS.read))
					.limit(limit)
					.$call(lockRows(db.dialect, { skipLocked: true }))
					.execute();
				if (due.length === 0) return [];
				const rows = await trx
					.updateTable('watched_sessions')
					.set({ lease_token: lease.token, lease_until: now + lease.ms })
					.where('service', '=', service)
					.where(
						'session_id',
						'in',
						due.map((row) => row.session_id),
					)
					.where(isFree(now))
					.returningAll()
					.execute();
				return rows.sort((a, b) => a.read_by - b.read_by).map(readWatchedSession);
			}),

		renew: (held, ms, now) => db.write((trx) => renewLeases(trx, held, now + ms)),

		async nextReadDueAt(service, now) {
			const due = dueAt('next_read_at', now, LONGEST_DELAY_MS.read);
			const lapse = lapsesAt('lease_until', now);
			const row = await db.read
				.selectFrom('watched_sessions')
				.where('service', '=', service)
				.where('next_read_at', 'is not', null)
				.select(
					sql<
						number | null
					>`min(case when lease_token is not null and ${lapse} > ${due} then ${lapse} else ${due} end)`.as('at'),
				)
				.executeTakeFirstOrThrow();
			return row.at;
		},

		async outlines(service) {
			const rows = await db.read
				.selectFrom('watched_sessions')
				.selectAll()
				.where('service', '=', service)
				.where('next_read_at', 'is not', null)
				.execute();
			const watches = await db.read
				.selectFrom('watches')
				.select(['session_id', 'created_by'])
				.distinct()
				.where('service', '=', service)
				.where('ended_at', 'is', null)
				.execute();
			const watchers = Map.groupBy(watches, (watch) => watch.session_id);
			return rows.map((row) => ({
				...outlineOf(readWatchedSession(row)),
				watchers: (watchers.get(row.session_id) ?? []).map((watch) => watch.created_by),
			}));
		},

		async countSessions(service) {
			const { count } = await db.read
				.selectFrom('watched_sessions')
				.where('service', '=', service)
				.where('next_read_at', 'is not', null)
				.select((eb) => eb.fn.countAll<number>().as('count'))
				.executeTakeFirstOrThrow();
			return count;
		},

		record: (session, token, update, watches, now) =>
			db.write((trx) => recordRead(trx, session, token, update, watches, now)),

		reschedule: (moves) =>
			db.write(async (trx) => {
				for (const { session, from, to } of moves) {
					await trx
						.updateTable('watched_sessions')
						.set({ next_read_at: Math.round(to.at), read_by: Math.round(to.by) })
						.where(onSession(session))
						.where('next_read_at', '=', from.at)
						.where('lease_token', 'is', null)
						.execute();
				}
			}),

		refresh: (session, { now, earlyReadAt }) =>
			db.write(async (trx) => {
				const row = await lockSession(trx, db.dialect, session);
				if (row === undefined || row.next_read_at === null) return;
				if (earlyReadAt !== null) {
					// While somebody reads it, the time of that read is past and says nothing of the next one.
					const at = row.lease_token === null ? Math.min(row.next_read_at, earlyReadAt) : earlyReadAt;
					await trx
						.updateTable('watched_sessions')
						.set({ touched_at: now, hurry: row.hurry + 1, next_read_at: at, read_by: at })
						.where(onSession(session))
						.execute();
				}
				const watches = await trx
					.selectFrom('watches')
					.selectAll()
					.where(onSession(session))
					.where('ended_at', 'is', null)
					.$call(lockRows(db.dialect))
					.execute();
				for (const watch of watches) {
					await trx
						.updateTable('watches')
						.set(wantCard(watch, 'now', now))
						.where('id', '=', watch.id)
						.execute();
				}
			}),
	};
}

function sessionChange(row: WatchedSessionRow, update: SessionUpdate, cipher: Cipher): Partial<WatchedSessionRow> {
	const isEarly = row.hurry !== update.earlyReadCount && row.next_read_at !== null;
	const at = Math.round(
		isEarly ? Math.min(row.next_read_at ?? update.nextRead.at, update.nextRead.at) : update.nextRead.at,
	);
	return {
		rhythm: JSON.stringify(update.rhythm),
		next_read_at: at,
		read_by: Math.max(at, Math.round(isEarly ? at : update.nextRead.by)),
		last_read_at: update.lastReadAt,
		last_change_at: update.lastChangeAt,
		failures: update.failures,
		last_error: update.lastError,
		over_since: update.overSince,
		...WITHOUT_LEASE,
		...(update.view !== undefined && {
			digest: JSON.stringify(update.view.digest),
			view: sealView(row.service, row.session_id, update.view, cipher),
		}),
	};
}

async function renewLeases(trx: Kysely<Tables>, held: readonly HeldSession[], until: number) {
	const renewed: SessionKey[] = [];
	for (const { session, token } of held) {
		const result = await trx
			.updateTable('watched_sessions')
			.set({ lease_until: until })
			.where(onSession(session))
			.where('lease_token', '=', token)
			.executeTakeFirst();
		if (result.numUpdatedRows > 0n) renewed.push(session);
	}
	return renewed;
}
