// Owns `service_outages`: notes what reads of sessions found, and that they fail.
import { isDeepStrictEqual } from 'node:util';
import { noteOutcomes } from '../delivery/outcomes-store.ts';
import type { OccurrenceChange } from '../domain/occurrences.ts';
import type { SessionKey } from '../domain/session.ts';
import {
	add,
	type CipherTx,
	channelOf,
	type Db,
	from,
	isFound,
	type Row,
	remove,
	type StoreParts,
	sessionOf,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { endSnoozes, knownQuestions, type QuestionRead } from '../store/question-store.ts';
import type { CardUrgency, ChannelKey, Watch, WatchEnd } from '../store/watch.ts';
import {
	changeReads,
	type HeldSession,
	notePlainRead,
	noteRead,
	readReads,
	type SessionRead,
} from '../store/watched-sessions.ts';
import { readWatch, tellWatch } from '../store/watches.ts';
import { dropPlanned, planPosts, recordQuestions, redrawFormer, settleOpen } from '../surfaces/plan-store.ts';
import type { NewPost, PostContent } from '../surfaces/post.ts';
import { restartReminders } from '../surfaces/reminder-store.ts';
import type { FoundInRead } from './adding-store.ts';
import { endRules } from './answerers-store.ts';
import { isBacklog, noteAsked } from './channel-store.ts';
import { dismissedQuestion, endWatch, lowerHand, stopUnwatched } from './watch-store.ts';

/** The outcome of a read for its session. */
export interface SessionUpdate extends SessionRead {
	/** The agent has gone on, or back, beside an open question. */
	readonly isStepped?: boolean;
	/** Left out of a read that failed. */
	readonly found?: FoundInRead;
	/** The session is gone: what was open is closed. */
	readonly isGone?: boolean;
}

/** A read's outcome for one watch, written only while it is at `revision` and goes on. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	/** People see a difference: sets `lastChangeAt`. */
	readonly changed: boolean;
	readonly posts: readonly NewPost[];
	readonly card: CardUrgency | null;
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
	/** Locks the watches that these updates are of, unless they have ended; by id. */
	async function lockWatches(trx: Db, updates: readonly WatchUpdate[]): Promise<ReadonlyMap<string, Row<'watches'>>> {
		if (updates.length === 0) return new Map();
		const live = from(trx, 'watches', { id: updates.map(({ watchId }) => watchId), endedAt: null });
		const rows = await live.selectAll().orderBy('id').forUpdate().execute();
		return new Map(rows.map((row) => [row.id, row]));
	}

	async function recordWatch(tx: Tx, update: WatchUpdate, before: Row<'watches'> | undefined): Promise<void> {
		const { trx, now } = tx;
		if (before === undefined || before.revision !== update.revision) return;
		const row = await tellWatch(trx, before, update.changed, now);
		const { end: reason, posts } = update;
		if (reason === 'handLowered') return lowerHand(tx, row);
		if (reason === 'sessionOver') await endRules(trx, row);
		if (reason !== null) return void (await endWatch(tx, row, { reason, posts }));
		// At one post a second in a channel, what is asked now would come after all that was asked before.
		const isOld = before.mode === 'raisedHand' && before.revision <= 0 && (await isBacklog(trx, before));
		await planPosts(tx, posts, isOld ? 'progress' : 'now');
		const isAsked = posts.some(({ content }) => content.kind === 'question');
		if (isAsked && (before.revision > 0 || (await dismissedQuestion(trx, before)))) await noteAsked(trx, row, now);
		// Before its first read, nobody knows whether a raised hand brings anything.
		if (isAsked && row.mode === 'raisedHand' && before.revision <= 0) await redrawFormer(tx, readWatch(row));
	}

	/** Writes what a read means for questions; false: something else is known by now, so nothing was. */
	async function recordFound(
		tx: CipherTx,
		key: SessionKey,
		{ changes, known, itemsAt }: FoundInRead,
		newest: QuestionRead['newest'],
	): Promise<boolean> {
		const { trx } = tx;
		const { newest: stored, equal } = await knownQuestions(trx, key, known.equal[0]?.fingerprint ?? null);
		if (!isDeepStrictEqual([stored, equal], [known.newest, known.equal])) return false;
		await recordQuestions(tx, key, changes, { newest, itemsAt });
		return true;
	}

	return {
		/**
		 * Writes a read's outcome, all or nothing. False: nothing was written, because the lease was lost, another read was
		 * stored since `before`, or an answer arrived; it is read again at once. `token` null: a read of somebody else,
		 * which leaves the lease and the next read of the watch. `isNews`: people see another question.
		 */
		async record(
			{ session: key, token, lastReadAt }: RecordedSession,
			{ update, watches, now, isNews = false }: ReadOutcome & { now: number; isNews?: boolean },
		): Promise<boolean> {
			if (token !== null && !isNews && watches.length === 0 && isPlain(update)) {
				const held = { session: key, token, lastReadAt };
				if (await db.writeOne((trx) => notePlainRead(trx, held, update))) return true;
			}
			return db
				.write(async (trx) => {
					const tx = { trx, cipher, now };
					const { found } = update;
					const answers = await noteOutcomes(tx, found?.outcomes ?? []);
					const row = await lockSession(trx, key);
					if (row === undefined || (token !== null && row.leaseToken !== token)) throw new Outdated(null);
					if (row.nextReadAt === null) throw new Outdated(token);
					if (row.lastReadAt !== lastReadAt) {
						// One that is newer than this one shows all of it.
						const isNewer = (row.lastReadAt ?? 0) > (update.lastReadAt ?? now);
						throw new Outdated(token, isNewer ? update.nextRead.at : now);
					}
					const { changes = [], isOld = false } = found ?? {};
					if (isOld) throw new Outdated(token);
					const { view } = update;
					const readAt = update.lastReadAt ?? now;
					const newest = { question: view?.question ?? null, readAt, isFirst: row.lastReadAt === null };
					// Before any post is locked.
					const locked = await lockWatches(trx, watches);
					if (found !== undefined && !(await recordFound(tx, key, found, newest))) throw new Outdated(token);
					if (update.isGone === true) await settleOpen(trx, key, 'closed', now);
					await noteRead(trx, row, update, { cipher, keepsPlan: token === null });
					const isCardOld = (readReads(row).unread?.code ?? null) !== (update.reads.unread?.code ?? null);
					const isSettled = update.isGone === true || changes.some(isSettling);
					// What the agent asks next may have the same words. It may ask again what it went on without.
					if (isSettled && !changes.some((one) => one.kind === 'settled' && one.how === 'wentOn'))
						await endSnoozes(trx, sessionOf(key));
					for (const watch of watches) await recordWatch(tx, watch, locked.get(watch.watchId));
					const isOther = update.isGone === true || changes.some(({ kind }) => kind !== 'seen');
					const isEnded = watches.some(({ end }) => end !== null);
					if (isEnded) await stopUnwatched(trx, key, now);
					// Reminders may have been due while the service was away.
					const isBack = row.failures > 0 && update.failures === 0;
					if (changes.some(({ kind }) => kind === 'reopened')) await restartReminders(tx, key);
					const isNow = isOther || update.isStepped === true || isEnded || isBack;
					const cards = watches.flatMap(({ card }) => card ?? []).concat(isCardOld ? 'progress' : []);
					if (isNow) await markDue(tx, key);
					else if (isNews) await markDue(tx, null);
					if (!isNow && cards.length > 0) await markDue(tx, key, { cards: cards.includes('now') ? 'now' : 'progress' });
					for (const answer of answers) await markDue(tx, answer.question);
					return true;
				})
				.catch(async (error: unknown) => {
					if (!(error instanceof Outdated)) throw error;
					const held = { ...sessionOf(key), leaseToken: error.token };
					if (error.token !== null)
						await db.write((trx) =>
							changeReads(trx, held, { ...WITHOUT_LEASE, nextReadAt: Math.round(error.readAt ?? now) }),
						);
					return false;
				});
		},

		/** Writes what a read of a session that nobody watches shows of what our answers are to. False as `record`. */
		recordUnwatched: (key: SessionKey, found: FoundInRead, { readAt, now }: { readAt: number; now: number }) =>
			db
				.write(async (trx) => {
					const tx = { trx, cipher, now };
					const answers = await noteOutcomes(tx, found.outcomes);
					const row = await lockSession(trx, key);
					const isWatched = row !== undefined && row.nextReadAt !== null;
					// In place of the lock of a session, which has no row: no answer arrives from here on.
					await from(trx, 'questions', sessionOf(key)).select('id').orderBy('id').forUpdate().execute();
					const isRecorded = !isWatched && (await recordFound(tx, key, found, { question: null, readAt }));
					if (!isRecorded) throw new Outdated(null);
					for (const answer of answers) await markDue(tx, answer.question);
					return true;
				})
				.catch((error: unknown) => {
					if (error instanceof Outdated) return false;
					throw error;
				}),

		/**
		 * Notes that the service is down or back. The first replica to do so queues one post for each channel that watches;
		 * "back" only for channels told of the outage. Returns whether it was news.
		 */
		noteOutage: (outage: OutageUpdate) => db.write((trx) => noteOutage({ trx, now: outage.now }, outage)),
	};
}

export type RecordingStore = ReturnType<typeof createRecordingStore>;

/** A session whose read is stored. `lastReadAt`: when the one before began, as its taker found it. */
export interface RecordedSession extends Pick<HeldSession, 'session'> {
	readonly token: string | null;
	readonly lastReadAt: number | null;
}

/**
 * What is stored is not what a read was judged by; takes the transaction back. `token`: the lease to give back;
 * `readAt`: when to read then, by default at once.
 */
class Outdated extends Error {
	readonly token: string | null;
	readonly readAt: number | null;

	constructor(token: string | null, readAt: number | null = null) {
		super('something was stored since a read was judged');
		this.token = token;
		this.readAt = readAt;
	}
}

/** Whether a read found nothing new, after one that found the same. */
function isPlain({ found, view, failures, reads, isGone = false, isStepped = false }: SessionUpdate): boolean {
	const isSame =
		found !== undefined && found.changes.length === 0 && found.outcomes.length === 0 && found.isOld !== true;
	return isSame && view === undefined && failures === 0 && (reads.unread ?? null) === null && !isGone && !isStepped;
}

const isSettling = (one: OccurrenceChange) => one.kind === 'settled' || (one.kind === 'asked' && one.settled !== null);

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
