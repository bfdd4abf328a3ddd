import { EARLY_READS_MS } from '../domain/answer.ts';
import { isWaiting } from '../domain/session.ts';
import { HOUR_MS, MINUTE_MS } from '../kernel/clock.ts';
import { backOff } from '../kernel/retries.ts';
import { LONGEST_INTERVAL_MS } from '../store/schema/watches.ts';
import type { PlannedRead } from '../store/session-reads.ts';
import type { WatchedSession } from '../store/watched-sessions.ts';

/*
 * When to read a session next. All of it is a matter of time: reads tell what happened, the list only when to look.
 * While the budget has no room for all that is due, every interval is stretched by the same factor: see `PlannedRead`.
 */

/** What the schedule needs of a session. */
export interface SessionOutline extends Omit<WatchedSession, 'digest' | 'earlyReadCount'> {
	readonly status: string | null;
	/** The newest question of its agent. */
	readonly question: 'open' | 'answered' | null;
	/** The agent waits beside an answer that is not in its field. */
	readonly isChecking: boolean;
}

/** What the newest list tells. `isComplete`: a session that it lacks does not wait. */
export type ListKnowledge = { readonly isComplete: boolean } | null;

/** A session is quiet when reads have shown nothing new for this long. */
const QUIET_AFTER_MS = 10 * MINUTE_MS;
/** Where no list tells of it. */
export const UNLISTED = { busyMs: 2_500, quietMs: 30_000 } as const;
/** Where a list tells when it asks, or when its question changes. */
const LISTED = { busyMs: 4_000, openMs: 2 * MINUTE_MS, quietMs: 10 * MINUTE_MS } as const;
/** So long after a change an answered question is read as if it were open. */
const RECENT_MS = HOUR_MS;
/** Whether an answered field stays empty is told by a read after this. */
const CHECK_MS = MINUTE_MS;
/** A session takes no more of the service than this in the long run. One of 5 MB that steps is read every 10 s. */
const BYTES_PER_MS = 512;
/** The least interval in times of what a read takes. */
const TIMES_TOOK = 3;
const LONGEST_BY_COST_MS = 20_000;
/** Until the last read of a session that is over: the service may write the result a moment after the status. */
const LAST_READ_MS = 2_000;
/** For so long a person has just done something after which the agent goes on. */
const JUST_ANSWERED_MS = 30_000;
/** The back-off after a failure, doubled for each further one up to the longest. */
const RETRY = { firstMs: 4_000, longestMs: MINUTE_MS } as const;

/** When to read a session next; not before `now`. */
export function nextRead(outline: SessionOutline, list: ListKnowledge, now: number): PlannedRead {
	const { failures, lastReadAt, overSince, nextRead: before } = outline;
	if (failures > 0) {
		const at = now + backOff(failures, RETRY);
		// It keeps its place while somebody awaits it.
		return { at, by: before.by < before.at ? before.by : at };
	}
	if (lastReadAt === null) return plannedAt(now);
	const after = (ms: number) => Math.max(now, lastReadAt + ms);
	// Somebody awaits how it ended.
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
	const isWaitingUnlisted = listed === null && isWaiting(outline.status ?? '');
	const isFollowed = list !== null && (listed !== null || list.isComplete) && !isWaitingUnlisted;
	if (steadyMs < QUIET_AFTER_MS) return isFollowed ? LISTED.busyMs : UNLISTED.busyMs;
	if (!isFollowed) return UNLISTED.quietMs;
	const isRecent = question === 'open' || (question === 'answered' && steadyMs < RECENT_MS);
	return isRecent ? LISTED.openMs : LISTED.quietMs;
}

/** What its responses cost allows. */
export function leastMs({ reads: { byteCount, tookMs } }: Pick<SessionOutline, 'reads'>): number {
	return Math.min(LONGEST_BY_COST_MS, byteCount / BYTES_PER_MS + TIMES_TOOK * tookMs);
}

/** Whether a person has just done something after which the agent goes on, so that its session is read early. */
export function isEarlyReadAsked({ earlyReadAskedAt }: Pick<SessionOutline, 'earlyReadAskedAt'>, now: number): boolean {
	return earlyReadAskedAt !== null && now - earlyReadAskedAt < JUST_ANSWERED_MS;
}

/** The next of the reads after an answer; null: none is left. Between two there is as long as one takes. */
function earlyReadAt(outline: SessionOutline, now: number): number | null {
	const { earlyReadAskedAt: askedAt, lastReadAt } = outline;
	if (askedAt === null || lastReadAt === null) return null;
	const next = EARLY_READS_MS.find((ms) => askedAt + ms > lastReadAt);
	return next === undefined ? null : Math.max(now, askedAt + next, lastReadAt + outline.reads.tookMs);
}
