import { isDeepStrictEqual } from 'node:util';
import type { AnswerOutcome } from '../delivery/earlier-answers.ts';
import type { PersonInGroups } from '../domain/answerers.ts';
import type { OccurrenceChange, StoredOccurrences } from '../domain/occurrences.ts';
import type { SessionSnapshot } from '../domain/session-snapshot.ts';
import { PROGRAM, recordEvents } from '../store/audit.ts';
import {
	type AuditEvent,
	type CipherTx,
	channelOf,
	type Db,
	from,
	sessionOf,
	sql,
	type Tx,
} from '../store/database.ts';
import { lockFor } from '../store/locks.ts';
import { markDue } from '../store/marks.ts';
import { knownQuestions } from '../store/question-store.ts';
import { NEWS_AHEAD_MS } from '../store/session-reads.ts';
import type { ChannelKey, LimitReached, Watch, WatchEnd, WatchLimit, WatchLimits } from '../store/watch.ts';
import { changeSession, readDigest, snapshotColumn, startReading } from '../store/watched-sessions.ts';
import { changeWatch, insertWatch, liveWatches, readWatch, type WatchRow } from '../store/watches.ts';
import { HAS_POSTED, planPosts, planRefused } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { type ItemsAt, recordQuestions } from '../surfaces/question-changes-store.ts';
import { redrawFormer } from '../surfaces/redraw-store.ts';
import { lookAtReminders } from '../surfaces/reminder-store.ts';
import { enterRule } from './answerers-store.ts';

/** What a read means for a session's questions and answers. */
export interface FoundInRead {
	readonly changes: readonly OccurrenceChange[];
	/** An answer arrived since the read began, so nothing of it is written. */
	readonly isOld?: true | undefined;
	readonly outcomes: readonly AnswerOutcome[];
	/** The stored questions by which the read was judged. */
	readonly known: Pick<StoredOccurrences, 'newest' | 'equal'>;
	readonly itemsAt: ItemsAt;
}

export interface NewWatch extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdBy' | 'createdAt'> {
	readonly card: NewPost;
	/** What the read for it showed. */
	readonly snapshot: SessionSnapshot;
	readonly found: FoundInRead;
	/** Posts of that read, which come after the card. */
	readonly news?: readonly NewPost[];
	/** When to read next at the latest; left out: at once. */
	readonly readAt?: number;
	readonly limits: WatchLimits;
	/** The user groups that its creator is known to be in. */
	readonly groupIds?: PersonInGroups['groupIds'];
}

/** A watch without a card, of a listed session that waits. */
export interface NewRaisedHand extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdAt'> {
	/** It is read ahead of all others. */
	readonly ahead: boolean;
	/**
	 * When it began to wait, milliseconds since the epoch. Beyond a limit it is added only if another raised hand has
	 * older news, which then gives way.
	 */
	readonly newsAt: number;
	/** It counts for the limits of the channel and of all, not for that of a person. */
	readonly limits: WatchLimits;
}

/**
 * The transaction of `WatchStore.add`. `already`: the channel watches the session. `isPosting`: a post is planned,
 * perhaps one that Slack has refused before.
 */
export async function addWatch(tx: CipherTx, watch: NewWatch) {
	const { trx } = tx;
	const here = () => liveWatches(trx, { ...channelOf(watch), ...sessionOf(watch.session) });
	await lockFor(trx, 'addingWatches');
	const existing = await here().executeTakeFirst();
	// A raised hand counts for its channel and for all already.
	const counted = existing === undefined ? ALL_LIMITS : existing.mode === RAISED ? (['person'] as const) : [];
	const reached = await limitReached(trx, watch, counted);
	if (reached !== null) return reached;
	await enterRule(tx, watch);
	const { isKnown, isBeingRead } = await storeFirstRead(tx, watch);
	const news = isKnown ? watch.news : undefined;
	// The order of locks: the session before its watches.
	const live = await here().forUpdate().executeTakeFirst();
	const isRefused = live !== undefined && (await planRefused(tx, live));
	if (live !== undefined && live.mode !== RAISED)
		return { kind: 'already', watch: readWatch(live), isPosting: isRefused } as const;
	const first = Number(news !== undefined && !isBeingRead);
	const revision = live === undefined ? first : revisionAfterHand(live.revision, isBeingRead);
	const begun = { mode: CARD, createdBy: watch.createdBy, revision };
	const row = await (live === undefined ? insertWatch(trx, watch, begun) : changeWatch(trx, live.id, begun));
	const card = { ...watch.card, target: { ...watch.card.target, watchId: row.id } as const };
	await planPosts(tx, live === undefined ? [card, ...(news ?? [])] : [card]);
	await redrawFormer(tx, watch);
	// A raised hand had its reminders in the channel. Now they may stay in the thread of the card.
	if (live !== undefined) await lookAtReminders(tx, [row], watch.createdAt);
	await markDue(tx, null);
	auditWatched(trx, watch, { actor: watch.createdBy, outcome: 'watching' });
	return { kind: 'added', watch: readWatch(row), isPosting: live === undefined || isRefused } as const;
}

/**
 * Stores the read by which somebody began to watch, unless the session has been read before. `isKnown`: its questions
 * are those that are stored, so its news can be posted; else the session is read again at once. `isBeingRead`: another
 * read is under way, which knows nothing of the new watch.
 */
async function storeFirstRead(tx: CipherTx, watch: NewWatch) {
	const { trx, cipher } = tx;
	const { session, snapshot, found, readAt = watch.createdAt } = watch;
	const firstRead = {
		lastReadAt: snapshot.seenAt,
		lastChangeAt: snapshot.seenAt,
		snapshot: snapshotColumn.seal(snapshot, session, cipher),
		digest: JSON.stringify(snapshot.digest),
		failures: 0,
		reads: null,
	};
	const stored = await startReading(trx, { session, readAt }, firstRead);
	const { changes, itemsAt, known } = found;
	const before = await knownQuestions(trx, session, known.equal[0]?.fingerprint ?? null);
	const isKnown =
		stored === null
			? isDeepStrictEqual([before.newest, before.equal], [known.newest, known.equal])
			: isDeepStrictEqual(readDigest(stored.digest)?.question, snapshot.digest.question);
	if (!isKnown) await changeSession(trx, session, { nextReadAt: watch.createdAt });
	else if (stored === null) {
		const newest = { question: snapshot.question, readAt: snapshot.seenAt, isFirst: true };
		await recordQuestions(tx, session, changes, { newest, itemsAt });
	}
	return { isKnown, isBeingRead: stored !== null && stored.leaseToken !== null };
}

/**
 * The revision of a watch that was a raised hand. It is always another one, so that a read under way writes nothing for
 * this watch. Positive: the channel was told of the question. Else the next read tells it all.
 */
function revisionAfterHand(revision: number, isBeingRead: boolean): number {
	return revision > 0 && !isBeingRead ? revision + 1 : Math.min(revision, 0) - 1;
}

/** The transaction of `WatchStore.raiseHand`. */
export async function raiseHand(trx: Db, hand: NewRaisedHand) {
	const { session, createdAt } = hand;
	await lockFor(trx, 'addingWatches');
	// Locked: whoever ends `watch all` waits for this, and then ends the new watch, too.
	const filter = { ...channelOf(hand), service: session.service };
	const discovery = await from(trx, 'discoveries', filter).selectAll().forUpdate().executeTakeFirst();
	if (discovery === undefined) return UNNEEDED;
	const here = liveWatches(trx, { ...channelOf(hand), ...sessionOf(session) });
	if ((await here.executeTakeFirst()) !== undefined) return UNNEEDED;
	const { createdBy } = discovery;
	const reached = await limitReached(trx, { ...hand, createdBy }, ['channel', 'all']);
	const oldest = reached && (await oldestHand(trx, hand, reached));
	if (reached !== null && (oldest?.lastChangeAt ?? Number.POSITIVE_INFINITY) >= hand.newsAt) return reached;
	// In nobody's name: whoever began `watch all` may not be allowed to answer by lists that were made since.
	await enterRule({ trx, now: createdAt }, { ...hand, createdBy: '' });
	const read = { session, readAt: createdAt, readBy: createdAt - (hand.ahead ? NEWS_AHEAD_MS : 0) };
	await startReading(trx, read, { digest: null, failures: 0, reads: null });
	await insertWatch(trx, hand, { mode: RAISED, createdBy });
	await markDue({ trx, now: createdAt }, null);
	auditWatched(trx, hand, { actor: PROGRAM, outcome: 'raised' });
	return { kind: 'raised' } as const;
}

function auditWatched(trx: Db, watch: NewRaisedHand | NewWatch, how: Pick<AuditEvent, 'actor' | 'outcome'>): void {
	const { channelId: channel, session, createdAt: at } = watch;
	recordEvents(trx, { at, action: 'watched', channel, session: session.sessionId, ...how });
}

export function auditUnwatched({ trx, now: at }: Tx, row: WatchRow, outcome: WatchEnd): void {
	// Only these ends are what somebody asked for. Others may happen within a request, too.
	const isAct = outcome === 'unwatched' || outcome === 'discoveryEnded';
	const by = isAct ? {} : { actor: PROGRAM };
	recordEvents(trx, { at, action: 'unwatched', channel: row.channelId, session: row.sessionId, outcome, ...by });
}

const UNNEEDED = { kind: 'unneeded' } as const;
const RAISED = 'raisedHand' as const;
const CARD = 'card' as const;
const ALL_LIMITS = ['person', 'channel', 'all'] as const;

/**
 * The first of these limits that is reached, or exceeded by `by`; null: none. Raised hands count for no person.
 * `countsUnposted`: whether raised hands without a posted question count, too: these may ask nothing.
 */
export async function limitReached(
	trx: Db,
	{ createdBy, teamId, channelId, limits }: Pick<NewWatch, 'createdBy' | 'teamId' | 'channelId' | 'limits'>,
	names: readonly WatchLimit[],
	{ countsUnposted = true, by = 0 }: { countsUnposted?: boolean; by?: number } = {},
): Promise<LimitReached | null> {
	const counts = await from(trx, 'watches', { endedAt: null })
		.$if(!countsUnposted, (query) => query.where(({ eb, or }) => or([eb('mode', '!=', RAISED), HAS_POSTED])))
		.select([
			sql<number>`count(*)`.as('all'),
			sql<number>`count(case when created_by = ${createdBy} and mode <> ${RAISED} then 1 end)`.as('person'),
			sql<number>`count(case when team_id = ${teamId} and channel_id = ${channelId} then 1 end)`.as('channel'),
		])
		.executeTakeFirstOrThrow();
	const limit = names.find((name) => counts[name] >= limits[name] + by);
	return limit === undefined ? null : { kind: 'limit', limit, count: counts[limit], most: limits[limit] };
}

/**
 * The raised hand with the oldest news of those with a posted question: in the channel, or in the workspace if the
 * limit of all is reached. Null: there is none.
 */
export async function oldestHand(trx: Db, channel: ChannelKey, reached: LimitReached): Promise<Watch | null> {
	const here = reached.limit === 'channel' ? channelOf(channel) : { teamId: channel.teamId };
	const hands = liveWatches(trx, { ...here, mode: RAISED })
		.where(HAS_POSTED)
		.orderBy('lastChangeAt')
		.orderBy('id');
	const oldest = await hands.limit(1).executeTakeFirst();
	return oldest === undefined ? null : readWatch(oldest);
}
