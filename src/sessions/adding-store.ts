import { isDeepStrictEqual } from 'node:util';
import type { AnswerOutcome } from '../delivery/earlier-answers.ts';
import type { Standing } from '../domain/answerers.ts';
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
import { changeSession, readDigest, startReading, viewColumn } from '../store/watched-sessions.ts';
import { changeWatch, insertWatch, liveWatches, readWatch, type WatchRow } from '../store/watches.ts';
import {
	HAS_POSTED,
	type ItemsAt,
	planPosts,
	planRefused,
	recordQuestions,
	redrawFormer,
} from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { lookAtReminders } from '../surfaces/reminder-store.ts';
import { enterRule } from './answerers-store.ts';

/** What a read means for a session's questions and answers. */
export interface FoundInRead {
	readonly changes: readonly OccurrenceChange[];
	/** An answer arrived since the read began: nothing is written. */
	readonly isOld?: true | undefined;
	readonly outcomes: readonly AnswerOutcome[];
	/** What was stored when the read was judged. */
	readonly known: Pick<StoredOccurrences, 'newest' | 'equal'>;
	readonly itemsAt: ItemsAt;
}

export interface NewWatch extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdBy' | 'createdAt'> {
	readonly card: NewPost;
	/** Of its read. `news`: posts after the card. `readAt`: when to read next, if not earlier; left out: at once. */
	readonly view: SessionSnapshot;
	/** What that read means for questions and answers. */
	readonly found: FoundInRead;
	readonly news?: readonly NewPost[];
	readonly readAt?: number;
	readonly limits: WatchLimits;
	/** The user groups that its creator is known to be in. */
	readonly groupIds?: Standing['groupIds'];
}

/** A watch without a card for a session that waits. */
export interface NewRaisedHand extends Pick<Watch, 'id' | 'teamId' | 'channelId' | 'session' | 'createdAt'> {
	/** It is read ahead of all others. */
	readonly ahead: boolean;
	/** When it began to wait, clock milliseconds: it is added beyond a limit too if the news of another hand is older. */
	readonly newsAt: number;
	/** It counts for the channel and for all, not for a person. */
	readonly limits: WatchLimits;
}

/** Of `WatchStore.add`. `already`: watched there. `isPosting`: a post is planned, perhaps one that Slack refused. */
export async function addWatch(tx: CipherTx, watch: NewWatch) {
	const { trx, cipher } = tx;
	const here = () => liveWatches(trx, { ...channelOf(watch), ...sessionOf(watch.session) });
	await lockFor(trx, 'addingWatches');
	const there = await here().executeTakeFirst();
	const counted = there === undefined ? ALL_LIMITS : there.mode === RAISED ? (['person'] as const) : [];
	const reached = await limitReached(trx, watch, counted);
	if (reached !== null) return reached;
	await enterRule(tx, watch);
	const { view, readAt = watch.createdAt } = watch;
	const seenAt = { lastReadAt: view.seenAt, lastChangeAt: view.seenAt };
	const read = {
		...seenAt,
		view: viewColumn.seal(view, watch.session, cipher),
		digest: JSON.stringify(view.digest),
		failures: 0,
		reads: null,
	};
	const stored = await startReading(trx, { ...watch, readAt }, read);
	const { question } = view.digest;
	const { changes, itemsAt, known } = watch.found;
	const before = await knownQuestions(trx, watch.session, known.equal[0]?.fingerprint ?? null);
	// What a newer read tells follows with the next read.
	const isKnown =
		stored === null
			? isDeepStrictEqual([before.newest, before.equal], [known.newest, known.equal])
			: isDeepStrictEqual(readDigest(stored.digest)?.question, question);
	if (stored === null && isKnown) {
		const newest = { question: view.question, readAt: view.seenAt, isFirst: true };
		await recordQuestions(tx, watch.session, changes, { newest, itemsAt });
	}
	if (!isKnown) await changeSession(trx, watch.session, { nextReadAt: watch.createdAt });
	const news = isKnown ? watch.news : undefined;
	// What that read finds is not told to this watch, but by the next one.
	const isBeingRead = stored !== null && stored.leaseToken !== null;
	const live = await here().forUpdate().executeTakeFirst();
	const isRefused = live !== undefined && (await planRefused(tx, live));
	if (live !== undefined && live.mode !== RAISED)
		return { kind: 'already', watch: readWatch(live), isPosting: isRefused } as const;
	const told = live?.revision ?? 0;
	// A read of the raised hand that is under way must not end this watch.
	const ofHand = told > 0 && !isBeingRead ? told + 1 : Math.min(told, 0) - 1;
	const revision = live === undefined ? Number(news !== undefined && !isBeingRead) : ofHand;
	const begun = { mode: CARD, createdBy: watch.createdBy, revision };
	const row = await (live === undefined ? insertWatch(trx, watch, begun) : changeWatch(trx, live.id, begun));
	const card = { ...watch.card, target: { ...watch.card.target, watchId: row.id } as const };
	await planPosts(tx, live === undefined ? [card, ...(news ?? [])] : [card]);
	await redrawFormer(tx, watch);
	// Its reminders may stay in its thread now.
	if (live !== undefined) await lookAtReminders(tx, [row], watch.createdAt);
	await markDue(tx, null);
	recordWatch(trx, watch, { actor: watch.createdBy, outcome: 'watching' });
	return { kind: 'added', watch: readWatch(row), isPosting: live === undefined || isRefused } as const;
}

export async function raiseHand(trx: Db, hand: NewRaisedHand) {
	const { session, createdAt } = hand;
	await lockFor(trx, 'addingWatches');
	// Whoever ends the discovery waits for this lock, and then ends this watch too.
	const filter = { ...channelOf(hand), service: session.service };
	const discovery = await from(trx, 'discoveries', filter).selectAll().forUpdate().executeTakeFirst();
	if (discovery === undefined) return UNNEEDED;
	const here = liveWatches(trx, { ...channelOf(hand), ...sessionOf(session) });
	if ((await here.executeTakeFirst()) !== undefined) return UNNEEDED;
	const { createdBy } = discovery;
	const reached = await limitReached(trx, { ...hand, createdBy }, ['channel', 'all']);
	const oldest = reached && (await oldestHand(trx, hand, reached));
	if (reached !== null && (oldest?.lastChangeAt ?? Number.POSITIVE_INFINITY) >= hand.newsAt) return reached;
	// Nobody's act: others may have made the channel's list since somebody turned this on, so it opens nothing.
	await enterRule({ trx, now: createdAt }, { ...hand, createdBy: '' });
	const read = { session, readAt: createdAt, readBy: createdAt - (hand.ahead ? NEWS_AHEAD_MS : 0) };
	await startReading(trx, read, { digest: null, failures: 0, reads: null });
	await insertWatch(trx, hand, { mode: RAISED, createdBy });
	await markDue({ trx, now: createdAt }, null);
	recordWatch(trx, hand, { actor: PROGRAM, outcome: 'raised' });
	return { kind: 'raised' } as const;
}

function recordWatch(trx: Db, watch: NewRaisedHand | NewWatch, how: Pick<AuditEvent, 'actor' | 'outcome'>): void {
	const { channelId: channel, session, createdAt: at } = watch;
	recordEvents(trx, { at, action: 'watched', channel, session: session.sessionId, ...how });
}

export function recordUnwatched({ trx, now: at }: Tx, row: WatchRow, outcome: WatchEnd, byProgram = false): void {
	// What nobody asked for ends by itself, also within somebody's request.
	const isAct = !byProgram && (outcome === 'unwatched' || outcome === 'discoveryEnded');
	const by = isAct ? {} : { actor: PROGRAM };
	recordEvents(trx, { at, action: 'unwatched', channel: row.channelId, session: row.sessionId, outcome, ...by });
}

const UNNEEDED = { kind: 'unneeded' } as const;
const RAISED = 'raisedHand' as const;
const CARD = 'card' as const;
const ALL_LIMITS = ['person', 'channel', 'all'] as const;

/**
 * The first of these limits of watches that is reached, or exceeded by `by`. Raised hands count for no person.
 * `countsUnposted`: whether those count whose question does not stand in its channel: it may ask nothing.
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
 * The raised hand with the oldest news of those whose question stands: in the channel, or in any of its workspace when
 * the limit of all is reached; null: none.
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
