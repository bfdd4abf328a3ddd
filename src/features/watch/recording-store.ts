// Owns `service_outages`: notes what reads of sessions found, and that they fail.
import { isDeepStrictEqual } from 'node:util';
import {
	add,
	channelOf,
	from,
	isFound,
	noteQuestions,
	remove,
	type StoreParts,
	sessionOf,
	type Tx,
	WITHOUT_LEASE,
} from '../../database/database.ts';
import { restartLadders, touchLadders } from '../../database/ladders.ts';
import { lockSession } from '../../database/locks.ts';
import { endSnoozes, knownAskings } from '../../database/question-store.ts';
import type { CardUrgency, ChannelKey, Watch, WatchEnd } from '../../database/watch.ts';
import {
	changeSession,
	type HeldSession,
	noteRead,
	readReads,
	readWatch,
	type SessionRead,
	tellWatch,
} from '../../database/watch-store.ts';
import { dropPlanned, lockPosts, markPosts, planPosts, recordQuestions, redrawFormer } from '../../posts/plan-store.ts';
import type { NewPost, PostContent } from '../../posts/post.ts';
import type { Judgement, KnownAsking } from '../../questions/asked.ts';
import type { OccurrenceChange } from '../../questions/occurrences.ts';
import { noteLost } from '../answer/rows-store.ts';
import { endRules } from './answerers-store.ts';
import { isBacklog, noteAsked } from './channel-store.ts';
import { dismissedQuestion, endWatch, lowerHand, stopUnwatched } from './watch-store.ts';

/** The outcome of a read for its session. */
export interface SessionUpdate extends SessionRead {
	/** Left out, or empty, when nothing changed about the session's questions. */
	readonly questions?: readonly OccurrenceChange[];
	/** The agent has gone on, or back, beside an open question. */
	readonly isStepped?: boolean;
	/** What the read means, by what was `known` then (undefined: not looked up). Left out of a read that failed. */
	readonly judged?: Judgement & { readonly known: KnownAsking | null | undefined };
}

/** A read's outcome for one watch, written only while it is at `revision` and goes on. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	/** People see a difference: sets `lastChangeAt`. */
	readonly changed: boolean;
	readonly posts: readonly NewPost[];
	readonly card: CardUrgency | null;
	/** Its session changes its question often: its posts are drawn again now and then. */
	readonly slowly: boolean;
	readonly end: WatchEnd | null;
}

export interface ReadOutcome {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
}

/** `since`: when the first read failed. The service is up if any replica read something since `unlessReadSince`. */
type OutageUpdate = Readonly<{
	service: string;
	now: number;
	down: boolean;
	since: number;
	unlessReadSince: number;
	code: string;
}>;

export function createRecordingStore({ db, cipher }: StoreParts) {
	async function recordWatch(tx: Tx, update: WatchUpdate): Promise<void> {
		const { trx, now } = tx;
		const unchanged = { id: update.watchId, revision: update.revision, endedAt: null };
		const before = await from(trx, 'watches', unchanged).selectAll().forUpdate().executeTakeFirst();
		if (before === undefined) return;
		const row = await tellWatch(trx, before, update.changed, now);
		const { end: reason, posts, card: urgency, slowly } = update;
		if (reason === 'handLowered') return lowerHand(tx, row, posts);
		if (reason === 'sessionOver') await endRules(trx, row);
		if (reason !== null) return void (await endWatch(tx, row, { reason, posts, keepPending: true }));
		// At one post a second in a channel, what is asked now would come after all that was asked before.
		const isOld = before.mode === 'raisedHand' && before.revision <= 0 && (await isBacklog(trx, before));
		await planPosts(tx, posts, isOld ? 'progress' : 'now');
		const isAsked = posts.some(({ content }) => content.kind === 'question');
		if (isAsked && (before.revision > 0 || (await dismissedQuestion(trx, before)))) await noteAsked(trx, row, now);
		// Before its first read, nobody knows whether a raised hand brings anything.
		if (isAsked && row.mode === 'raisedHand' && before.revision <= 0) await redrawFormer(tx, readWatch(row));
		if (urgency !== null) await markPosts(tx, { watchId: row.id, kind: 'card' }, { urgency, slowly });
	}

	return {
		/**
		 * Writes a read's outcome, all or nothing, and ends the lease. False if the lease was lost, or an answer arrived
		 * during the read: nothing was written, and it is read again at once. `isNews`: people see another question.
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
					await changeSession(trx, key, { ...WITHOUT_LEASE, nextReadAt: now });
					return false;
				}
				if (isNews === true) noteQuestions(trx, null);
				const begun = { trx, now };
				await noteRead(trx, row, update, cipher);
				const { questions = [], view } = update;
				const isCardOld = (readReads(row).unread?.code ?? null) !== (update.reads.unread?.code ?? null);
				const tx = questions.length + watches.length > 0 ? await lockPosts(begun, key) : begun;
				const newest = { question: view?.question ?? null, readAt: update.lastReadAt ?? now };
				await recordQuestions({ ...tx, cipher }, key, questions, { newest, before: row.lastReadAt, judged });
				const isSettled = questions.some((one) => one.kind === 'settled' || ('settled' in one && one.settled !== null));
				// What the agent asks next may have the same words. It may ask again what it went on without.
				if (isSettled && !questions.some((one) => one.kind === 'settled' && one.how === 'wentOn'))
					await endSnoozes(trx, sessionOf(key));
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
				if (isAgain) await restartLadders(trx, key, now);
				if (lost != null) await noteLost(trx, lost, now);
				return true;
			}),

		/**
		 * Notes that the service is down or back. The first replica to do so queues one post for each channel that watches;
		 * "back" only for channels told of the outage. Returns whether it was news.
		 */
		noteOutage: (outage: OutageUpdate) => db.write((trx) => noteOutage({ trx, now: outage.now }, outage)),
	};
}

export type RecordingStore = ReturnType<typeof createRecordingStore>;

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
	// A channel not told of the outage yet hears neither of it nor of its end.
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
