import { type Kysely, sql } from 'kysely';
import { targetOfHandOver } from '../inbox/hand-over.ts';
import type { Lease } from '../lease-loop.ts';
import { isWaiting } from '../questions/session.ts';
import type { AnnouncementContent } from '../watches/kinds.ts';
import { SHOWN_EVERY_MS, UNANSWERED } from '../watches/news.ts';
import { AWAITED_AHEAD_MS } from '../watches/schedule.ts';
import type { QuestionView } from '../watches/session-snapshot.ts';
import type { SessionKey, Watch } from '../watches/watch.ts';
import type {
	HeldSession,
	ListedWaiting,
	MovedRead,
	PlannedRead,
	ReadKind,
	SessionUpdate,
	TakenSession,
	WatchedOutline,
	WatchUpdate,
} from '../watches/watched-session.ts';
import { hasOpenQuestion } from '../watches/watched-session.ts';
import { change, from, inLockOrder, isFound, locked, remove, type StoreDatabase } from './database.ts';
import { leaseDue, nextDue, releaseHeld } from './due.ts';
import type { Cipher } from './encryption.ts';
import { dropPending, endingsOf, openPosts } from './question-posts.ts';
import { openQuestionOf, recordQuestions, settleQuestion } from './question-store.ts';
import { type ChannelRow, channelOf, sessionColumns, sessionOf, type Tables, WITHOUT_LEASE } from './tables.ts';
import {
	readAnnouncement,
	readDigest,
	readHandOver,
	readView,
	readWatch,
	readWatchedSession,
	sealContent,
	sealView,
	targetKey,
	type WatchedSessionRow,
	type WatchRow,
} from './watch-rows.ts';
import {
	askForRead,
	asksAnew,
	changeWaiting,
	endQuestion,
	endWatch,
	liveWatches,
	lockSession,
	lowerHand,
	queueAnnouncements,
	queueRedraws,
	readEarly,
	settleIn,
	type Tx,
	touchLadders,
	wantCard,
	wantCards,
} from './watch-writes.ts';

interface RecordedRead {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
	readonly now: number;
}

interface OutageUpdate {
	readonly service: string;
	readonly now: number;
	readonly down: boolean;
	/** When the first read failed, clock milliseconds. */
	readonly since: number;
	/** The service is not down if any replica has read something since. */
	readonly unlessReadSince: number;
}

/** The part of the store of watches about the sessions that are read. */
export function createWatchedSessionStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	/** Returns 1 when an update of the card was requested already. */
	async function recordWatch(tx: Tx, update: WatchUpdate, readAt: number): Promise<number> {
		const { trx, now } = tx;
		const unchanged = { id: update.watchId, revision: update.revision };
		const before = await liveWatches(trx, unchanged).forUpdate().executeTakeFirst();
		if (before === undefined) return 0;
		const isOfQuestions = update.announcements.some((one) => one.key.startsWith(UNANSWERED) || 'topic' in one.target);
		const cardAt = Math.max(before.card_not_before, (before.card_shown_at ?? 0) + SHOWN_EVERY_MS);
		const row = await change(trx, 'watches', { ...unchanged, ended_at: null })
			.set({
				digest: JSON.stringify(update.digest),
				revision: update.revision + 1,
				...(update.changed && { last_change_at: now }),
				...(update.card !== null && update.end === null && wantCard(before, update.card, now)),
				// The card of an agent that changes its question often.
				...(update.card === 'progress' && isOfQuestions && { card_not_before: cardAt }),
			})
			.returningAll()
			.executeTakeFirstOrThrow();
		if (update.end === null) {
			await queueAnnouncements(tx, update.announcements);
			const isAsked = update.announcements.some(({ content }) => content.kind === 'question');
			if (isAsked && before.digest !== null) await changeWaiting(trx, row, asksAnew(now));
			const settled = settleIn(update.announcements);
			if (settled !== null) await endQuestion(tx, update.watchId, settled);
			if (update.reworded != null) await rewordPosts(tx, row, update.reworded, readAt);
		} else {
			const { end: reason, announcements } = update;
			if (reason === 'handLowered') await lowerHand(tx, row, announcements);
			else await endWatch(tx, row, { reason, announcements, keepPending: true });
		}
		return update.card !== null && before.card_since !== null ? 1 : 0;
	}

	/** Gives the posts of a watch's open question its new text, also the direct message about it, and has them drawn again. */
	async function rewordPosts(tx: Tx, watch: WatchRow, question: QuestionView, readAt: number): Promise<void> {
		const { trx } = tx;
		const handOvers = await from(trx, 'hand_overs', { watch_id: watch.id }).selectAll().execute();
		const targets = handOvers.map((row) => targetKey(targetOfHandOver(readHandOver(row))));
		const posts = openPosts(trx, [`watch:${watch.id}`, ...targets]);
		const { context, shownHash, quick } = question;
		for (const row of await posts.selectAll().execute()) {
			const content = readAnnouncement(row, cipher)?.content;
			if (content === undefined || !('readAt' in content)) continue;
			if (content.question.fingerprint !== question.fingerprint) continue;
			const reworded = { ...content, question: { ...content.question, context, shownHash, quick }, readAt };
			const sealed = sealContent(row.id, reworded, cipher);
			await change(trx, 'announcements', { id: row.id }).set({ content: sealed }).execute();
		}
		await queueRedraws(tx, sessionOf(watch));
	}

	const readSessions = (service: string) =>
		from(db.read, 'watched_sessions', { service }).where('next_read_at', 'is not', null);

	return {
		/** Leases up to `limit` sessions whose read is due, in the order of `PlannedRead.by`. `only` null: of both kinds. */
		async takeDue(
			service: string,
			lease: Lease,
			limit: number,
			{ now, only }: { now: number; only: ReadKind | null },
		): Promise<readonly TakenSession[]> {
			const where = sql<boolean>`next_read_at <= ${now} and ${isOfKind(only)}`;
			const orderBy = sql`read_by`;
			const due = { table: 'watched_sessions', service, where, orderBy, limit } as const;
			const rows = await leaseDue(db, due, { lease, now });
			return rows.map((row) => ({ ...readWatchedSession(row), view: readView(row, cipher) }));
		},

		/** Since when the open question of a session is asked; null while none is open. */
		askedAt: async (key: SessionKey) => (await openQuestionOf(db.read, key))?.asked_at ?? null,

		/** Prolongs these leases by `ms` from `now`; returns the sessions still held. */
		renew: (held: readonly HeldSession[], ms: number, now: number): Promise<readonly SessionKey[]> =>
			db.writeOne(async (trx) => {
				const service = [...new Set(held.map(({ session }) => session.service))];
				const sessionIds = held.map(({ session }) => session.sessionId);
				const own = { service, session_id: sessionIds, lease_token: held.map(({ token }) => token) };
				const renewed = change(trx, 'watched_sessions', { ...own, session_id: locked(trx, 'watched_sessions', own) });
				const rows = renewed.set({ leased_until: now + ms }).returning(['service', 'session_id']);
				return (await rows.execute()).map(sessionOf);
			}),

		sessionRows: db.queuedRows(['watched_sessions']),

		/** When `takeDue` next finds a session, or null. */
		nextReadDueAt(service: string, only: ReadKind | null): Promise<number | null> {
			const where = sql<boolean>`service = ${service} and next_read_at is not null and ${isOfKind(only)}`;
			return nextDue(db, 'watched_sessions', where, 'next_read_at');
		},

		async outlines(service: string): Promise<readonly WatchedOutline[]> {
			const rows = await readSessions(service).selectAll().execute();
			const live = from(db.read, 'watches', { service, ended_at: null });
			const watcher = sql<string>`case when mode = 'raisedHand' then channel_id else created_by end`.as('watcher');
			const watches = await live.select(['session_id', watcher]).distinct().execute();
			const watchers = Map.groupBy(watches, (row) => row.session_id);
			return rows.map(readWatchedSession).map((session) => ({
				...session,
				status: session.digest?.status ?? null,
				questionOpen: session.digest !== null && hasOpenQuestion(session.digest),
				watchers: watchers.get(session.session.sessionId)?.map((one) => one.watcher) ?? [],
			}));
		},

		/** How many sessions are watched. */
		async countSessions(service: string): Promise<number> {
			const counted = readSessions(service).select((eb) => eb.fn.countAll<number>().as('count'));
			return (await counted.executeTakeFirstOrThrow()).count;
		},

		/**
		 * Writes a read's outcome and gives the lease back: schedule, view, and for each watch digest, announcements, card and
		 * end, all or nothing. Null when the lease was lost: nothing was written. `coalesced`: cards that were wanted already.
		 */
		record: ({ session: key, token }: HeldSession, { update, watches, now }: RecordedRead) =>
			db.write(async (trx) => {
				const row = await lockSession(trx, key);
				if (row === undefined || row.lease_token !== token) return null;
				const held = change(trx, 'watched_sessions', { ...sessionColumns(key), lease_token: token });
				await held.set(sessionChange(row, update, cipher)).execute();
				let coalesced = 0;
				const readAt = update.lastReadAt ?? now;
				await recordQuestions({ trx, now }, key, update.questions ?? [], { readAt, before: row.last_read_at });
				for (const watch of watches) coalesced += await recordWatch({ trx, cipher, now }, watch, readAt);
				// The watches share the question and its snoozes, so the end of one watch leaves them.
				const isSettled = watches.some(({ announcements }) => settleIn(announcements) !== null);
				const isEnded = watches.some(({ end }) => end !== null);
				// What the agent asks next may have the same words.
				if (isSettled) await remove(trx, 'snoozes', sessionColumns(key)).execute();
				if (isEnded) await stopUnwatched(trx, key, now);
				// Reminders may have been due while the service was away.
				const isBack = row.failures > 0 && update.failures === 0;
				if (isSettled || isEnded || isBack) await touchLadders(trx, sessionColumns(key), now);
				return { coalesced };
			}),

		releaseReads: (tokens: readonly string[]) => releaseHeld(db, tokens, 'watched_sessions'),

		/** The watches of a session that have not ended, with their `endings`. */
		async ofSession(session: SessionKey, now: number): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, sessionColumns(session)).orderBy('created_at').orderBy('id');
			const rows = await live.execute();
			const endings = await endingsOf(db.read, session, now);
			return rows.map((row) => ({ ...readWatch(row), endings: endings(row.channel_id) }));
		},

		/** Whether the reads of a session fail that could be read before. */
		async isFailing(service: string): Promise<boolean> {
			const failing = readSessions(service).where('failures', '>', 0).where('digest', 'is not', null);
			return isFound(failing.select('session_id'));
		},

		/**
		 * Moves ahead of all others the reads of those of these sessions, which wait for a person, that are watched and whose
		 * newest read does not show that: it found another status, or is older than `absentAt`. Returns them.
		 */
		async readWaiting(service: string, sessions: readonly ListedWaiting[], now: number): Promise<readonly MovedRead[]> {
			if (sessions.length === 0) return [];
			const listed = new Map(sessions.map((session) => [session.sessionId, session]));
			const hasChanged = (row: WatchedSessionRow) =>
				(row.last_change_at ?? 0) >= (listed.get(row.session_id)?.moved?.at ?? 0);
			const isNews = (row: WatchedSessionRow) => {
				const { absentAt = null, moved = null } = listed.get(row.session_id) ?? {};
				if (row.next_read_at === null || (moved !== null && now < moved.until && !hasChanged(row))) return false;
				return !isWaiting(readDigest(row.digest)?.status ?? '') || (row.last_read_at ?? 0) < (absentAt ?? 0);
			};
			const known = from(db.read, 'watched_sessions', { service, session_id: [...listed.keys()] });
			const rows = await known.selectAll().execute();
			const moves: MovedRead[] = [];
			for (const before of rows.filter(isNews)) {
				const { session_id: sessionId } = before;
				const isMoved = await db.write(async (trx) => {
					const row = await lockSession(trx, { service, sessionId });
					if (row === undefined || !isNews(row)) return false;
					// One read tells. The ones after it are planned as usual.
					await askForRead(trx, row, now - AWAITED_AHEAD_MS, now);
					return true;
				});
				if (isMoved) moves.push({ sessionId, hasChanged: hasChanged(before) });
			}
			return moves;
		},

		/**
		 * Notes that the service is down or back. The first replica to do so queues one announcement for each channel that
		 * watches; "back" only for channels that were told of the outage. Returns whether it was news.
		 */
		noteOutage: (outage: OutageUpdate) => db.write((trx) => noteOutage({ trx, cipher, now: outage.now }, outage)),

		/** Moves the reads that are still planned for `from` and not leased. */
		reschedule: (moves: readonly { session: SessionKey; from: PlannedRead; to: PlannedRead }[]) =>
			db.write(async (trx) => {
				for (const { session, from: planned, to } of inLockOrder(moves, (move) => move.session.sessionId)) {
					const row = { ...sessionColumns(session), next_read_at: planned.at, lease_token: null };
					const moved = { next_read_at: Math.round(to.at), read_by: Math.round(to.by) };
					await change(trx, 'watched_sessions', row).set(moved).execute();
				}
			}),

		/**
		 * Queues a `redraw` for each live watch of the session that has posted its question or is about to, and for the direct
		 * messages about it, unless one waits already. Returns how many.
		 */
		redraw: (session: SessionKey, now: number) =>
			db.write(async (trx) => {
				await lockSession(trx, session);
				return queueRedraws({ trx, cipher, now }, session);
			}),

		/** Marks a session's cards for an update now, and moves its read forward to `earlyReadAt` (null: as planned). */
		refresh: (session: SessionKey, { now, earlyReadAt }: { now: number; earlyReadAt: number | null }) =>
			db.write(async (trx) => {
				const row = await lockSession(trx, session);
				if (row === undefined || row.next_read_at === null) return;
				if (earlyReadAt !== null) await readEarly(trx, row, { askedAt: now, at: earlyReadAt });
				const tx = { trx, cipher, now };
				await wantCards(tx, session);
				await queueRedraws(tx, session, 'withoutCard');
			}),
	};
}

function isOfKind(kind: ReadKind | null) {
	if (kind === null) return sql<boolean>`true`;
	return kind === 'awaited' ? sql<boolean>`read_by < next_read_at` : sql<boolean>`read_by >= next_read_at`;
}

function sessionChange(row: WatchedSessionRow, update: SessionUpdate, cipher: Cipher): Partial<WatchedSessionRow> {
	const { hurry, next_read_at: plannedAt } = row;
	const isEarly = hurry !== update.earlyReadCount && plannedAt !== null;
	const at = Math.round(isEarly ? Math.min(plannedAt, update.nextRead.at) : update.nextRead.at);
	return {
		rhythm: JSON.stringify(update.stepRate),
		next_read_at: at,
		read_by: Math.round(isEarly ? at : update.nextRead.by),
		last_read_at: update.lastReadAt,
		last_change_at: update.lastChangeAt,
		failures: update.failures,
		over_since: update.overSince,
		...WITHOUT_LEASE,
		...(update.view !== undefined && {
			digest: JSON.stringify(update.view.digest),
			view: sealView(sessionOf(row), update.view, cipher),
		}),
	};
}

/** The outage's row is written once, so that only one replica tells the channels. */
async function noteOutage(tx: Tx, { service, down, since, unlessReadSince }: OutageUpdate): Promise<boolean> {
	const { trx, now } = tx;
	if (down) {
		const known = from(trx, 'service_outages', { service }).select('service').forUpdate();
		const later = from(trx, 'watched_sessions', { service }).select('session_id');
		if ((await isFound(known)) || (await isFound(later.where('last_read_at', '>', unlessReadSince)))) return false;
		const begin = Math.floor(since);
		await trx.insertInto('service_outages').values({ service, down_since: begin }).execute();
		const keys = ['team_id', 'channel_id'] as const;
		const watching = from(trx, 'watches', { service, ended_at: null }).select(keys);
		// A union has each channel once.
		const channels = await watching.union(from(trx, 'discoveries', { service }).select(keys)).execute();
		await queueNotices(tx, channels, `down:${begin}:${service}`, { kind: 'serviceDown', since: begin });
		return true;
	}
	const ended = await remove(trx, 'service_outages', { service }).returningAll().executeTakeFirst();
	if (ended === undefined) return false;
	const begin = ended.down_since;
	// A channel that was not told of the outage yet is told of neither the outage nor its end.
	const notice = { unique_key: `down:${begin}:${service}`, kind: 'serviceDown' };
	await dropPending(trx, { ...notice, sending_since: null });
	const told = from(trx, 'announcements', { ...notice, state: ['posted', 'pending'] });
	const channels = await told.select(['team_id', 'place_id as channel_id']).execute();
	const back = { kind: 'serviceBack', since: begin, downMs: Math.max(0, now - begin) } as const;
	await queueNotices(tx, channels, `back:${begin}:${service}`, back);
	return true;
}

function queueNotices(tx: Tx, channels: readonly ChannelRow[], key: string, content: AnnouncementContent) {
	const targets = channels.map((row) => ({ kind: 'channel', ...channelOf(row) }) as const);
	const notices = targets.map((target) => ({ target, key, content }));
	return queueAnnouncements(tx, notices);
}

/** Stops reading a session without live watches. Its row stays while there are ended ones, because the last cards show it. */
export async function stopUnwatched(trx: Kysely<Tables>, key: SessionKey, now: number): Promise<void> {
	await lockSession(trx, key);
	const watches = from(trx, 'watches', sessionColumns(key)).select('id');
	if (await isFound(watches.where('ended_at', 'is', null))) return;
	await settleQuestion(trx, key, 'closed', { now });
	if (await isFound(watches)) {
		const stopped = { next_read_at: null, ...WITHOUT_LEASE };
		await change(trx, 'watched_sessions', sessionColumns(key)).set(stopped).execute();
		return;
	}
	await remove(trx, 'questions', sessionColumns(key)).execute();
	await remove(trx, 'watched_sessions', sessionColumns(key)).execute();
}
