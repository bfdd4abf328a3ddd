import { type Kysely, sql } from 'kysely';
import { setBounded } from '../bounded-map.ts';
import type { Lease } from '../lease-loop.ts';
import type { Log } from '../log.ts';
import type { AttemptResult, CardResult, DueAnnouncement, DueCard } from '../watches/announcements.ts';
import { type Announcement, HELD, PACED, switchingTargetOf } from '../watches/announcements.ts';
import { kindsWith } from '../watches/kinds.ts';
import type { SessionSnapshot } from '../watches/session-snapshot.ts';
import type { CardUrgency, Watch } from '../watches/watch.ts';
import { change, countChanged, from, type StoreDatabase } from './database.ts';
import { earliest, isOurs, leaseDue, nextDue, UNREADABLE_RETRY_MS } from './due.ts';
import type { Cipher } from './encryption.ts';
import { giveBackUndelivered } from './hand-over-store.ts';
import { beginLadder, type EndedReminders, endReminders } from './ladder-store.ts';
import { lockAnnouncements, lockWatches } from './lock-order.ts';
import { QUESTION_POSTS } from './question-posts.ts';
import { sessionOf, type Tables, WITHOUT_LEASE } from './tables.ts';
import { type AnnouncementRow, readAnnouncement, readWatch, URGENCIES, type WatchRow } from './watch-rows.ts';
import {
	hasCard,
	lockSessionOf,
	lockWatch,
	loseCard,
	NO_CARD_WANTED,
	queueAnnouncements,
	readShown,
	wantCard,
} from './watch-writes.ts';

/** So many rows that cannot be read are logged once only. */
const MAX_NOTED = 1_000;

/** The `last_error` of an announcement that cannot be read. It does not block later ones of its target. */
const UNREADABLE = 'unreadable';

type Posted = Extract<AttemptResult, { kind: 'posted' }>;

/** The posting part of `WatchStore`. */
export function createAnnouncementStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	const noted = new Map<string, true>();

	/** Logs each row that cannot be read once. */
	function noteUnreadable(row: { watch: string } | { announcement: string }): void {
		const name = JSON.stringify(row);
		if (noted.has(name)) return;
		setBounded(noted, name, true, MAX_NOTED);
		log.warn(row, 'a row that is damaged or written with another key cannot be read and is skipped');
	}

	/** Null when the announcement or its card's content cannot be read. */
	async function dueOf(row: AnnouncementRow): Promise<DueAnnouncement | null> {
		const announcement = readAnnouncement(row, cipher);
		if (announcement === null) return null;
		const ofPost = row.watch_id === null ? null : from(db.read, 'watches', { id: row.watch_id }).selectAll();
		const watchRow = await ofPost?.executeTakeFirst();
		if (watchRow === undefined) return { announcement, watch: null, view: null };
		const { view } = await readShown(db, cipher, sessionOf(watchRow));
		return view === null && row.kind === 'card' ? null : { announcement, watch: readWatch(watchRow), view };
	}

	async function postpone({ id }: AnnouncementRow, token: string, now: number): Promise<void> {
		noteUnreadable({ announcement: id });
		const later = { ...WITHOUT_LEASE, next_attempt_at: now + UNREADABLE_RETRY_MS, last_error: UNREADABLE };
		const held = { id, lease_token: token, state: 'pending' };
		await db.writeOne((trx) => change(trx, 'announcements', held).set(later).execute());
	}

	async function postponeCard({ id }: WatchRow, token: string, now: number): Promise<void> {
		noteUnreadable({ watch: id });
		const later = { ...WITHOUT_LEASE, card_not_before: now + UNREADABLE_RETRY_MS };
		await db.writeOne((trx) => change(trx, 'watches', { id, lease_token: token }).set(later).execute());
	}

	/** Begins the reminders of a question, which count from its post, and ends the post for all questions of its session. */
	async function begin(
		trx: Kysely<Tables>,
		{ row, watch, posted, now }: { row: AnnouncementRow; watch: WatchRow; posted: Posted; now: number },
	): Promise<void> {
		const { content: asked, target } = readAnnouncement(row, cipher) ?? {};
		if (asked?.kind !== 'question' || asked.switching === true || target?.kind !== 'watch') return;
		const { fingerprint, messageIndex } = asked.question;
		const content = { kind: 'settle', messageIndex, how: 'own' } as const;
		await queueAnnouncements(trx, cipher, [{ target: switchingTargetOf(target), key: row.id, content }], now);
		const postedAt = Math.min(posted.sentAt ?? now, now);
		await beginLadder(trx, watch, { fingerprint, postTs: posted.ts, postedAt, now });
	}

	async function watchIdOf(trx: Kysely<Tables>, id: string): Promise<string | null> {
		const row = await from(trx, 'announcements', { id }).select('watch_id').executeTakeFirst();
		return row?.watch_id ?? null;
	}

	/** The direct message to the person who got a question; null for anything else. */
	async function handOverIn(trx: Kysely<Tables>, id: string): Promise<Announcement | null> {
		const row = await from(trx, 'announcements', { id, kind: 'handedOver' }).selectAll().executeTakeFirst();
		return row === undefined ? null : readAnnouncement(row, cipher);
	}

	async function finish(
		trx: Kysely<Tables>,
		{ id, token }: { id: string; token: string },
		result: AttemptResult,
		now: number,
	): Promise<void> {
		const lostCardTs = 'lostCardTs' in result ? result.lostCardTs : undefined;
		const handOver = result.kind === 'refused' ? await handOverIn(trx, id) : null;
		// Lock order: sessions, watches, announcements, ladders.
		const watchId = result.kind === 'posted' || lostCardTs !== undefined ? await watchIdOf(trx, id) : null;
		await lockSessionOf(trx, watchId);
		const watch = watchId === null ? undefined : await lockWatch(trx, watchId).executeTakeFirst();
		if (handOver?.content.kind === 'handedOver') await lockSessionOf(trx, handOver.content.watchId);
		const row = await change(trx, 'announcements', { id, state: 'pending', lease_token: token })
			.set((eb) => ({
				...WITHOUT_LEASE,
				...attemptChange(result),
				...(result.kind === 'retry' && result.code !== PACED && { attempts: eb('attempts', '+', 1) }),
			}))
			.returningAll()
			.executeTakeFirst();
		if (row === undefined) return;
		if (handOver !== null) await giveBackUndelivered(trx, cipher, handOver, now);
		if (watch !== undefined && lostCardTs !== undefined) await loseCard(trx, cipher, watch, { ts: lostCardTs, now });
		if (result.kind !== 'retry') await endReminders(trx, endedReminders(row, result), now);
		const isNewCard = result.kind === 'posted' && row.kind === 'card';
		const isQuestion = result.kind === 'posted' && row.kind === 'question';
		if (watch === undefined) return;
		if (isQuestion && watch.ended_at === null) await begin(trx, { row, watch, posted: result, now });
		if (isQuestion && !hasCard(watch)) {
			await change(trx, 'watches', { id: watch.id }).set({ card_ts: result.ts }).execute();
		}
		if (!isNewCard) return;
		await change(trx, 'watches', { id: watch.id })
			.set({
				card_ts: result.ts,
				card_key: result.cardKey,
				card_shown_at: now,
				// A card without a key was found in Slack after a crash and may show an old state.
				...(result.cardKey === null && wantCard(watch, 'progress', now)),
			})
			.execute();
	}

	/** The reminders of an announcement. What an earlier attempt may have shown counts as seen. */
	function endedReminders(row: AnnouncementRow, result: AttemptResult): EndedReminders {
		const content = readAnnouncement(row, cipher)?.content;
		const entries = content !== undefined && 'entries' in content ? content.entries : [];
		if (result.kind === 'posted') return { entries, unseen: result.leftOut ?? [] };
		return { entries, unseen: result.kind === 'dropped' && !result.unknown ? entries : [] };
	}

	return {
		/**
		 * Leases our announcements that are due, oldest first, one for each target at a time. A card goes before the other
		 * announcements of its target, which keep their order. An announcement that settles, cannot be read or is a held card
		 * holds up no other.
		 */
		async takeAnnouncements(lease: Lease, limit: number, now: number): Promise<readonly DueAnnouncement[]> {
			const where = sql<boolean>`state = 'pending' and next_attempt_at <= ${now}
				and ${isOurs(db)} and ${isFirst()}`;
			const orderBy = sql`next_attempt_at, created_at`;
			const rows = await leaseDue(db, { table: 'announcements', key: 'id', where, orderBy, limit }, { lease, now });
			const due: DueAnnouncement[] = [];
			for (const row of rows) {
				const readable = await dueOf(row);
				if (readable !== null) due.push(readable);
				else await postpone(row, lease.token, now);
			}
			return due;
		},

		/**
		 * The question posts of the target of a `settle` or `redraw`, oldest first: those between the `settle` before it and
		 * `updateId`, and for a `redraw` only posts that no `settle` follows.
		 */
		async postedQuestions(updateId: string): Promise<readonly Announcement[]> {
			const target = from(db.read, 'announcements', { id: updateId }).select('target');
			const rows = await from(db.read, 'announcements', { kind: QUESTION_POSTS, state: 'posted', target })
				.selectAll()
				.where(
					sql<boolean>`exists (select 1 from announcements as change where change.id = ${updateId}
						and change.target = announcements.target and change.number > announcements.number
						and not exists (select 1 from announcements as other where other.target = change.target
							and other.kind = 'settle' and other.state in ('pending', 'posted')
							and other.number > announcements.number
							and (other.number < change.number or change.kind = 'redraw')))`,
				)
				.orderBy('number')
				.execute();
			return rows.flatMap((row) => readAnnouncement(row, cipher) ?? []);
		},

		/** These watches, ended or not, with what their cards show and when that was last read, by id. */
		async shownOf(
			watchIds: readonly string[],
		): Promise<ReadonlyMap<string, { watch: Watch; view: SessionSnapshot | null; checkedAt: number | null }>> {
			if (watchIds.length === 0) return new Map();
			const rows = await from(db.read, 'watches', { id: watchIds }).selectAll().execute();
			const shown = await Promise.all(
				rows.map(async (row) => {
					return [row.id, { watch: readWatch(row), ...(await readShown(db, cipher, sessionOf(row))) }] as const;
				}),
			);
			return new Map(shown);
		},

		/** Notes what the post of a question shows now. */
		async noteShown(id: string, key: string): Promise<void> {
			await db.writeOne((trx) => change(trx, 'announcements', { id }).set({ shown_key: key }).execute());
		},

		/**
		 * Notes that Slack is about to be called, and prolongs the lease. `since`: now, or the time of an earlier attempt whose
		 * post may exist. False when the lease was lost.
		 */
		beginAttempt: (id: string, token: string, { since, leasedUntil }: { since: number; leasedUntil: number }) =>
			db.writeOne(async (trx) => {
				const held = change(trx, 'announcements', { id, lease_token: token, state: 'pending' });
				return (await countChanged(held.set({ sending_since: since, leased_until: leasedUntil }))) > 0;
			}),

		/**
		 * Notes the outcome and gives the lease back; does nothing when the lease was lost. A lost card is handled as by
		 * `endCard`.
		 */
		endAttempt: (id: string, token: string, result: AttemptResult, now: number) =>
			db.write((trx) => finish(trx, { id, token }, result, now)),

		/** Leases our posted cards whose update is wanted: urgency `now` first, then the longest wanted. */
		async takeCards(
			lease: Lease,
			limit: number,
			{ now, urgency }: { now: number; urgency: CardUrgency | 'any' },
		): Promise<readonly DueCard[]> {
			const least = urgency === 'any' ? URGENCIES.length - 1 : URGENCIES.indexOf(urgency);
			const where = sql<boolean>`card_since is not null and card_ts is not null and card_urgency <= ${least}
				and ${isOurs(db)} and card_not_before <= ${now}`;
			const orderBy = sql`card_urgency, card_since`;
			const rows = await leaseDue(db, { table: 'watches', key: 'id', where, orderBy, limit }, { lease, now });
			const cards: DueCard[] = [];
			for (const row of rows) {
				const shown = await readShown(db, cipher, sessionOf(row));
				if (shown.view !== null) cards.push({ watch: readWatch(row), ...shown, view: shown.view });
				else await postponeCard(row, lease.token, now);
			}
			return cards;
		},

		/** Whether the card is still leased by this token; asked right before Slack is called. */
		async holdsCard(watchId: string, token: string): Promise<boolean> {
			const held = from(db.read, 'watches', { id: watchId, lease_token: token }).select('id');
			return (await held.executeTakeFirst()) !== undefined;
		},

		/**
		 * Notes the outcome and gives the lease back; does nothing when the lease was lost. After `shown`, updates wanted after
		 * `wants` stay wanted. `retry`: not due before `at`. `refused`: the update is given up. `lost`: a watch that has not
		 * ended gets one new card queued.
		 */
		endCard: (watchId: string, token: string, result: CardResult) =>
			db.write(async (trx) => {
				if (result.kind === 'lost') await lockSessionOf(trx, watchId);
				const row = await lockWatch(trx, watchId).where('lease_token', '=', token).executeTakeFirst();
				if (row === undefined) return;
				const shown = { ...WITHOUT_LEASE, ...cardChange(row, result) };
				await change(trx, 'watches', { id: watchId, lease_token: token }).set(shown).execute();
				if (result.kind === 'lost') await loseCard(trx, cipher, row, result);
			}),

		/** Gives back the cards and announcements that are still held with these tokens (shutdown). */
		async releasePosts(tokens: readonly string[]): Promise<void> {
			if (tokens.length === 0) return;
			await db.write(async (trx) => {
				const held = { lease_token: tokens };
				await change(trx, 'watches', { id: lockWatches(trx, held) })
					.set(WITHOUT_LEASE)
					.execute();
				await change(trx, 'announcements', { id: lockAnnouncements(trx, held) })
					.set(WITHOUT_LEASE)
					.execute();
			});
		},

		postRows: db.queuedRows(['announcements', 'watches']),

		/**
		 * When `takeAnnouncements` and `takeCards` next find something; null for never. Announcements that wait for another one
		 * do not count.
		 */
		async nextPostDueAt() {
			const pending = sql<boolean>`state = 'pending' and ${isOurs(db)} and ${isFirst()}`;
			const at = earliest('card_not_before');
			const wanted = sql<{ urgency: number; at: number | null }>`select card_urgency as urgency, ${at} as at
				from watches where card_since is not null and card_ts is not null and ${isOurs(db)} group by card_urgency`;
			const [post, cards] = await Promise.all([
				nextDue(db, 'announcements', pending, 'next_attempt_at'),
				wanted.execute(db.read),
			]);
			const card = (urgency: CardUrgency) =>
				cards.rows.find((row) => row.urgency === URGENCIES.indexOf(urgency))?.at ?? null;
			return { post, card: { now: card('now'), progress: card('progress') } };
		},
	};
}

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

function cardChange(row: WatchRow, result: CardResult): Partial<WatchRow> {
	switch (result.kind) {
		case 'shown': {
			const shown = { card_key: result.key, card_shown_at: result.now, card_not_before: 0 };
			return row.card_wants === result.wants ? { ...shown, ...NO_CARD_WANTED } : { ...shown, card_since: result.now };
		}
		case 'retry':
			return { card_not_before: Math.round(result.at) };
		case 'refused':
		case 'lost':
			return NO_CARD_WANTED;
	}
}

/**
 * Whether an announcement is the next one of its target. The card comes first, because everything else goes into its
 * thread. Posts do not wait for updates of posts (those wait for Slack's update rate), for an unreadable row or for a
 * held card. Updates of posts wait for each other, so that the newest state is shown last.
 */
function isFirst() {
	return sql<boolean>`(announcements.kind = 'card' or not exists (select 1 from announcements as earlier
		where earlier.target = announcements.target and earlier.state = 'pending'
		and (earlier.kind not in (${UPDATES}) or announcements.kind in (${UPDATES}))
		and coalesce(earlier.last_error, '') not in (${UNREADABLE}, ${HELD})
		and (earlier.kind = 'card' or earlier.number < announcements.number)))`;
}

const UPDATES = sql.join(kindsWith(({ updates = false }) => updates));

/** Makes unreadable rows due in their order: this start may have brought the right key or version. */
export async function retryUnreadable(db: StoreDatabase): Promise<void> {
	await db.write(async (trx) => {
		await change(trx, 'announcements', { state: 'pending', last_error: UNREADABLE })
			.set((eb) => ({ next_attempt_at: eb.ref('created_at'), last_error: null }))
			.execute();
		// A card's row does not say why it waits. One that waits for Slack's rate limit is refused again.
		await change(trx, 'watches', {}).set({ card_not_before: 0 }).where('card_since', 'is not', null).execute();
	});
}
