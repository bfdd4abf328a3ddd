import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { AttemptResult, DueAnnouncement, DueCard, WatchStore } from '../watches/ports.ts';
import type { Cipher } from './cipher.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import type { Tables } from './tables.ts';
import { type AnnouncementRow, readAnnouncement, readView, readWatch, URGENCIES, type WatchRow } from './watch-rows.ts';
import { FREE, onSession, wantCard } from './watch-writes.ts';

type PostMethods = Pick<
	WatchStore,
	'takeAnnouncements' | 'postedQuestions' | 'beginAttempt' | 'endAttempt' | 'takeCards' | 'endCard' | 'nextPostDueAt'
>;

/** What is posted and updated, of `WatchStore`. */
export function createAnnouncementStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }): PostMethods {
	async function shownBy(watch: WatchRow) {
		const row = await db.read
			.selectFrom('watched_sessions')
			.select(['service', 'session_id', 'view', 'last_read_at'])
			.where(onSession({ service: watch.service, sessionId: watch.session_id }))
			.executeTakeFirst();
		return { view: row === undefined ? null : readView(row, cipher), checkedAt: row?.last_read_at ?? null };
	}

	async function dueOf(row: AnnouncementRow): Promise<DueAnnouncement | null> {
		const announcement = readAnnouncement(row, cipher);
		if (announcement === null) return null;
		const watch =
			row.watch_id === null
				? undefined
				: await db.read.selectFrom('watches').selectAll().where('id', '=', row.watch_id).executeTakeFirst();
		if (watch === undefined) return { announcement, watch: null, view: null };
		return { announcement, watch: readWatch(watch), view: (await shownBy(watch)).view };
	}

	async function finish(trx: Kysely<Tables>, row: AnnouncementRow, result: AttemptResult, now: number): Promise<void> {
		await trx
			.updateTable('announcements')
			.set({ ...FREE, ...attemptChange(row, result) })
			.where('id', '=', row.id)
			.execute();
		if (result.kind !== 'posted' || row.kind !== 'card' || row.watch_id === null) return;
		const watch = await trx
			.selectFrom('watches')
			.selectAll()
			.where('id', '=', row.watch_id)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		if (watch === undefined) return;
		await trx
			.updateTable('watches')
			.set({
				card_ts: result.ts,
				card_key: result.cardKey,
				card_shown_at: now,
				// It was found, and shows what was so then.
				...(result.cardKey === null && wantCard(watch, 'progress', now)),
			})
			.where('id', '=', watch.id)
			.execute();
	}

	return {
		async takeAnnouncements(lease, limit, now) {
			const rows = await db.write(async (trx) => {
				const due = await trx
					.selectFrom('announcements')
					.select('id')
					.where('state', '=', 'pending')
					.where('next_attempt_at', '<=', now)
					.where(leaseFree(now))
					.where(
						// Settling waits for the rate of updates; what comes after it does not wait for that.
						sql<boolean>`not exists (select 1 from announcements as earlier where earlier.target = announcements.target
							and earlier.state = 'pending' and earlier.kind <> 'settle' and earlier.number < announcements.number)`,
					)
					.orderBy('next_attempt_at')
					.orderBy('created_at')
					.limit(limit)
					.$call(lockRows(db.dialect, { skipLocked: true }))
					.execute();
				if (due.length === 0) return [];
				const ids = due.map((row) => row.id);
				const taken = await trx
					.updateTable('announcements')
					.set({ lease_owner: lease.owner, lease_until: now + lease.ms })
					.where('id', 'in', ids)
					.returningAll()
					.execute();
				return taken.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
			});
			const due: DueAnnouncement[] = [];
			for (const row of rows) {
				const readable = await dueOf(row);
				if (readable !== null) due.push(readable);
				else await db.write((trx) => finish(trx, row, { kind: 'refused', code: 'unreadable' }, now));
			}
			return due;
		},

		async postedQuestions(watchId, messageIndex) {
			const rows = await db.read
				.selectFrom('announcements')
				.selectAll()
				.where('watch_id', '=', watchId)
				.where('kind', '=', 'question')
				.where('state', '=', 'posted')
				.where('unique_key', 'like', `question:${messageIndex}:%`)
				.orderBy('number')
				.execute();
			return rows.flatMap((row) => readAnnouncement(row, cipher) ?? []);
		},

		beginAttempt: (id, owner, now) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.updateTable('announcements')
					.set({ sending_since: now })
					.where('id', '=', id)
					.where('lease_owner', '=', owner)
					.where('state', '=', 'pending')
					.executeTakeFirst();
				return result.numUpdatedRows > 0n;
			}),

		endAttempt: (id, owner, result, now) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('announcements')
					.selectAll()
					.where('id', '=', id)
					.where('lease_owner', '=', owner)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				if (row !== undefined) await finish(trx, row, result, now);
			}),

		async takeCards(lease, limit, { now, urgency }) {
			const rows = await db.write(async (trx) => {
				const due = await trx
					.selectFrom('watches')
					.select('id')
					.where('card_since', 'is not', null)
					.where('card_ts', 'is not', null)
					.where('card_not_before', '<=', now)
					.where('card_urgency', '<=', urgency === 'any' ? URGENCIES.length : URGENCIES.indexOf(urgency))
					.where(leaseFree(now))
					.orderBy('card_urgency')
					.orderBy('card_since')
					.limit(limit)
					.$call(lockRows(db.dialect, { skipLocked: true }))
					.execute();
				if (due.length === 0) return [];
				return trx
					.updateTable('watches')
					.set({ lease_owner: lease.owner, lease_until: now + lease.ms })
					.where(
						'id',
						'in',
						due.map((row) => row.id),
					)
					.returningAll()
					.execute();
			});
			const cards: DueCard[] = [];
			for (const row of rows) {
				const { view, checkedAt } = await shownBy(row);
				if (view !== null) cards.push({ watch: readWatch(row), view, checkedAt });
				else
					await db.writeOne((trx) =>
						trx
							.updateTable('watches')
							.set({ ...FREE, ...nothingWanted })
							.where('id', '=', row.id)
							.execute(),
					);
			}
			return cards;
		},

		endCard: (watchId, owner, result) =>
			db.write(async (trx) => {
				const row = await trx
					.selectFrom('watches')
					.selectAll()
					.where('id', '=', watchId)
					.where('lease_owner', '=', owner)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				if (row === undefined) return;
				await trx
					.updateTable('watches')
					.set({ ...FREE, ...cardChange(row, result) })
					.where('id', '=', watchId)
					.execute();
			}),

		async nextPostDueAt() {
			const [post, card] = await Promise.all([
				db.read
					.selectFrom('announcements')
					.where('state', '=', 'pending')
					.select(laterOf('next_attempt_at').as('at'))
					.executeTakeFirstOrThrow(),
				db.read
					.selectFrom('watches')
					.where('card_since', 'is not', null)
					.where('card_ts', 'is not', null)
					.select(laterOf('card_not_before').as('at'))
					.executeTakeFirstOrThrow(),
			]);
			if (post.at === null || card.at === null) return post.at ?? card.at;
			return Math.min(post.at, card.at);
		},
	};
}

const nothingWanted = { card_since: null, card_urgency: null } as const;

function attemptChange(row: AnnouncementRow, result: AttemptResult): Partial<AnnouncementRow> {
	switch (result.kind) {
		case 'posted':
			return { state: 'posted', posted_ts: result.ts, next_attempt_at: null, sending_since: null, last_error: null };
		case 'refused':
			return { state: 'refused', next_attempt_at: null, sending_since: null, last_error: result.code };
		case 'retry':
			return {
				attempts: row.attempts + (result.code === 'paced' ? 0 : 1),
				next_attempt_at: Math.round(result.at),
				last_error: result.code,
				...(!result.unknown && { sending_since: null }),
			};
	}
}

function cardChange(row: WatchRow, result: Parameters<WatchStore['endCard']>[2]): Partial<WatchRow> {
	switch (result.kind) {
		case 'shown': {
			const seen = { card_key: result.key, card_shown_at: result.now, card_not_before: 0 };
			return row.card_wants === result.wants ? { ...seen, ...nothingWanted } : { ...seen, card_since: result.now };
		}
		case 'retry':
			return { card_not_before: Math.round(result.at) };
		case 'lost':
			return nothingWanted;
	}
}

function leaseFree(now: number) {
	return ({ eb, or }: ExpressionBuilder<Tables, 'announcements' | 'watches'>) =>
		or([eb('lease_owner', 'is', null), eb('lease_until', '<=', now)]);
}

function laterOf(column: 'next_attempt_at' | 'card_not_before') {
	const at = sql.ref(column);
	return sql<
		number | null
	>`min(case when lease_owner is not null and lease_until > ${at} then lease_until else ${at} end)`;
}
