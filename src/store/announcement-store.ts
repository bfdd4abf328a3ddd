import { sql } from 'kysely';
import type { Lease } from '../lease-loop.ts';
import type { Log } from '../log.ts';
import type { AttemptResult, CardResult, DueAnnouncement, DueCard } from '../watches/announcements.ts';
import { type Announcement, HELD, PACED, switchingTargetOf } from '../watches/announcements.ts';
import { kindsWith } from '../watches/kinds.ts';
import type { CardUrgency } from '../watches/watch.ts';
import { change, from, hasChanged, isFound, type StoreDatabase } from './database.ts';
import { earliest, isOurs, nextDue, releaseHeld, takeReadable, UNREADABLE } from './due.ts';
import type { Cipher } from './encryption.ts';
import { giveBackUndelivered } from './hand-over-store.ts';
import { beginLadder, endReminders } from './ladder-store.ts';
import { QUESTION_POSTS } from './question-posts.ts';
import { WITHOUT_LEASE } from './tables.ts';
import { type AnnouncementRow, readAnnouncement, URGENCIES, type WatchRow } from './watch-rows.ts';
import {
	hasCard,
	lockSessionOf,
	lockWatch,
	loseCard,
	NO_CARD_WANTED,
	queueAnnouncements,
	readShownWatch,
	type Tx,
	wantCard,
} from './watch-writes.ts';

type Posted = Extract<AttemptResult, { kind: 'posted' }>;

/** The part of the store of watches that posts. */
export function createAnnouncementStore({ db, cipher, log }: { db: StoreDatabase; cipher: Cipher; log: Log }) {
	/** These watches, ended or not, with what their cards show and when that was last read, by id. */
	async function shownOf(watchIds: readonly string[]) {
		const rows = await from(db.read, 'watches', { id: watchIds }).selectAll().execute();
		const shown = rows.map(async (row) => [row.id, await readShownWatch(db, cipher, row)] as const);
		return new Map(await Promise.all(shown));
	}

	/** Null when the announcement or its card's content cannot be read. */
	async function dueOf(row: AnnouncementRow): Promise<DueAnnouncement | null> {
		const announcement = readAnnouncement(row, cipher);
		if (announcement === null) return null;
		const shown = row.watch_id === null ? undefined : (await shownOf([row.watch_id])).get(row.watch_id);
		if (shown === undefined) return { announcement, watch: null, view: null };
		const { watch, view } = shown;
		return view === null && row.kind === 'card' ? null : { announcement, watch, view };
	}

	async function dueCardOf(row: WatchRow): Promise<DueCard | null> {
		const { view, ...shown } = await readShownWatch(db, cipher, row);
		return view && { ...shown, view };
	}

	/** Begins the reminders of a question, which count from its post, and ends the post for all questions of its session. */
	async function begin(tx: Tx, row: AnnouncementRow, watch: WatchRow, posted: Posted): Promise<void> {
		const { content: asked, target } = readAnnouncement(row, cipher) ?? {};
		if (asked?.kind !== 'question' || asked.switching === true || target?.kind !== 'watch') return;
		const { fingerprint, messageIndex } = asked.question;
		const content = { kind: 'settle', messageIndex, how: 'own' } as const;
		await queueAnnouncements(tx, [{ target: switchingTargetOf(target), key: row.id, content }]);
		const postedAt = Math.min(posted.sentAt ?? tx.now, tx.now);
		await beginLadder(tx.trx, watch, { fingerprint, postTs: posted.ts, postedAt, now: tx.now });
	}

	async function finish(tx: Tx, id: string, token: string, result: AttemptResult): Promise<void> {
		const { trx, now } = tx;
		const lostCardTs = 'lostCardTs' in result ? result.lostCardTs : undefined;
		const before = await from(trx, 'announcements', { id }).selectAll().executeTakeFirst();
		if (before === undefined) return;
		const isRefused = result.kind === 'refused' && before.kind === 'handedOver';
		const handOver = isRefused ? readAnnouncement(before, cipher) : null;
		// Lock order: sessions, watches, announcements, ladders.
		const watchId = result.kind === 'posted' || lostCardTs !== undefined ? before.watch_id : null;
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
		if (handOver !== null) await giveBackUndelivered(tx, handOver);
		if (watch !== undefined && lostCardTs !== undefined) await loseCard(tx, watch, lostCardTs);
		if (result.kind !== 'retry') await endReminders(trx, endedReminders(row, result), now);
		if (watch === undefined || result.kind !== 'posted') return;
		if (row.kind === 'question') {
			if (watch.ended_at === null) await begin(tx, row, watch, result);
			if (!hasCard(watch)) await change(trx, 'watches', { id: watch.id }).set({ card_ts: result.ts }).execute();
		}
		if (row.kind !== 'card') return;
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
	function endedReminders(row: AnnouncementRow, result: AttemptResult) {
		const content = readAnnouncement(row, cipher)?.content;
		const entries = content !== undefined && 'entries' in content ? content.entries : [];
		if (result.kind === 'posted') return { entries, unseen: result.leftOut ?? [] };
		return { entries, unseen: result.kind === 'dropped' && !result.unknown ? entries : [] };
	}

	return {
		/**
		 * Leases our announcements that are due, oldest first, one for each target at a time and in the order of its target
		 * (`isFirst`).
		 */
		takeAnnouncements(lease: Lease, limit: number, now: number): Promise<readonly DueAnnouncement[]> {
			const where = sql<boolean>`state = 'pending' and next_attempt_at <= ${now}
				and ${isOurs(db)} and ${isFirst()}`;
			const due = { table: 'announcements', where, orderBy: sql`next_attempt_at, created_at`, limit } as const;
			return takeReadable(db, due, { lease, now, log }, dueOf);
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

		shownOf,

		/** Notes what the post of a question shows now. */
		noteShown: (id: string, key: string) =>
			db.writeOne((trx) => change(trx, 'announcements', { id }).set({ shown_key: key }).execute()),

		/**
		 * Notes that Slack is about to be called, and prolongs the lease. `since`: now, or the time of an earlier attempt whose
		 * post may exist. False when the lease was lost.
		 */
		beginAttempt: (id: string, token: string, { since, leasedUntil }: { since: number; leasedUntil: number }) =>
			db.writeOne((trx) => {
				const held = change(trx, 'announcements', { id, lease_token: token, state: 'pending' });
				return hasChanged(held.set({ sending_since: since, leased_until: leasedUntil }));
			}),

		/** Notes the outcome and gives the lease back; does nothing when the lease was lost. */
		endAttempt: (id: string, token: string, result: AttemptResult, now: number) =>
			db.write((trx) => finish({ trx, cipher, now }, id, token, result)),

		/** Leases our posted cards whose update is wanted: urgency `now` first, then the longest wanted. */
		takeCards(lease: Lease, limit: number, { now, urgency }: { now: number; urgency: CardUrgency | 'any' }) {
			const least = urgency === 'any' ? URGENCIES.length - 1 : URGENCIES.indexOf(urgency);
			const where = sql<boolean>`card_since is not null and card_ts is not null and card_urgency <= ${least}
				and ${isOurs(db)} and card_not_before <= ${now}`;
			const due = { table: 'watches', where, orderBy: sql`card_urgency, card_since`, limit } as const;
			return takeReadable(db, due, { lease, now, log }, dueCardOf);
		},

		/** Asked right before Slack is called. */
		holdsCard: (watchId: string, token: string) =>
			isFound(from(db.read, 'watches', { id: watchId, lease_token: token }).select('id')),

		/**
		 * Notes the outcome and gives the lease back; does nothing when the lease was lost. After `shown`, updates wanted after
		 * `wants` stay wanted. `lost`: a watch that has not ended gets one new card queued.
		 */
		endCard: (watchId: string, token: string, result: CardResult) =>
			db.write(async (trx) => {
				if (result.kind === 'lost') await lockSessionOf(trx, watchId);
				const row = await lockWatch(trx, watchId).where('lease_token', '=', token).executeTakeFirst();
				if (row === undefined) return;
				const shown = { ...WITHOUT_LEASE, ...cardChange(row, result) };
				await change(trx, 'watches', { id: watchId, lease_token: token }).set(shown).execute();
				if (result.kind === 'lost') await loseCard({ trx, cipher, now: result.now }, row, result.ts);
			}),

		releasePosts: (tokens: readonly string[]) => releaseHeld(db, tokens, 'watches', 'announcements'),

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
