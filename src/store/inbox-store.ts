import { type RawBuilder, sql } from 'kysely';
import { FOLLOWED_MS, type Inbox, PRESS_SPACING_MS } from '../inbox/inbox.ts';
import type { InboxStore, OpenedInboxes } from '../inbox/ports.ts';
import type { Log } from '../log.ts';
import { countUpdated, type StoreDatabase } from './database.ts';
import { earliest, isOurs, leaseDue } from './due.ts';
import type { Cipher } from './encryption.ts';
import { createInboxReads } from './inbox-reads.ts';
import { createSnoozeStore } from './snooze-store.ts';
import { type InboxesTable, personColumns, WITHOUT_LEASE } from './tables.ts';

/** `InboxStore` over SQLite or PostgreSQL; its docstrings are the contract. */
export function createInboxStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }): InboxStore {
	return { ...createOpenedInboxes(db), ...createSnoozeStore(db), ...createInboxReads({ db, cipher, log }) };
}

type InboxRow = Omit<InboxesTable, 'shown_count'> & { readonly shown_count: unknown };

/** The person did something that the inbox does not show yet. */
const IS_ASKED = sql<boolean>`asked_count <> shown_count`;

function createOpenedInboxes(db: StoreDatabase): OpenedInboxes {
	return {
		async ask({ id, person, viewId }, page, now, spacingMs) {
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

		touchAll: ({ now, spacingMs }) =>
			db.writeOne((trx) => {
				const soon = notBefore(sql`built_at`, spacingMs, now);
				const update = trx
					.updateTable('inboxes')
					.set({
						change_count: sql<number>`change_count + 1`,
						next_update_at: earlierOf(sql`next_update_at`, soon),
					})
					.where('opened_at', '>', now - FOLLOWED_MS);
				return countUpdated(update);
			}),

		async takeDue(lease, limit, { now, only }) {
			const wanted = only === 'asked' ? IS_ASKED : sql<boolean>`true`;
			const where = sql<boolean>`next_update_at <= ${now} and ${wanted} and ${isOurs(db)}`;
			const orderBy = sql`case when ${IS_ASKED} then 0 else 1 end, next_update_at`;
			const rows = await leaseDue(db, { table: 'inboxes', key: 'id', where, orderBy, limit }, { lease, now });
			return rows.map(readInbox);
		},

		rows: db.queuedRows(['inboxes']),

		async nextDueAt() {
			const ours = db.read.selectFrom('inboxes').where(isOurs(db)).where('next_update_at', 'is not', null);
			const waiting = ours.select(earliest('next_update_at').as('at'));
			const [asked, all] = await Promise.all([
				waiting.where(IS_ASKED).executeTakeFirstOrThrow(),
				waiting.executeTakeFirstOrThrow(),
			]);
			return { asked: asked.at, all: all.at };
		},

		async beginShowing(id, token) {
			const held = await db.writeOne((trx) =>
				countUpdated(
					trx.updateTable('inboxes').set({ shown_key: null }).where('id', '=', id).where('lease_token', '=', token),
				),
			);
			return held > 0;
		},

		async end({ id, changeCount, askedCount }, token, { shownKey, nextAt, now, spacingMs }) {
			await db.writeOne((trx) =>
				trx
					.updateTable('inboxes')
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
					.where('id', '=', id)
					.where('lease_token', '=', token)
					.execute(),
			);
		},

		async remove(id) {
			await db.writeOne((trx) => trx.deleteFrom('inboxes').where('id', '=', id).execute());
		},

		async release(tokens, id) {
			if (tokens.length === 0) return;
			await db.writeOne((trx) => {
				const held = trx.updateTable('inboxes').set(WITHOUT_LEASE).where('lease_token', 'in', tokens);
				return (id === undefined ? held : held.where('id', '=', id)).execute();
			});
		},

		removeOlderThan: (before) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.deleteFrom('inboxes')
					.where('opened_at', '<', before)
					.where('next_update_at', 'is', null)
					.executeTakeFirst();
				return Number(result.numDeletedRows);
			}),
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

function readInbox(row: InboxRow): Inbox {
	return {
		id: row.id,
		person: { teamId: row.team_id, userId: row.user_id },
		viewId: row.view_id,
		page: row.page,
		openedAt: row.opened_at,
		askedCount: row.asked_count,
		shownCount: Number(row.shown_count),
		changeCount: row.change_count,
		shownKey: row.shown_key,
	};
}
