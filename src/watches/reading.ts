import { type Change, changesBetween, type Digest } from '../questions/changes.ts';
import type { Disclosure } from '../questions/disclosure.ts';
import type { LeftEmpty } from '../questions/open-question.ts';
import type { Session } from '../questions/session.ts';
import { newsFor, type SeenSession, targetOf, watchEndedIn } from './announcements.ts';
import type { SessionOutline, SessionUpdate, WatchedSession, WatchUpdate } from './ports.ts';
import type { Planner } from './schedule.ts';
import { questionViewAt, snapshotOf } from './session-snapshot.ts';
import { type StepRate, stepRateAfter } from './step-rate.ts';
import type { Watch, WatchEnd } from './watch.ts';

/** What a read leads to, as plain data for one transaction. */
export interface ReadOutcome {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
	readonly changed: boolean;
}

const DAY_MS = 86_400_000;

/**
 * The outcome of a read that brought the session. `leftAt`: when its request left. `steadySince`: times before that
 * cannot be compared with now, because the clock may have been set since.
 */
export function outcomeOf({
	taken,
	session,
	leftAt,
	now,
	steadySince,
	watches,
	planner,
	maxDays,
	leftEmpty,
	disclosure,
}: {
	taken: WatchedSession;
	session: Session;
	leftAt: number;
	now: number;
	steadySince: number;
	watches: readonly Watch[];
	planner: Planner;
	maxDays: number;
	leftEmpty: LeftEmpty;
	/** What channels see of the values. */
	disclosure: Disclosure;
}): ReadOutcome {
	const readAt = Math.min(leftAt, now);
	const view = snapshotOf(session, readAt, leftEmpty, disclosure);
	const questionAt = (index: number) => questionViewAt(session, index, leftEmpty, disclosure);
	const { digest } = view;
	const changed = taken.digest === null || !sameDigest(taken.digest, digest);
	// The result may be written a moment after the status, so the read after the one that saw the end announces it.
	const last = digest.over && taken.overSince !== null;
	const base = {
		stepRate: measuredRate(taken, digest, { readAt, steadySince }),
		lastReadAt: readAt,
		lastChangeAt: taken.digest === null || !looksSame(taken.digest, digest) ? readAt : taken.lastChangeAt,
		failures: 0,
		lastError: null,
		overSince: digest.over ? (taken.overSince ?? readAt) : null,
		earlyReadCount: taken.earlyReadCount,
		...(changed && { view }),
	};
	const outline: SessionOutline = { ...taken, ...base, status: digest.status, questionOpen: isOpen(digest) };
	return {
		update: { ...base, nextRead: planner.nextRead(outline, now) },
		watches:
			digest.over && !last
				? []
				: watches.flatMap((watch) => {
						const changes = changesBetween(watch.digest, session, leftEmpty);
						return updateOf(watch, changes, { view, questionAt }, { now, last, maxDays });
					}),
		changed,
	};
}

/** What the time between two reads teaches, if it can be measured. */
function measuredRate(
	{ stepRate, digest: before, lastReadAt: previousAt }: WatchedSession,
	after: Digest,
	{ readAt, steadySince }: { readAt: number; steadySince: number },
): StepRate {
	if (before === null || previousAt === null) return stepRate;
	if (previousAt < steadySince || previousAt > readAt) return { ...stepRate, lastStepAt: null };
	return stepRateAfter(stepRate, { before, after, previousAt, readAt });
}

/** Nothing when there is nothing to write. */
function updateOf(
	watch: Watch,
	changes: readonly Change[],
	seen: SeenSession,
	{ now, last, maxDays }: { now: number; last: boolean; maxDays: number },
): WatchUpdate[] {
	const news = newsFor(watch, changes, seen);
	const stale = !news.changed && isStale(watch, now, maxDays);
	const end: WatchEnd | null = last ? 'sessionOver' : stale ? 'noChange' : null;
	if (watch.digest !== null && changes.length === 0 && end === null) return [];
	const farewell = end === 'noChange' ? [watchEndedIn(watch, end, maxDays)] : [];
	return [
		{
			watchId: watch.id,
			revision: watch.revision,
			digest: seen.view.digest,
			changed: news.changed,
			announcements: [...news.announcements, ...farewell],
			card: end === null ? news.card : 'now',
			end,
		},
	];
}

/** The outcome of a read that failed: when to try again, and the end of watches whose session is gone or has not changed. */
export function failureOf({
	taken,
	code,
	now,
	watches,
	planner,
	gone,
	maxDays,
}: {
	taken: WatchedSession;
	code: string;
	now: number;
	watches: readonly Watch[];
	planner: Planner;
	gone: boolean;
	maxDays: number;
}): Omit<ReadOutcome, 'changed'> {
	const failures = taken.failures + 1;
	const outline: SessionOutline = { ...taken, failures, status: null, questionOpen: false };
	return {
		update: { ...keptOf(taken), failures, lastError: code, nextRead: planner.nextRead(outline, now) },
		watches: gone
			? watches.map((watch) => goneUpdate(watch, taken))
			: watches.filter((watch) => isStale(watch, now, maxDays)).map((watch) => staleUpdate(watch, taken, maxDays)),
	};
}

/** Whether nothing has changed for so long that a watch ends. */
export function isStale(
	{ lastChangeAt }: { readonly lastChangeAt: number | null },
	now: number,
	maxDays: number,
): boolean {
	return now - (lastChangeAt ?? 0) > maxDays * DAY_MS;
}

/** Nothing changed for too long, and the session could not be read either. */
function staleUpdate(watch: Watch, taken: WatchedSession, maxDays: number): WatchUpdate {
	const end: WatchEnd = 'noChange';
	const digest = watch.digest ?? taken.digest ?? NOTHING_SEEN;
	const announcements = [watchEndedIn(watch, end, maxDays)];
	return { watchId: watch.id, revision: watch.revision, digest, changed: false, announcements, card: 'now', end };
}

/** The session as it was stored, for a read that tells nothing about it. */
export function keptOf(taken: WatchedSession): Omit<SessionUpdate, 'nextRead'> {
	const { stepRate, lastReadAt, lastChangeAt, failures, lastError, overSince, earlyReadCount } = taken;
	return { stepRate, lastReadAt, lastChangeAt, failures, lastError, overSince, earlyReadCount };
}

/** The service does not know the session any more. When it was over before, its end is announced without a last read. */
function goneUpdate(watch: Watch, taken: WatchedSession): WatchUpdate {
	const end: WatchEnd = taken.overSince === null ? 'sessionGone' : 'sessionOver';
	const digest = taken.digest ?? watch.digest ?? NOTHING_SEEN;
	const content = { kind: 'end', status: digest.status, result: null, step: digest.assistantCount } as const;
	const isEnd = end === 'sessionOver' && watch.mode === 'everything';
	const announcements = [isEnd ? { target: targetOf(watch), key: 'end', content } : watchEndedIn(watch, end, null)];
	return { watchId: watch.id, revision: watch.revision, digest, changed: true, announcements, card: 'now', end };
}

const NOTHING_SEEN: Digest = {
	status: '',
	assistantCount: 0,
	question: null,
	over: false,
	result: null,
	files: '',
	screenshotTimestamp: null,
};

function isOpen(digest: Digest): boolean {
	return digest.question !== null && digest.question.open.length > 0;
}

/** Cards do not show the screenshot, and its time may change with its link: that keeps no watch alive. */
function looksSame(one: Digest, other: Digest): boolean {
	return sameDigest({ ...one, screenshotTimestamp: null }, { ...other, screenshotTimestamp: null });
}

/** Digests are small and their fields always in the same order. */
function sameDigest(one: Digest, other: Digest): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
