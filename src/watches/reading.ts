import { isDeepStrictEqual } from 'node:util';
import { type Change, changesBetween, type Digest } from '../questions/changes.ts';
import type { LeftEmpty } from '../questions/open-question.ts';
import type { Disclosure } from '../questions/secrecy.ts';
import type { Session } from '../questions/session.ts';
import { newsFor, type SeenSession, settlingOf, targetOf, watchEndedIn } from './announcements.ts';
import { isEarlyReadAsked, type Planner } from './schedule.ts';
import { questionViewAt, showSame, snapshotOf } from './session-snapshot.ts';
import { isSwitching, REST_MS } from './switching.ts';
import { DISMISSED, type Watch, type WatchEnd } from './watch.ts';
import {
	hasOpenQuestion,
	type SessionOutline,
	type SessionUpdate,
	type StepRate,
	stepRateAfter,
	type TakenSession,
	type WatchedSession,
	type WatchUpdate,
} from './watched-session.ts';

/** What a read changes, as plain data for one transaction. */
export interface ReadOutcome {
	readonly update: SessionUpdate;
	readonly watches: readonly WatchUpdate[];
	readonly changed: boolean;
}

const DAY_MS = 86_400_000;

/**
 * The outcome of a successful read whose request left at `readAt`. `steadySince`: earlier times cannot be compared with
 * now, because the clock may have been set since.
 */
export function outcomeOf({
	taken,
	session,
	readAt: leftAt,
	now,
	steadySince,
	watches,
	planner,
	maxDays,
	leftEmpty,
	arrived,
	disclosure,
}: {
	taken: TakenSession;
	session: Session;
	readAt: number;
	now: number;
	steadySince: number;
	watches: readonly Watch[];
	planner: Planner;
	maxDays: number;
	leftEmpty: LeftEmpty;
	/** The positions of the question in `taken` to which an answer of ours arrived since it was asked and before this read. */
	arrived: readonly number[];
	disclosure: Disclosure;
}): ReadOutcome {
	const readAt = Math.min(leftAt, now);
	const view = snapshotOf(session, readAt, leftEmpty, disclosure);
	const questionAt = (index: number) => questionViewAt(session, index, leftEmpty, disclosure);
	const { digest } = view;
	const changesSince = (before: Digest | null) =>
		changesBetween(before, session, leftEmpty, isSameQuestion(before, taken.digest) ? arrived : []);
	const changed = taken.digest === null || !isDeepStrictEqual(taken.digest, digest);
	// The service may write the result a moment after the status, so the end is announced by one more read.
	const isLast = digest.over && taken.overSince !== null;
	const base = {
		stepRate: measuredRate(taken, digest, { readAt, steadySince }),
		lastReadAt: readAt,
		lastChangeAt: taken.digest === null || !looksSame(taken.digest, digest) ? readAt : taken.lastChangeAt,
		failures: 0,
		lastError: null,
		overSince: digest.over ? (taken.overSince ?? readAt) : null,
		questionSince: hasOpenQuestion(digest) ? askedAt(taken, changesSince(taken.digest), readAt) : null,
		earlyReadCount: taken.earlyReadCount,
		// Names and descriptions may change without news.
		...((changed || taken.view === null || !showSame(taken.view, view)) && { view }),
	};
	const outline: SessionOutline = { ...taken, ...base, status: digest.status, questionOpen: hasOpenQuestion(digest) };
	return {
		update: { ...base, nextRead: planner.nextRead(outline, now) },
		watches: watches.flatMap((watch) => {
			if (watch.mode === 'raisedHand') {
				// What the channel saw of it before counts only for whether the question is the same.
				const isUnread = watch.revision <= 0;
				const changes = changesSince(isUnread ? null : watch.digest);
				return raisedHandUpdate(watch, changes, { view, questionAt }, isEarlyReadAsked(taken, now));
			}
			// A watch begins with what its own read found, which may be newer.
			const isOlder = watch.revision === 0 && watch.digest !== null && readAt < watch.createdAt;
			if (isOlder || (digest.over && !isLast)) return [];
			const changes = changesSince(watch.digest);
			return updateOf(watch, changes, { view, questionAt }, { now, isLast, maxDays });
		}),
		changed,
	};
}

/** Since when the open question is asked. It keeps its time when messages before it come or go. */
function askedAt({ questionSince: since }: WatchedSession, changes: readonly Change[], readAt: number): number {
	const isAsked = changes.some(({ kind }) => kind === 'questionAsked' || kind === 'questionChanged');
	return isAsked || since === null ? readAt : since;
}

/** Whether the same question is open in both. */
function isSameQuestion(before: Digest | null, after: Digest | null): boolean {
	return (
		before !== null &&
		after !== null &&
		hasOpenQuestion(before) &&
		hasOpenQuestion(after) &&
		before.question?.fingerprint === after.question?.fingerprint &&
		before.question?.sameBefore === after.question?.sameBefore
	);
}

/** The step rate after this read; unchanged when the time between the two reads cannot be measured. */
function measuredRate(
	{ stepRate, digest: before, lastReadAt: previousAt }: WatchedSession,
	after: Digest,
	{ readAt, steadySince }: { readAt: number; steadySince: number },
): StepRate {
	if (before === null || previousAt === null) return stepRate;
	if (previousAt < steadySince || previousAt > readAt) return { ...stepRate, lastStepAt: null };
	return stepRateAfter(stepRate, { before, after, previousAt, readAt });
}

/** The update of one watch; empty when there is nothing to write. */
function updateOf(
	watch: Watch,
	changes: readonly Change[],
	seen: SeenSession,
	{ now, isLast, maxDays }: { now: number; isLast: boolean; maxDays: number },
): WatchUpdate[] {
	const news = newsFor(watch, changes, seen);
	const stale = !news.changed && isStale(watch, now, maxDays);
	const end: WatchEnd | null = isLast ? 'sessionOver' : stale ? 'noChange' : null;
	if (watch.digest !== null && changes.length === 0 && end === null) return [];
	const farewell = end === 'noChange' ? [watchEndedIn(watch, end, maxDays)] : [];
	return [
		{
			watchId: watch.id,
			revision: watch.revision,
			digest: seen.view.digest,
			changed: news.changed,
			announcements: [...news.announcements, ...farewell],
			reworded: news.reworded,
			card: end === null ? news.card : 'now',
			end,
		},
	];
}

const NO_NEWS = { announcements: [], changed: false, reworded: null } as const;

/**
 * It ends when nobody is asked any more; shortly after an answer, or while the agent changes its question often, it goes on,
 * because agents often ask again. It never ends for want of changes: the session would be listed again.
 */
function raisedHandUpdate(
	watch: Watch,
	changes: readonly Change[],
	seen: SeenSession,
	isEarlyReadAsked: boolean,
): WatchUpdate[] {
	const { digest } = seen.view;
	const isUnread = watch.revision <= 0;
	const isDismissed = watch.revision === DISMISSED || (isUnread && isSameQuestion(watch.digest, digest));
	const news = newsFor(isUnread ? { ...watch, digest: null } : watch, changes, seen);
	const isRestless = isSwitching(news.endings) && seen.view.seenAt - news.endings.unansweredAt < REST_MS;
	const isLowered = digest.over || isDismissed || (!hasOpenQuestion(digest) && !isEarlyReadAsked && !isRestless);
	const end: WatchEnd | null = watch.revision === DISMISSED ? 'unwatched' : isLowered ? 'handLowered' : null;
	if (!isUnread && changes.length === 0 && end === null) return [];
	const { announcements, changed, reworded } = isDismissed ? NO_NEWS : news;
	return [{ watchId: watch.id, revision: watch.revision, digest, changed, announcements, reworded, card: null, end }];
}

/** A raised hand that was never read holds its place for so many reads. Its session is listed again. */
export const HAND_TRIES = 3;

/** The outcome of a failed read: when to try again, and the end of watches whose session is gone or unchanged for too long. */
export function failureOf({
	taken,
	code,
	now,
	watches,
	planner,
	gone,
	maxDays,
}: {
	taken: TakenSession;
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
		watches: watches.flatMap((watch) => {
			if (gone) return [goneUpdate(watch, taken)];
			if (isStale(watch, now, maxDays)) return [staleUpdate(watch, taken, maxDays)];
			const isUnreadHand = watch.mode === 'raisedHand' && watch.revision <= 0;
			return isUnreadHand && failures >= HAND_TRIES ? [lostHandUpdate(watch, taken)] : [];
		}),
	};
}

/** Whether a watch ends because nothing has changed for `maxDays`. */
export function isStale(
	{ lastChangeAt }: { readonly lastChangeAt: number | null },
	now: number,
	maxDays: number,
): boolean {
	return now - (lastChangeAt ?? 0) > maxDays * DAY_MS;
}

function staleUpdate(watch: Watch, taken: WatchedSession, maxDays: number): WatchUpdate {
	if (watch.mode === 'raisedHand') return lostHandUpdate(watch, taken);
	const end: WatchEnd = 'noChange';
	const digest = watch.digest ?? taken.digest ?? NOTHING_SEEN;
	const announcements = [watchEndedIn(watch, end, maxDays)];
	return { watchId: watch.id, revision: watch.revision, digest, changed: false, announcements, card: 'now', end };
}

/** The session as stored, for a read that failed. */
export function keptOf(taken: TakenSession): Omit<SessionUpdate, 'nextRead' | 'view'> {
	const {
		session: _session,
		digest: _digest,
		view: _view,
		earlyReadAskedAt: _askedAt,
		nextRead: _nextRead,
		...kept
	} = taken;
	return kept;
}

/** The service no longer knows the session. If it was over, its end is announced without a last read. */
function goneUpdate(watch: Watch, taken: WatchedSession): WatchUpdate {
	if (watch.mode === 'raisedHand') return lostHandUpdate(watch, taken);
	const end: WatchEnd = taken.overSince === null ? 'sessionGone' : 'sessionOver';
	const digest = taken.digest ?? watch.digest ?? NOTHING_SEEN;
	const content = { kind: 'end', status: digest.status, result: null, step: digest.assistantCount } as const;
	const isEnd = end === 'sessionOver' && watch.mode === 'everything';
	const announcements = [isEnd ? { target: targetOf(watch), key: 'end', content } : watchEndedIn(watch, end, null)];
	return { watchId: watch.id, revision: watch.revision, digest, changed: true, announcements, card: 'now', end };
}

/** Nobody can tell any more whether its question is open. */
function lostHandUpdate(watch: Watch, taken: WatchedSession): WatchUpdate {
	const digest = watch.digest ?? taken.digest ?? NOTHING_SEEN;
	const { id: watchId, revision } = watch;
	const announcements = settlingOf(watch, 'closed');
	return { watchId, revision, digest, changed: false, announcements, card: null, end: 'handLowered' };
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

/** Without the screenshot's time, which changes when its link is renewed: that must not keep a watch alive. */
function looksSame(before: Digest, after: Digest): boolean {
	return isDeepStrictEqual({ ...before, screenshotTimestamp: null }, { ...after, screenshotTimestamp: null });
}
