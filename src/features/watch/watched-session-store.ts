import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Lease } from '../../core/lease-loop.ts';
import { pick } from '../../core/values.ts';
import {
	add,
	change,
	countOf,
	from,
	inLockOrder,
	isFound,
	locked,
	noteQuestions,
	remove,
} from '../../database/database.ts';
import { leaseDue, nextDue, releaseHeld } from '../../database/due.ts';
import type { Cipher, StoreParts } from '../../database/encryption.ts';
import { channelOf, type Db, sessionOf, WITHOUT_LEASE } from '../../database/tables.ts';
import {
	type CardUrgency,
	type ChannelKey,
	hasOpenQuestion,
	type ListedWaiting,
	type PlannedRead,
	type ReadKind,
	type Watch,
	type WatchEnd,
} from '../../database/watch.ts';
import type { PostContent } from '../../posts/kinds.ts';
import { dropPlanned, endingsOf, markPosts, planPosts, type Tx } from '../../posts/plan-store.ts';
import type { NewPost } from '../../posts/post.ts';
import { knownAskings, recordQuestions, settleQuestion } from '../../posts/question-store.ts';
import {
	readDigest,
	readReads,
	readWatch,
	readWatchedSession,
	viewColumn,
	type WatchedSession,
	type WatchedSessionRow,
	type WatchRow,
} from '../../posts/watch-rows.ts';
import {
	askForRead,
	asksAnew,
	changeWaiting,
	endWatch,
	liveWatches,
	lockPosts,
	lockSession,
	lowerHand,
	redrawFormer,
	touchLadders,
} from '../../posts/watch-store.ts';
import type { Judgement, KnownAsking } from '../../questions/asked.ts';
import type { OccurrenceChange } from '../../questions/occurrences.ts';
import { isWaiting, type SessionKey } from '../../questions/session.ts';
import type { SessionSnapshot } from '../../questions/session-snapshot.ts';
import { AWAITED_AHEAD_MS, type WatchedOutline } from './schedule.ts';

/** The outcome of a read for its session; `earlyReadCount` is the one that the session was taken with. */
export interface SessionUpdate extends Omit<WatchedSession, 'session' | 'digest' | 'earlyReadAskedAt'> {
	/** Left out when it shows what is stored already. */
	readonly view?: SessionSnapshot;
	/** Left out, or empty, when nothing changed about the session's questions. */
	readonly questions?: readonly OccurrenceChange[];
	/** Whether the agent has gone on, or back, beside an open question. */
	readonly isStepped?: boolean;
	/** What the read means, by what was `known` then (undefined: not looked up). Left out of a read that failed. */
	readonly judged?: Judgement & { readonly known: KnownAsking | null | undefined };
}

/** A read's outcome for one watch, written only while it is at `revision` and goes on. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	/** Whether people see a difference: sets `lastChangeAt`. */
	readonly changed: boolean;
	readonly posts: readonly NewPost[];
	readonly card: CardUrgency | null;
	/** Its session changes its question often: its posts are drawn again now and then. */
	readonly slowly: boolean;
	readonly end: WatchEnd | null;
}

interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

export type TakenSession = Awaited<ReturnType<ReturnType<typeof createWatchedSessionStore>['takeDue']>>[number];

export interface ReadOutcome {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
}

/** `since`: when the first read failed. The service is not down if any replica has read something since `unlessReadSince`. */
type OutageUpdate = Readonly<{
	service: string;
	now: number;
	down: boolean;
	since: number;
	unlessReadSince: number;
	code: string;
}>;

/** Its author was not told yet that the agent has worked since. */
const IS_NOT_TAKEN = sql<boolean>`coalesce(agent_outcome, '') not in ('emptied', 'taken')`;

export function createWatchedSessionStore({ db, cipher }: StoreParts) {
	async function recordWatch(tx: Tx, update: WatchUpdate): Promise<void> {
		const { trx, now } = tx;
		const unchanged = { id: update.watchId, revision: update.revision, endedAt: null };
		const before = await from(trx, 'watches', unchanged).selectAll().forUpdate().executeTakeFirst();
		if (before === undefined) return;
		const told = { revision: Math.max(update.revision, 0) + 1, ...(update.changed && { lastChangeAt: now }) };
		const row = await change(trx, 'watches', unchanged, told).returningAll().executeTakeFirstOrThrow();
		const { end: reason, posts, card: urgency, slowly } = update;
		if (reason === 'handLowered') return lowerHand(tx, row, posts);
		if (reason !== null) return void (await endWatch(tx, row, { reason, posts, keepPending: true }));
		await planPosts(tx, posts);
		const isAsked = posts.some(({ content }) => content.kind === 'question');
		const isAnew = isAsked && (before.revision > 0 || (await dismissedQuestion(trx, before)) !== null);
		if (isAnew) await changeWaiting(trx, row, asksAnew(now));
		// Before its first read, nobody knows whether a raised hand brings anything.
		if (isAsked && row.mode === 'raisedHand' && before.revision <= 0) await redrawFormer(tx, readWatch(row));
		if (urgency !== null) await markPosts(tx, { watchId: row.id, kind: 'card' }, { urgency, slowly });
	}

	const readSessions = (service: string) =>
		from(db.read, 'watched_sessions', { service }).where('nextReadAt', 'is not', null);

	return {
		/** Leases up to `limit` sessions whose read is due, in the order of `PlannedRead.by`. `only` null: of both kinds. */
		async takeDue(service: string, lease: Lease, limit: number, { now, only }: { now: number; only: ReadKind | null }) {
			const where = sql<boolean>`next_read_at <= ${now} and ${isOfKind(only)}`;
			const due = { table: 'watched_sessions', service, where, orderBy: sql`read_by`, limit } as const;
			const rows = await leaseDue(db, due, { lease, now });
			// `view` is null before the first read, and when it cannot be read.
			return rows.map((row) => ({ ...readWatchedSession(row), view: viewColumn.open(row.view, row, cipher) }));
		},

		/** Prolongs these leases by `ms` from `now`; returns the sessions still held. */
		renew: (held: readonly HeldSession[], ms: number, now: number): Promise<readonly SessionKey[]> =>
			db.writeOne(async (trx) => {
				const service = [...new Set(held.map(({ session }) => session.service))];
				const sessionIds = held.map(({ session }) => session.sessionId);
				const own = { service, sessionId: sessionIds, leaseToken: held.map(({ token }) => token) };
				const rows = { ...own, sessionId: locked(trx, 'watched_sessions', own) };
				const renewed = change(trx, 'watched_sessions', rows, { leasedUntil: now + ms });
				return (await renewed.returning(['service', 'sessionId']).execute()).map(sessionOf);
			}),

		sessionRows: db.queuedRows('watched_sessions'),

		nextReadDueAt(service: string, only: ReadKind | null): Promise<number | null> {
			const where = sql<boolean>`service = ${service} and next_read_at is not null and ${isOfKind(only)}`;
			return nextDue(db, 'watched_sessions', where, 'nextReadAt');
		},

		async outlines(service: string): Promise<readonly WatchedOutline[]> {
			const rows = await readSessions(service).selectAll().execute();
			const live = from(db.read, 'watches', { service, endedAt: null });
			const watcher = sql<string>`case when mode = 'raisedHand' then channel_id else created_by end`.as('watcher');
			const watches = await live.select(['sessionId', watcher]).distinct().execute();
			const watchers = Map.groupBy(watches, (row) => row.sessionId);
			return rows.map(readWatchedSession).map((session) => ({
				...session,
				status: session.digest?.status ?? null,
				questionOpen: session.digest !== null && hasOpenQuestion(session.digest),
				watchers: watchers.get(session.session.sessionId)?.map((one) => one.watcher) ?? [],
			}));
		},

		/** Whether it could be read while somebody watched it. */
		wasRead: (session: SessionKey): Promise<boolean> =>
			isFound(
				from(db.read, 'watched_sessions', sessionOf(session)).select('service').where('lastReadAt', 'is not', null),
			),

		countSessions: (service: string): Promise<number> => countOf(readSessions(service)),

		/**
		 * Writes a read's outcome, all or nothing, and gives the lease back. False when the lease was lost, and when an answer arrived
		 * while the session was read: nothing was written, and it is read again at once. `isNews`: people see another question.
		 */
		record: (
			{ session: key, token }: HeldSession,
			{ update, watches, now, isNews }: ReadOutcome & { now: number; isNews?: boolean },
		) =>
			db.write(async (trx) => {
				const isNew = update.judged?.verdict === 'lost' || update.judged?.verdict === 'askedAgain';
				const lost = isNew ? update.judged?.evidence?.lost : null;
				// Before its session: the order in which all writes lock them.
				if (lost) await from(trx, 'answers', { id: lost }).select('id').forUpdate().execute();
				const row = await lockSession(trx, key);
				if (row === undefined || row.leaseToken !== token) return false;
				const { judged } = update;
				const known = judged?.known;
				if (known !== undefined && !isDeepStrictEqual((await knownAskings(trx, key, null)).newest, known)) {
					await change(trx, 'watched_sessions', sessionOf(key), { ...WITHOUT_LEASE, nextReadAt: now }).execute();
					return false;
				}
				if (isNews === true) noteQuestions(trx, null);
				const begun = { trx, now };
				const held = { ...sessionOf(key), leaseToken: token };
				await change(trx, 'watched_sessions', held, sessionChange(row, update, cipher)).execute();
				const { questions = [], view } = update;
				const isCardOld = (readReads(row).unread?.code ?? null) !== (update.reads.unread?.code ?? null);
				const tx = questions.length + watches.length > 0 ? await lockPosts(begun, key) : begun;
				const newest = { question: view?.question ?? null, readAt: update.lastReadAt ?? now };
				await recordQuestions({ ...tx, cipher }, key, questions, { newest, before: row.lastReadAt, judged });
				const isSettled = questions.some(
					(one) => one.kind === 'settled' || (one.kind === 'asked' && one.settled !== null),
				);
				// What the agent asks next may have the same words. It may ask again what it went on without.
				if (isSettled && !questions.some((one) => one.kind === 'settled' && one.how === 'wentOn'))
					await remove(trx, 'snoozes', sessionOf(key)).execute();
				for (const watch of watches) await recordWatch(tx, watch);
				if (isCardOld) await markPosts(tx, { ...sessionOf(key), kind: 'card' }, { urgency: 'progress' });
				if (questions.length > 0) {
					const slowly = watches.some((watch) => watch.slowly);
					await markPosts(tx, sessionOf(key), { urgency: slowly ? 'progress' : 'now', slowly });
				}
				if (questions.length === 0 && update.isStepped === true)
					await markPosts(tx, { ...sessionOf(key), kind: 'question' }, { urgency: 'progress', slowly: true });
				const isEnded = watches.some(({ end }) => end !== null);
				if (isEnded) await stopUnwatched(trx, key, now);
				// Reminders may have been due while the service was away.
				const isBack = row.failures > 0 && update.failures === 0;
				const isAgain = questions.some(({ kind }) => kind === 'reopened');
				if (isSettled || isAgain || isEnded || isBack) await touchLadders(trx, sessionOf(key), now);
				// Nobody was asked while the agent worked.
				if (isAgain) await change(trx, 'ladders', sessionOf(key), { postedAt: now, lastReminderAt: null }).execute();
				// The worker tells its author.
				const told = { agentOutcome: 'lost', nextAttemptAt: now };
				if (lost != null)
					await change(trx, 'answers', { id: lost, state: 'delivered' }, told).where(IS_NOT_TAKEN).execute();
				return true;
			}),

		releaseReads: (tokens: readonly string[]) => releaseHeld(db, tokens, 'watched_sessions'),

		/** The watches of a session that have not ended, with their `endings` and what they dismissed. */
		async ofSession(session: SessionKey, now: number): Promise<readonly Watch[]> {
			const live = liveWatches(db.read, sessionOf(session)).orderBy('createdAt').orderBy('id');
			const [rows, endings] = await Promise.all([live.execute(), endingsOf(db.read, session, now)]);
			const found = rows.map(async (row) => ({
				...readWatch(row),
				endings,
				dismissed: await dismissedQuestion(db.read, row),
			}));
			return Promise.all(found);
		},

		/** When another session than this one was last read, by any process; null: never. */
		async otherReadAt({ service, sessionId }: SessionKey): Promise<number | null> {
			const others = from(db.read, 'watched_sessions', { service }).where('sessionId', '!=', sessionId);
			return (await others.select((eb) => eb.fn.max('lastReadAt').as('at')).executeTakeFirst())?.at ?? null;
		},

		/** Whether the reads of a session fail that could be read before. */
		async isFailing(service: string): Promise<boolean> {
			const failing = readSessions(service).where('failures', '>', 0).where('digest', 'is not', null);
			return isFound(failing.select('sessionId'));
		},

		/**
		 * Moves ahead of all others the reads of watched sessions that are listed as waiting and whose newest read does not show
		 * that: it found another status, or is older than `absentAt`. Returns them. `hasChanged`: since the read was moved before.
		 */
		async readWaiting(service: string, sessions: readonly ListedWaiting[], now: number) {
			if (sessions.length === 0) return [];
			const listed = new Map(sessions.map((session) => [session.sessionId, session]));
			const hasChanged = (row: WatchedSessionRow) =>
				(row.lastChangeAt ?? 0) >= (listed.get(row.sessionId)?.moved?.at ?? 0);
			const isNews = (row: WatchedSessionRow) => {
				const { absentAt = null, moved = null } = listed.get(row.sessionId) ?? {};
				if (row.nextReadAt === null || (moved !== null && now < moved.until && !hasChanged(row))) return false;
				return !isWaiting(readDigest(row.digest)?.status ?? '') || (row.lastReadAt ?? 0) < (absentAt ?? 0);
			};
			const known = from(db.read, 'watched_sessions', { service, sessionId: [...listed.keys()] });
			const moves: { readonly sessionId: string; readonly hasChanged: boolean }[] = [];
			for (const before of (await known.selectAll().execute()).filter(isNews)) {
				const { sessionId } = before;
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
		 * Notes that the service is down or back. The first replica to do so queues one post for each channel that watches; "back"
		 * only for channels that were told of the outage. Returns whether it was news.
		 */
		noteOutage: (outage: OutageUpdate) => db.write((trx) => noteOutage({ trx, now: outage.now }, outage)),

		/** Moves the reads that are still planned for `from` and not leased. */
		reschedule: (moves: readonly { session: SessionKey; from: PlannedRead; to: PlannedRead }[]) =>
			db.write(async (trx) => {
				for (const { session, from: planned, to } of inLockOrder(moves, (move) => move.session.sessionId)) {
					const row = { ...sessionOf(session), nextReadAt: planned.at, leaseToken: null };
					const moved = { nextReadAt: Math.round(to.at), readBy: Math.round(to.by) };
					await change(trx, 'watched_sessions', row, moved).execute();
				}
			}),
	};
}

/** Of a raised hand before its first read: what was open when its channel last stopped watching, since `watch all` began. */
async function dismissedQuestion(db: Db, hand: WatchRow) {
	if (hand.mode !== 'raisedHand' || hand.revision > 0) return null;
	const [here, session] = [channelOf(hand), sessionOf(hand)];
	const begun = from(db, 'discoveries', { ...here, service: hand.service }).select('createdAt');
	const former = from(db, 'watches', { ...here, ...session }).where('endedAt', '>=', begun);
	const last = await former.selectAll().orderBy('endedAt', 'desc').limit(1).executeTakeFirst();
	if (last?.endedReason !== 'unwatched' && last?.endedReason !== 'noChange') return null;
	const wasOpen = sql<boolean>`asked_at <= ${last.endedAt} and coalesce(settled_at, ${last.endedAt}) >= ${last.endedAt}`;
	const asked = from(db, 'questions', session).select(['fingerprint', 'sameBefore']).where(wasOpen);
	return (await asked.orderBy('number', 'desc').limit(1).executeTakeFirst()) ?? null;
}

function isOfKind(kind: ReadKind | null) {
	if (kind === null) return sql<boolean>`true`;
	return kind === 'awaited' ? sql<boolean>`read_by < next_read_at` : sql<boolean>`read_by >= next_read_at`;
}

function sessionChange(row: WatchedSessionRow, update: SessionUpdate, cipher: Cipher): Partial<WatchedSessionRow> {
	const { hurry, nextReadAt: plannedAt } = row;
	const isEarly = hurry !== update.earlyReadCount && plannedAt !== null;
	const at = Math.round(isEarly ? Math.min(plannedAt, update.nextRead.at) : update.nextRead.at);
	return {
		rhythm: JSON.stringify(update.stepRate),
		reads: JSON.stringify(update.reads),
		nextReadAt: at,
		readBy: Math.round(isEarly ? at : update.nextRead.by),
		...pick(update, 'lastReadAt', 'lastChangeAt', 'failures', 'overSince'),
		...WITHOUT_LEASE,
		...(update.view !== undefined && {
			digest: JSON.stringify(update.view.digest),
			view: viewColumn.seal(update.view, row, cipher),
		}),
	};
}

/** The outage's row is written once, so that only one replica tells the channels. */
async function noteOutage(tx: Tx, { service, down, since, unlessReadSince, code }: OutageUpdate): Promise<boolean> {
	const { trx, now } = tx;
	if (down) {
		const known = from(trx, 'service_outages', { service }).select('service').forUpdate();
		const later = from(trx, 'watched_sessions', { service }).select('sessionId');
		if ((await isFound(known)) || (await isFound(later.where('lastReadAt', '>', unlessReadSince)))) return false;
		const begin = Math.floor(since);
		await add(trx, 'service_outages', { service, downSince: begin }).execute();
		const keys = ['teamId', 'channelId'] as const;
		const watching = from(trx, 'watches', { service, endedAt: null }).select(keys);
		// A union has each channel once.
		const channels = await watching.union(from(trx, 'discoveries', { service }).select(keys)).execute();
		await queueNotices(tx, channels, `down:${begin}:${service}`, { kind: 'serviceDown', since: begin, code });
		return true;
	}
	const ended = await remove(trx, 'service_outages', { service }).returningAll().executeTakeFirst();
	if (ended === undefined) return false;
	const begin = ended.downSince;
	// A channel that was not told of the outage yet is told of neither the outage nor its end.
	const notice = { uniqueKey: `down:${begin}:${service}`, kind: 'serviceDown' };
	await dropPlanned(trx, { ...notice, sendingSince: null });
	const told = from(trx, 'posts', { ...notice, state: ['planned', 'closed'] });
	const channels = await told.select(['teamId', 'placeId as channelId']).execute();
	const back = { kind: 'serviceBack', since: begin, downMs: Math.max(0, now - begin) } as const;
	await queueNotices(tx, channels, `back:${begin}:${service}`, back);
	return true;
}

function queueNotices(tx: Tx, channels: readonly ChannelKey[], key: string, content: PostContent) {
	const notices = channels.map((row) => ({ target: { kind: 'channel', ...channelOf(row) } as const, key, content }));
	return planPosts(tx, notices);
}

/** Stops reading a session without live watches. Its row stays while there are ended ones, because the last cards show it. */
export async function stopUnwatched(trx: Db, key: SessionKey, now: number): Promise<void> {
	await lockSession(trx, key);
	const watches = from(trx, 'watches', sessionOf(key)).select('id');
	if (await isFound(watches.where('endedAt', 'is', null))) return;
	await settleQuestion(trx, key, 'unwatched', { now });
	if (await isFound(watches)) {
		await change(trx, 'watched_sessions', sessionOf(key), { nextReadAt: null, ...WITHOUT_LEASE }).execute();
		return;
	}
	await remove(trx, 'questions', sessionOf(key)).execute();
	await remove(trx, 'watched_sessions', sessionOf(key)).execute();
}
