import { EARLY_READS_MS } from '../domain/answer.ts';
import { isWaiting } from '../domain/session.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { backOff } from '../kernel/retries.ts';
import { LONGEST_INTERVAL_MS } from '../store/schema/watches.ts';
import type { PlannedRead } from '../store/session-reads.ts';
import type { WatchedSession } from '../store/watched-sessions.ts';

/*
 * When to read a session next. Only reads show what happened; a list shows when to read. While the budget has no room
 * for all that is due, every interval grows by the same factor: see `PlannedRead`.
 */

/** What the schedule needs of a session. */
export interface SessionOutline extends Omit<WatchedSession, 'digest' | 'earlyReadCount'> {
	readonly status: string | null;
	/** The newest question of its agent. */
	readonly question: 'open' | 'answered' | null;
	/** The field of an answer of ours is empty, and nobody knows yet whether the agent asks again. */
	readonly isChecking: boolean;
}

/** What is known of the newest list; null: there is none. `isComplete`: a session that it lacks does not wait. */
export type ListKnowledge = { readonly isComplete: boolean } | null;

/** A session is quiet when reads have shown nothing new for this long. */
const QUIET_AFTER_MS = 10 * MINUTE_MS;
/** Intervals where no list shows that a session changed. */
export const UNLISTED = { busyMs: 2_500, quietMs: 30_000 } as const;
/** Intervals where a list shows when a session asks or changes. */
const LISTED = { busyMs: 4_000, openMs: 2 * MINUTE_MS, quietMs: 10 * MINUTE_MS } as const;
/** For this long after a change, a session with an answered question is read as one with an open question. */
const RECENT_MS = HOUR_MS;
/** A field may be empty again after its answer. This is the longest interval until a read shows whether it stays so. */
const CHECK_MS = MINUTE_MS;
/** A session takes no more of the service than this in the long run. One of 5 MB that steps is read every 10 s. */
const BYTES_PER_MS = 512;
/** The least interval, as a multiple of how long a read takes. */
const TIMES_TOOK = 3;
const LONGEST_BY_COST_MS = 20_000;
/** Until the last read of a session that is over: the service may write the result a moment after the status. */
const LAST_READ_MS = 2_000;
/** For this long after an answer, the agent is expected to continue. */
const JUST_ANSWERED_MS = 30_000;
/** The back-off after a failure, doubled for each further one up to the longest. */
const RETRY = { firstMs: 4_000, longestMs: MINUTE_MS } as const;

/** When to read a session next; not before `now`. */
export function nextRead(outline: SessionOutline, list: ListKnowledge, now: number): PlannedRead {
	const { failures, lastReadAt, overSince, nextRead: before } = outline;
	if (failures > 0) {
		const at = now + backOff(failures, RETRY);
		// A read that goes ahead of others keeps its place.
		return { at, by: before.by < before.at ? before.by : at };
	}
	if (lastReadAt === null) return plannedAt(now);
	const after = (ms: number) => Math.max(now, lastReadAt + ms);
	// Ahead of others: people wait for how it ended.
	if (overSince !== null) return { at: after(LAST_READ_MS), by: now };
	const checking = outline.isChecking ? CHECK_MS : LONGEST_INTERVAL_MS;
	const at = after(Math.max(leastMs(outline), Math.min(intervalMs(outline, list), checking)));
	const early = earlyReadAt(outline, now);
	return plannedAt(early === null ? at : Math.min(at, early));
}

const plannedAt = (at: number): PlannedRead => ({ at, by: at });

function intervalMs(outline: SessionOutline, list: ListKnowledge): number {
	const { lastReadAt, lastChangeAt, listed, question } = outline;
	const steadyMs = (lastReadAt ?? 0) - (lastChangeAt ?? lastReadAt ?? 0);
	// A complete list shows nothing of a session that waits and is not in it.
	const isFollowed = list !== null && (listed !== null || (list.isComplete && !isWaiting(outline.status ?? '')));
	if (steadyMs < QUIET_AFTER_MS) return isFollowed ? LISTED.busyMs : UNLISTED.busyMs;
	if (!isFollowed) return UNLISTED.quietMs;
	const isRecent = question === 'open' || (question === 'answered' && steadyMs < RECENT_MS);
	return isRecent ? LISTED.openMs : LISTED.quietMs;
}

/** The least interval that the cost of a session's responses allows, in milliseconds. */
export function leastMs({ reads: { byteCount, tookMs } }: Pick<SessionOutline, 'reads'>): number {
	return Math.min(LONGEST_BY_COST_MS, byteCount / BYTES_PER_MS + TIMES_TOOK * tookMs);
}

/** Whether early reads of a session are under way, because somebody has just answered it. */
export function isEarlyReadAsked({ earlyReadAskedAt }: Pick<SessionOutline, 'earlyReadAskedAt'>, now: number): boolean {
	return earlyReadAskedAt !== null && now - earlyReadAskedAt < JUST_ANSWERED_MS;
}

/**
 * The next of the early reads after an answer; null: none is left. Two of them are apart by the time that one takes.
 */
function earlyReadAt(outline: SessionOutline, now: number): number | null {
	const { earlyReadAskedAt: askedAt, lastReadAt } = outline;
	if (askedAt === null || lastReadAt === null) return null;
	const next = EARLY_READS_MS.find((ms) => askedAt + ms > lastReadAt);
	return next === undefined ? null : Math.max(now, askedAt + next, lastReadAt + outline.reads.tookMs);
}
