import type { Digest } from '../questions/changes.ts';
import type { OccurrenceChange } from '../questions/occurrences.ts';
import type { NewAnnouncement } from './announcements.ts';
import type { QuestionView, SessionSnapshot } from './session-snapshot.ts';
import type { CardUrgency, SessionKey, Watch, WatchEnd } from './watch.ts';

/** When the next read is due (`at`). Due reads are taken in the order of `by`. Clock milliseconds. */
export interface PlannedRead {
	readonly at: number;
	readonly by: number;
}

/** A session that at least one channel watches. All its watches share this one row. */
export interface WatchedSession {
	readonly session: SessionKey;
	readonly stepRate: StepRate;
	/** Null before the first read. */
	readonly digest: Digest | null;
	readonly nextRead: PlannedRead;
	/** When the newest successful read began. */
	readonly lastReadAt: number | null;
	/** When the newest read began that found a change; before any change, the first read. */
	readonly lastChangeAt: number | null;
	/** When an early read was asked for, because an answer was delivered. */
	readonly earlyReadAskedAt: number | null;
	/** Failed reads since the last successful one. */
	readonly failures: number;
	/** When a read first found the session over. One more read follows. */
	readonly overSince: number | null;
	/** Counts the requests for early reads: a read that began before the newest request does not cancel it. */
	readonly earlyReadCount: number;
}

/** A session whose read is due. */
export interface TakenSession extends WatchedSession {
	/** What is stored of it; null before the first read, or when it cannot be read. */
	readonly view: SessionSnapshot | null;
}

/** The outcome of a read for its session; `earlyReadCount` is the one that the session was taken with. */
export interface SessionUpdate extends Omit<WatchedSession, 'session' | 'digest' | 'earlyReadAskedAt'> {
	/** Left out when it shows what is stored already. */
	readonly view?: SessionSnapshot;
	/** Left out, or empty, when nothing changed about the session's questions. */
	readonly questions?: readonly OccurrenceChange[];
}

/** A session that was taken and is not given back yet. */
export interface HeldSession {
	readonly session: SessionKey;
	readonly token: string;
}

/** A read's outcome for one watch, written only while it is at `revision` and goes on. `reworded`: its question's new text. */
export interface WatchUpdate extends Pick<Watch, 'revision'> {
	readonly watchId: string;
	readonly digest: Digest;
	/** Whether people see a difference: sets `lastChangeAt`. */
	readonly changed: boolean;
	readonly announcements: readonly NewAnnouncement[];
	readonly reworded?: QuestionView | null;
	readonly card: CardUrgency | null;
	readonly end: WatchEnd | null;
}

/** A session that waits for a person. */
export interface ListedWaiting {
	readonly sessionId: string;
	/** When it was known not to wait, clock milliseconds; null: never. */
	readonly absentAt: number | null;
	/** When its read was last moved, and until when it is not again if that read found nothing; null: never. */
	readonly moved: { readonly at: number; readonly until: number } | null;
}

/** A session whose read was moved. */
export interface MovedRead {
	readonly sessionId: string;
	/** Whether its session has changed since its read was moved before. */
	readonly hasChanged: boolean;
}

/** `awaited`: the read was moved ahead of others. `planned`: it comes in its turn. */
export type ReadKind = 'awaited' | 'planned';

/** What the schedule needs of a session. The outlines of all sessions are read every few seconds. */
export interface SessionOutline extends Omit<WatchedSession, 'digest' | 'earlyReadCount'> {
	readonly status: string | null;
	readonly questionOpen: boolean;
}

/** `watchers`: who created its watches, and the channels into which it was brought. They share reads fairly. */
export interface WatchedOutline extends SessionOutline {
	readonly watchers: readonly string[];
}

/** How often a session steps, learned from reads of it. Stored as JSON with the session. */
export interface StepRate {
	/** Average gap between two steps while it works, in milliseconds. Newer gaps weigh more. */
	readonly gapMs: number;
	/** The read that saw the newest step or saw the session resume; clock milliseconds, null before any. */
	readonly lastStepAt: number | null;
}

/** A model call and an action take seconds. */
export const UNKNOWN_STEP_RATE: StepRate = { gapMs: 8_000, lastStepAt: null };

/** The weight of each gap in the average: a session's rate changes with its task. */
const GAP_WEIGHT = 1 / 16;

/** The step rate after a read. `before` was read at `previousAt`, `after` at `readAt`. */
export function stepRateAfter(
	rate: StepRate,
	{ before, after, previousAt, readAt }: { before: Digest; after: Digest; previousAt: number; readAt: number },
): StepRate {
	const steps = Math.abs(after.assistantCount - before.assistantCount);
	const resumed = !isWorking(before) && isWorking(after);
	if (steps === 0) return resumed ? { ...rate, lastStepAt: readAt } : rate;
	// The time before it resumed is no gap between steps.
	if (!isWorking(before)) return { ...rate, lastStepAt: readAt };
	const gapMs = Math.max(1, readAt - (rate.lastStepAt ?? previousAt)) / steps;
	const weight = 1 - (1 - GAP_WEIGHT) ** steps;
	return { gapMs: rate.gapMs + weight * (gapMs - rate.gapMs), lastStepAt: readAt };
}

/** What the session does by itself. An unknown status counts as working. */
export function activityOf({
	status,
	questionOpen,
}: Pick<SessionOutline, 'status' | 'questionOpen'>): 'working' | 'waiting' | 'resting' {
	if (questionOpen || status === 'humanInput') return 'waiting';
	return status === 'paused' || status === 'inactive' ? 'resting' : 'working';
}

export function hasOpenQuestion(digest: Digest | null): boolean {
	return (digest?.question?.open.length ?? 0) > 0;
}

function isWorking(digest: Digest): boolean {
	return !digest.over && activityOf({ status: digest.status, questionOpen: hasOpenQuestion(digest) }) === 'working';
}
