import { type RawBuilder, sql } from 'kysely';
import type { Person } from '../answers/answer.ts';
import { FOLLOWED_MS, type Inbox, type InboxPlace, PRESS_SPACING_MS, type Snooze } from '../inbox/inbox.ts';
import type { Lease } from '../lease-loop.ts';
import type { Log } from '../log.ts';
import { change, countChanged, remove, type StoreDatabase } from './database.ts';
import { isOurs, leaseDue, nextDue } from './due.ts';
import type { Cipher } from './encryption.ts';
import { createInboxReads } from './inbox-reads.ts';
import { personColumns, personOf, type Row, sessionColumns, WITHOUT_LEASE } from './tables.ts';

/**
 * The stored inboxes and what they show. Every method is one transaction; a resolved promise means committed. Throws
 * `StoreUnavailableError` (code `store_unavailable`, retryable).
 */
export function createInboxStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	return { ...createOpenedInboxes(db), ...createSnoozeStore(db), ...createInboxReads({ db, cipher, log }) };
}

export type InboxStore = ReturnType<typeof createInboxStore>;

/** The person did something that the inbox does not show yet. */
const IS_ASKED = sql<boolean>`asked_count <> shown_count`;

/** The row is the queue: an inbox is due when its person asked for it or its content may have changed. */
function createOpenedInboxes(db: StoreDatabase) {
	return {
		/**
		 * The person opened it or did something in it: it is followed from now on, and due now or `PRESS_SPACING_MS` after its
		 * content was last put together. `page` null: as before. `spacingMs`: it takes its turn with those that only follow, and
		 * waits for so long instead.
		 */
		async ask({ id, person, viewId }: InboxPlace, page: number | null, now: number, spacingMs?: number): Promise<void> {
			const asked = { ...(page !== null && { page }), opened_at: now };
			const soon = notBefore(sql`inboxes.built_at`, spacingMs ?? PRESS_SPACING_MS, now);
			await db.writeOne((trx) =>
				trx
					.insertInto('inboxes')
					.values({
						id,
						...personColumns(person),
						view_id: viewId,
						page: 0,
						...asked,
						next_update_at: now,
						asked_count: 1,
						change_count: 1,
					})
					.onConflict((conflict) =>
						conflict.column('id').doUpdateSet({
							...asked,
							next_update_at: earlierOf(sql`inboxes.next_update_at`, soon),
							asked_count: sql<number>`inboxes.asked_count + ${spacingMs === undefined ? 1 : 0}`,
							change_count: sql<number>`inboxes.change_count + 1`,
						}),
					)
					.execute(),
			);
		},

		/**
		 * Marks all followed inboxes as changed. Each is due now, or `spacingMs` after its content was last put together. One
		 * that is leased is due again after that work. Returns how many there are.
		 */
		touchAll: ({ now, spacingMs }: { now: number; spacingMs: number }) =>
			db.writeOne((trx) => {
				const soon = notBefore(sql`built_at`, spacingMs, now);
				const update = trx
					.updateTable('inboxes')
					.set({
						change_count: sql<number>`change_count + 1`,
						next_update_at: earlierOf(sql`next_update_at`, soon),
					})
					.where('opened_at', '>', now - FOLLOWED_MS);
				return countChanged(update);
			}),

		/** Leases due inboxes of `StoreOptions.workspace`: first those whose person waits, then the longest due. `asked`: only those whose person waits. */
		async takeDue(
			lease: Lease,
			limit: number,
			{ now, only }: { now: number; only: 'asked' | 'all' },
		): Promise<readonly Inbox[]> {
			const wanted = only === 'asked' ? IS_ASKED : sql<boolean>`true`;
			const where = sql<boolean>`next_update_at <= ${now} and ${wanted} and ${isOurs(db)}`;
			const orderBy = sql`case when ${IS_ASKED} then 0 else 1 end, next_update_at`;
			const rows = await leaseDue(db, { table: 'inboxes', where, orderBy, limit }, { lease, now });
			return rows.map(readInbox);
		},

		rows: db.queuedRows(['inboxes']),

		/** When `takeDue` next finds something; null for never. */
		async nextDueAt() {
			const [asked, all] = await Promise.all(
				[IS_ASKED, sql<boolean>`true`].map((wanted) =>
					nextDue(db, 'inboxes', sql`${wanted} and ${isOurs(db)}`, 'next_update_at'),
				),
			);
			return { asked: asked ?? null, all: all ?? null };
		},

		/**
		 * Notes that Slack is about to be called, after which nobody knows what is shown until `end`: the process may die in
		 * between. False when the lease was lost or the inbox was forgotten.
		 */
		async beginShowing(id: string, token: string): Promise<boolean> {
			const held = { id, lease_token: token };
			return (await db.writeOne((trx) => countChanged(change(trx, 'inboxes', held).set({ shown_key: null })))) > 0;
		},

		/**
		 * Notes what became of an update and gives the lease back; does nothing when the lease was lost. If the inbox was
		 * marked as changed meanwhile, it is due `spacingMs` from now, or `PRESS_SPACING_MS` when its person asked.
		 *
		 * @param shownKey of what it shows now; null when nothing was shown, or nobody knows
		 * @param nextAt when to update it again if nothing changes; null: never
		 */
		async end(
			{ id, changeCount, askedCount }: Inbox,
			token: string,
			{
				shownKey,
				nextAt,
				now,
				spacingMs,
			}: { shownKey: string | null; nextAt: number | null; now: number; spacingMs: number },
		): Promise<void> {
			await db.writeOne((trx) =>
				change(trx, 'inboxes', { id, lease_token: token })
					.set({
						...WITHOUT_LEASE,
						...(shownKey !== null && { shown_key: shownKey, shown_count: askedCount }),
						built_at: now,
						// PostgreSQL takes a case of nothing but parameters for a text.
						next_update_at: sql<number | null>`cast(case
							when change_count = ${changeCount} then ${nextAt}
							when asked_count <> ${askedCount} then ${now + PRESS_SPACING_MS}
							else ${now + spacingMs} end as bigint)`,
					})
					.execute(),
			);
		},

		/** Forgets an inbox; it is not updated any more. */
		async remove(id: string): Promise<void> {
			await db.writeOne((trx) => remove(trx, 'inboxes', { id }).execute());
		},

		/** Gives back the inboxes that are still held with these tokens, or this one alone. They stay due since when they were. */
		async release(tokens: readonly string[], id?: string): Promise<void> {
			if (tokens.length === 0) return;
			const held = { lease_token: tokens, ...(id !== undefined && { id }) };
			await db.writeOne((trx) => change(trx, 'inboxes', held).set(WITHOUT_LEASE).execute());
		},

		/** Forgets inboxes that nobody opened since `before` and that are not due any more. Returns how many. */
		removeOlderThan: (before: number) =>
			db.writeOne((trx) =>
				countChanged(remove(trx, 'inboxes', { next_update_at: null }).where('opened_at', '<', before)),
			),
	};
}

/** So long after the content was last put together, or now. */
function notBefore(builtAt: RawBuilder<unknown>, spacingMs: number, now: number): RawBuilder<number> {
	return sql`cast(case when ${builtAt} + ${spacingMs} > ${now} then ${builtAt} + ${spacingMs} else ${now} end as bigint)`;
}

/** `soon`, unless it is due before that: then it keeps its place. */
function earlierOf(dueAt: RawBuilder<unknown>, soon: RawBuilder<number>): RawBuilder<number> {
	return sql`case when ${dueAt} < ${soon} then ${dueAt} else ${soon} end`;
}

function readInbox(row: Row<'inboxes'>): Inbox {
	return {
		id: row.id,
		person: personOf(row),
		viewId: row.view_id,
		page: row.page,
		openedAt: row.opened_at,
		askedCount: row.asked_count,
		shownCount: row.shown_count,
		changeCount: row.change_count,
		shownKey: row.shown_key,
	};
}

/** The stored snoozes, one for a person and a session. */
function createSnoozeStore(db: StoreDatabase) {
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
