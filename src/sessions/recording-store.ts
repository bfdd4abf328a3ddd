// Stores what reads found: questions, answers, watches and their posts, in one transaction.
import { isDeepStrictEqual } from 'node:util';
import { noteOutcomes } from '../delivery/outcomes-store.ts';
import type { SessionKey } from '../domain/session.ts';
import {
	type CipherTx,
	type Db,
	from,
	type Row,
	type StoreParts,
	sessionOf,
	type Tx,
	WITHOUT_LEASE,
} from '../store/database.ts';
import { lockSession } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { endSnoozes, knownQuestions, type QuestionRead } from '../store/question-store.ts';
import type { PostUrgency, Watch, WatchEnd } from '../store/watch.ts';
import {
	changeReads,
	type HeldSession,
	notePlainRead,
	noteRead,
	readReads,
	type SessionRead,
	type WatchedSessionRow,
} from '../store/watched-sessions.ts';
import { readWatch, tellWatch } from '../store/watches.ts';
import { planPosts } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { recordQuestions, settleOpen } from '../surfaces/question-changes-store.ts';
import { redrawFormer } from '../surfaces/redraw-store.ts';
import { restartReminders } from '../surfaces/reminder-store.ts';
import type { FoundInRead } from './adding-store.ts';
import { endRules } from './answerers-store.ts';
import { isBacklog, noteAsked } from './discovery-store.ts';
import { noteOutage, type OutageUpdate } from './outage-store.ts';
import { dismissedQuestion, endWatch, lowerHand, stopUnwatched } from './watch-store.ts';

/** The outcome of a read for its session. */
export interface SessionUpdate extends SessionRead {
	/** The number of steps after an open question changed. */
	readonly isStepped?: boolean;
	/** What the read means for questions. Left out: it failed. */
	readonly found?: FoundInRead;
	/** There is no such session any more: its open question is closed. */
	readonly isGone?: boolean;
}

/** The outcome of a read for one watch. It is written only if the watch has not ended and is still at `revision`. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	/** People see a difference, so `lastChangeAt` is set. */
	readonly changed: boolean;
	readonly posts: readonly NewPost[];
	readonly card: PostUrgency | null;
	readonly end: WatchEnd | null;
}

export interface ReadOutcome {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
}

export function createRecordingStore({ db, cipher }: StoreParts) {
	return {
		/**
		 * Writes a read's outcome, all or nothing. False: nothing was written, because the lease was lost, another read was
		 * stored since `lastReadAt`, or an answer arrived. In the last case the session is read again at once. `token`
		 * null: a read that no watch asked for, which changes neither the lease nor the time of the next read. `isNews`:
		 * people see another question.
		 */
		async record(
			read: RecordedSession,
			{ now, ...outcome }: ReadOutcome & { now: number; isNews?: boolean },
		): Promise<boolean> {
			const { session, token, lastReadAt } = read;
			const { update, watches, isNews = false } = outcome;
			if (token !== null && !isNews && watches.length === 0 && isPlain(update)) {
				const held = { session, token, lastReadAt };
				if (await db.writeOne((trx) => notePlainRead(trx, held, update))) return true;
			}
			try {
				await db.write((trx) => recordRead({ trx, cipher, now }, read, { update, watches, isNews }));
				return true;
			} catch (error) {
				if (!(error instanceof Outdated)) throw error;
				const { token: leaseToken, readAt } = error;
				if (leaseToken !== null) {
					const held = { ...sessionOf(session), leaseToken };
					const again = { ...WITHOUT_LEASE, nextReadAt: Math.round(readAt ?? now) };
					await db.write((trx) => changeReads(trx, held, again));
				}
				return false;
			}
		},

		/** Writes what a read of a session that nobody watches shows of what our answers are to. False as `record`. */
		async recordUnwatched(
			key: SessionKey,
			found: FoundInRead,
			{ readAt, now }: { readAt: number; now: number },
		): Promise<boolean> {
			try {
				await db.write((trx) => recordUnwatchedRead({ trx, cipher, now }, key, found, readAt));
				return true;
			} catch (error) {
				if (error instanceof Outdated) return false;
				throw error;
			}
		},

		/**
		 * Notes that the service is down or back. The first replica to do so plans one post for each channel that watches;
		 * "back" only for channels that were told of the outage. Returns whether it was news.
		 */
		noteOutage: (outage: OutageUpdate) => db.write((trx) => noteOutage({ trx, now: outage.now }, outage)),
	};
}

export type RecordingStore = ReturnType<typeof createRecordingStore>;

/** The session of a read that is stored. `lastReadAt`: of its row, when this read was begun. */
export interface RecordedSession extends Pick<HeldSession, 'session'> {
	readonly token: string | null;
	readonly lastReadAt: number | null;
}

/**
 * Thrown in a transaction to take it back: something else is stored than the read was judged by. `token`: the lease to
 * give back, or null. `readAt`: when to read next; null: at once.
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

/** The transaction of `record`. Throws `Outdated` to take it back. */
async function recordRead(
	tx: CipherTx,
	{ session: key, token, lastReadAt }: RecordedSession,
	outcome: ReadOutcome & { readonly isNews: boolean },
): Promise<void> {
	const { trx, cipher, now } = tx;
	const { update, watches } = outcome;
	const { found, snapshot } = update;
	const changes = found?.changes ?? [];
	const readAt = update.lastReadAt ?? now;
	const answers = await noteOutcomes(tx, found?.outcomes ?? []);
	const row = await lockSession(trx, key);
	if (row === undefined || (token !== null && row.leaseToken !== token)) throw new Outdated(null);
	if (row.nextReadAt === null) throw new Outdated(token);
	if (row.lastReadAt !== lastReadAt) {
		// A newer read than this one shows all that this one does.
		const isNewer = (row.lastReadAt ?? 0) > readAt;
		throw new Outdated(token, isNewer ? update.nextRead.at : now);
	}
	if (found?.isOld === true) throw new Outdated(token);
	// The order of locks: watches before posts.
	const locked = await lockWatches(trx, watches);
	const newest = { question: snapshot?.question ?? null, readAt, isFirst: row.lastReadAt === null };
	if (found !== undefined && !(await recordFound(tx, key, found, newest))) throw new Outdated(token);
	if (update.isGone === true) await settleOpen(trx, key, 'closed', now);
	await noteRead(trx, row, update, { cipher, keepsPlan: token === null });
	if (endsSnoozesOf(update)) await endSnoozes(trx, sessionOf(key));
	for (const watch of watches) await recordWatch(tx, watch, locked.get(watch.watchId));
	if (watches.some(({ end }) => end !== null)) await stopUnwatched(trx, key, now);
	if (changes.some(({ kind }) => kind === 'reopened')) await restartReminders(tx, key);
	await markAfterRead(tx, row, outcome);
	for (const answer of answers) await markDue(tx, answer.question);
}

/** The transaction of `recordUnwatched`. Throws `Outdated` to take it back. */
async function recordUnwatchedRead(tx: CipherTx, key: SessionKey, found: FoundInRead, readAt: number): Promise<void> {
	const { trx } = tx;
	const answers = await noteOutcomes(tx, found.outcomes);
	const row = await lockSession(trx, key);
	if (row !== undefined && row.nextReadAt !== null) throw new Outdated(null);
	// The session has no row to lock. Locked questions keep answers from arriving.
	await from(trx, 'questions', sessionOf(key)).select('id').orderBy('id').forUpdate().execute();
	if (!(await recordFound(tx, key, found, { question: null, readAt }))) throw new Outdated(null);
	for (const answer of answers) await markDue(tx, answer.question);
}

/** Locks the watches that these updates are of and that have not ended; by id. */
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
	const isFirstOfHand = before.mode === 'raisedHand' && before.revision <= 0;
	// A channel takes one post a second: a backlog must not delay what is asked now.
	const isBehind = isFirstOfHand && (await isBacklog(trx, before));
	await planPosts(tx, posts, isBehind ? 'progress' : 'now');
	if (!posts.some(({ content }) => content.kind === 'question')) return;
	if (before.revision > 0 || (await dismissedQuestion(trx, before))) await noteAsked(trx, row, now);
	// Only now it is known that the raised hand takes the place of earlier watches.
	if (isFirstOfHand) await redrawFormer(tx, readWatch(row));
}

/** Writes what a read means for questions. False, without a write: other questions are stored than it was judged by. */
async function recordFound(
	tx: CipherTx,
	key: SessionKey,
	{ changes, known, itemsAt }: FoundInRead,
	newest: QuestionRead['newest'],
): Promise<boolean> {
	const { newest: stored, equal } = await knownQuestions(tx.trx, key, known.equal[0]?.fingerprint ?? null);
	if (!isDeepStrictEqual([stored, equal], [known.newest, known.equal])) return false;
	await recordQuestions(tx, key, changes, { newest, itemsAt });
	return true;
}

/**
 * Whether snoozes of a session end because its question is settled: the next one may have the same words. Not when the
 * agent continued without an answer, because it may ask the same again.
 */
function endsSnoozesOf({ found, isGone = false }: SessionUpdate): boolean {
	const changes = found?.changes ?? [];
	if (changes.some((one) => one.kind === 'settled' && one.how === 'wentOn')) return false;
	return isGone || changes.some((one) => one.kind === 'settled' || (one.kind === 'asked' && one.settled !== null));
}

/** Has all drawn again that shows a session after a read that changed it; after smaller changes inboxes or cards. */
async function markAfterRead(
	tx: Tx,
	before: WatchedSessionRow,
	{ update, watches, isNews }: ReadOutcome & { readonly isNews: boolean },
): Promise<void> {
	const isOther = update.isGone === true || (update.found?.changes ?? []).some(({ kind }) => kind !== 'seen');
	const isEnded = watches.some(({ end }) => end !== null);
	// Reminders may have been due during the failures.
	const isBack = before.failures > 0 && update.failures === 0;
	if (isOther || update.isStepped === true || isEnded || isBack) return markDue(tx, before);
	if (isNews) await markDue(tx, null);
	const isUnreadChanged = (readReads(before).unread?.code ?? null) !== (update.reads.unread?.code ?? null);
	const cards = watches.flatMap(({ card }) => card ?? []).concat(isUnreadChanged ? 'progress' : []);
	if (cards.length > 0) await markDue(tx, before, { cards: cards.includes('now') ? 'now' : 'progress' });
}

/** Whether a read found nothing that has to be written beside its own time. */
function isPlain({ found, snapshot, failures, reads, isGone = false, isStepped = false }: SessionUpdate): boolean {
	const isSame =
		found !== undefined && found.changes.length === 0 && found.outcomes.length === 0 && found.isOld !== true;
	return isSame && snapshot === undefined && failures === 0 && (reads.unread ?? null) === null && !isGone && !isStepped;
}
