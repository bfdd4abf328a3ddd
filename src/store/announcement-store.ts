import { type Kysely, sql } from 'kysely';
import { CARD_HELD, waitsForTurn } from '../watches/announcements.ts';
import type { AttemptResult, DueAnnouncement, DueCard, WatchStore } from '../watches/ports.ts';
import type { CardUrgency } from '../watches/watch.ts';
import type { Cipher } from './cipher.ts';
import { WITHOUT_LEASE } from './columns.ts';
import { lockRows, type StoreDatabase } from './database.ts';
import { dueAt, isDue, isFree, LONGEST_DELAY_MS, lapsesAt } from './due.ts';
import type { Tables } from './tables.ts';
import { type createUnreadableNotes, UNREADABLE, UNREADABLE_RETRY_MS } from './unreadable.ts';
import { type AnnouncementRow, readAnnouncement, readView, readWatch, URGENCIES, type WatchRow } from './watch-rows.ts';
import { lockSession, loseCard, onSession, wantCard } from './watch-writes.ts';

type PostMethods = Pick<
	WatchStore,
	| 'takeAnnouncements'
	| 'postedQuestions'
	| 'beginAttempt'
	| 'endAttempt'
	| 'takeCards'
	| 'holdsCard'
	| 'endCard'
	| 'nextPostDueAt'
>;

/** What is posted and updated, of `WatchStore`. */
export function createAnnouncementStore({
	db,
	cipher,
	noteUnreadable,
}: {
	db: StoreDatabase;
	cipher: Cipher;
	noteUnreadable: ReturnType<typeof createUnreadableNotes>;
}): PostMethods {
	async function shownBy(watch: WatchRow) {
		const row = await db.read
			.selectFrom('watched_sessions')
			.select(['service', 'session_id', 'view', 'last_read_at'])
			.where(onSession({ service: watch.service, sessionId: watch.session_id }))
			.executeTakeFirst();
		return { view: row === undefined ? null : readView(row, cipher), checkedAt: row?.last_read_at ?? null };
	}

	/** Null when it, or what it is about, cannot be read. */
	async function dueOf(row: AnnouncementRow): Promise<DueAnnouncement | null> {
		const announcement = readAnnouncement(row, cipher);
		if (announcement === null) return null;
		const watchRow =
			row.watch_id === null
				? undefined
				: await db.read.selectFrom('watches').selectAll().where('id', '=', row.watch_id).executeTakeFirst();
		if (watchRow === undefined) return { announcement, watch: null, view: null };
		const watch = readWatch(watchRow);
		const { view } = await shownBy(watchRow);
		if (watch === null || (view === null && row.kind === 'card')) return null;
		return { announcement, watch, view };
	}

	async function putOff({ id }: AnnouncementRow, token: string, now: number): Promise<void> {
		noteUnreadable({ announcement: id });
		await db.writeOne((trx) =>
			trx
				.updateTable('announcements')
				.set({ ...WITHOUT_LEASE, next_attempt_at: now + UNREADABLE_RETRY_MS, last_error: UNREADABLE })
				.where('id', '=', id)
				.where('lease_token', '=', token)
				.where('state', '=', 'pending')
				.execute(),
		);
	}

	async function putOffCard({ id }: WatchRow, token: string, now: number): Promise<void> {
		noteUnreadable({ watch: id });
		await db.writeOne((trx) =>
			trx
				.updateTable('watches')
				.set({ ...WITHOUT_LEASE, card_not_before: now + UNREADABLE_RETRY_MS })
				.where('id', '=', id)
				.where('lease_token', '=', token)
				.execute(),
		);
	}

	/** What adds to a watch's announcements locks its session first, then the watch. */
	async function lockSessionOf(trx: Kysely<Tables>, watchId: string | null): Promise<void> {
		if (watchId === null) return;
		const key = await trx
			.selectFrom('watches')
			.select(['service', 'session_id'])
			.where('id', '=', watchId)
			.executeTakeFirst();
		if (key !== undefined) await lockSession(trx, db.dialect, { service: key.service, sessionId: key.session_id });
	}

	async function watchIdOf(trx: Kysely<Tables>, id: string): Promise<string | null> {
		const row = await trx.selectFrom('announcements').select('watch_id').where('id', '=', id).executeTakeFirst();
		return row?.watch_id ?? null;
	}

	async function finish(
		trx: Kysely<Tables>,
		id: string,
		token: string,
		result: AttemptResult,
		now: number,
	): Promise<void> {
		const lostCardTs = 'lostCardTs' in result ? result.lostCardTs : undefined;
		if (lostCardTs !== undefined) await lockSessionOf(trx, await watchIdOf(trx, id));
		const row = await trx
			.updateTable('announcements')
			.set((eb) => ({
				...WITHOUT_LEASE,
				...attemptChange(result),
				...(result.kind === 'retry' && !waitsForTurn(result.code) && { attempts: eb('attempts', '+', 1) }),
			}))
			.where('id', '=', id)
			.where('state', '=', 'pending')
			.where('lease_token', '=', token)
			.returning(['kind', 'watch_id'])
			.executeTakeFirst();
		if (row === undefined || row.watch_id === null) return;
		const isNewCard = result.kind === 'posted' && row.kind === 'card';
		if (!isNewCard && lostCardTs === undefined) return;
		const watch = await trx
			.selectFrom('watches')
			.selectAll()
			.where('id', '=', row.watch_id)
			.$call(lockRows(db.dialect))
			.executeTakeFirst();
		if (watch === undefined) return;
		if (lostCardTs !== undefined) await loseCard(trx, cipher, watch, { ts: lostCardTs, now });
		if (!isNewCard) return;
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
					.where(isDue('next_attempt_at', now, LONGEST_DELAY_MS.post))
					.where(isFree(now))
					.where(isFirst())
					.orderBy(dueAt('next_attempt_at', now, LONGEST_DELAY_MS.post))
					.orderBy('created_at')
					.limit(limit)
					.$call(lockRows(db.dialect, { skipLocked: true }))
					.execute();
				if (due.length === 0) return [];
				const ids = due.map((row) => row.id);
				const taken = await trx
					.updateTable('announcements')
					.set({ lease_token: lease.token, lease_until: now + lease.ms })
					.where('id', 'in', ids)
					.where('state', '=', 'pending')
					.where(isFree(now))
					.returningAll()
					.execute();
				return taken.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
			});
			const due: DueAnnouncement[] = [];
			for (const row of rows) {
				const readable = await dueOf(row);
				if (readable !== null) due.push(readable);
				else await putOff(row, lease.token, now);
			}
			return due;
		},

		async postedQuestions(settleId) {
			const rows = await db.read
				.selectFrom('announcements')
				.selectAll()
				.where('kind', '=', 'question')
				.where('state', '=', 'posted')
				.where(
					sql<boolean>`exists (select 1 from announcements as settle where settle.id = ${settleId}
						and settle.target = announcements.target and settle.number > announcements.number
						and not exists (select 1 from announcements as former where former.target = settle.target
							and former.kind = 'settle' and former.state in ('pending', 'posted')
							and former.number > announcements.number and former.number < settle.number))`,
				)
				.orderBy('number')
				.execute();
			return rows.flatMap((row) => readAnnouncement(row, cipher) ?? []);
		},

		beginAttempt: (id, token, since) =>
			db.writeOne(async (trx) => {
				const result = await trx
					.updateTable('announcements')
					.set({ sending_since: since })
					.where('id', '=', id)
					.where('lease_token', '=', token)
					.where('state', '=', 'pending')
					.executeTakeFirst();
				return result.numUpdatedRows > 0n;
			}),

		endAttempt: (id, token, result, now) => db.write((trx) => finish(trx, id, token, result, now)),

		async takeCards(lease, limit, { now, urgency }) {
			const rows = await db.write(async (trx) => {
				const due = await trx
					.selectFrom('watches')
					.select('id')
					.where('card_since', 'is not', null)
					.where('card_ts', 'is not', null)
					.where(isDue('card_not_before', now, LONGEST_DELAY_MS.post))
					.where('card_urgency', '<=', urgency === 'any' ? URGENCIES.length - 1 : URGENCIES.indexOf(urgency))
					.where(isFree(now))
					.orderBy('card_urgency')
					.orderBy('card_since')
					.limit(limit)
					.$call(lockRows(db.dialect, { skipLocked: true }))
					.execute();
				if (due.length === 0) return [];
				return trx
					.updateTable('watches')
					.set({ lease_token: lease.token, lease_until: now + lease.ms })
					.where(
						'id',
						'in',
						due.map((row) => row.id),
					)
					.where('card_since', 'is not', null)
					.where(isFree(now))
					.returningAll()
					.execute();
			});
			const cards: DueCard[] = [];
			for (const row of rows) {
				const watch = readWatch(row);
				const { view, checkedAt } = await shownBy(row);
				if (watch !== null && view !== null) cards.push({ watch, view, checkedAt });
				else await putOffCard(row, lease.token, now);
			}
			return cards;
		},

		async holdsCard(watchId, token) {
			const held = await db.read
				.selectFrom('watches')
				.select('id')
				.where('id', '=', watchId)
				.where('lease_token', '=', token)
				.executeTakeFirst();
			return held !== undefined;
		},

		endCard: (watchId, token, result) =>
			db.write(async (trx) => {
				if (result.kind === 'lost') await lockSessionOf(trx, watchId);
				const row = await trx
					.selectFrom('watches')
					.selectAll()
					.where('id', '=', watchId)
					.where('lease_token', '=', token)
					.$call(lockRows(db.dialect))
					.executeTakeFirst();
				if (row === undefined) return;
				await trx
					.updateTable('watches')
					.set({ ...WITHOUT_LEASE, ...cardChange(row, result) })
					.where('id', '=', watchId)
					.where('lease_token', '=', token)
					.execute();
				if (result.kind === 'lost') await loseCard(trx, cipher, row, result);
			}),

		async nextPostDueAt(now) {
			const [post, cards] = await Promise.all([
				db.read
					.selectFrom('announcements')
					.where('state', '=', 'pending')
					.where(isFirst())
					.select(earliest('next_attempt_at', now).as('at'))
					.executeTakeFirstOrThrow(),
				db.read
					.selectFrom('watches')
					.where('card_since', 'is not', null)
					.where('card_ts', 'is not', null)
					.groupBy('card_urgency')
					.select(['card_urgency', earliest('card_not_before', now).as('at')])
					.execute(),
			]);
			const card = (urgency: CardUrgency) =>
				cards.find(({ card_urgency }) => card_urgency === URGENCIES.indexOf(urgency))?.at ?? null;
			return { post: post.at, card: { now: card('now'), progress: card('progress') } };
		},
	};
}

const nothingWanted = { card_since: null, card_urgency: null } as const;

function attemptChange(result: AttemptResult): Partial<AnnouncementRow> {
	switch (result.kind) {
		case 'posted':
			return { state: 'posted', posted_ts: result.ts, next_attempt_at: null, sending_since: null, last_error: null };
		case 'refused':
			return { state: 'refused', next_attempt_at: null, sending_since: null, last_error: result.code };
		case 'dropped':
			return { state: 'dropped', next_attempt_at: null, sending_since: null };
		case 'retry':
			return {
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
		case 'refused':
		case 'lost':
			return nothingWanted;
	}
}

/**
 * Whether nothing of its target comes before it: a card comes first, since everything else goes into its thread. Settling
 * waits for the rate of updates, what cannot be read for a key or a version, and a card that is held for its time: what
 * comes after those does not wait for that.
 */
function isFirst() {
	return sql<boolean>`(announcements.kind = 'card' or not exists (select 1 from announcements as earlier
		where earlier.target = announcements.target and earlier.state = 'pending' and earlier.kind <> 'settle'
		and coalesce(earlier.last_error, '') not in (${UNREADABLE}, ${CARD_HELD})
		and (earlier.kind = 'card' or earlier.number < announcements.number)))`;
}

/** The earliest time at which a row is due and nobody holds it. */
function earliest(column: 'next_attempt_at' | 'card_not_before', now: number) {
	const due = dueAt(column, now, LONGEST_DELAY_MS.post);
	const lapse = lapsesAt('lease_until', now);
	return sql<number | null>`min(case when lease_token is not null and ${lapse} > ${due} then ${lapse} else ${due} end)`;
}
