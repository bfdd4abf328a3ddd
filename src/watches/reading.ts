import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../core.ts';
import { type Change, changesBetween, type Digest } from '../questions/changes.ts';
import { occurrenceChanges } from '../questions/occurrences.ts';
import type { Session } from '../questions/session.ts';
import { type NewAnnouncement, settlingOf, targetOf, watchEndedIn } from './announcements.ts';
import { isSwitching, newsFor, REST_MS } from './news.ts';
import { isEarlyReadAsked, type Planner } from './schedule.ts';
import { type OurAnswers, type SeenSession, seenIn, showSame } from './session-snapshot.ts';
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
}

const DAY_MS = 86_400_000;
/** A raised hand that was never read holds its place for so many reads. Its session is listed again. */
const HAND_TRIES = 3;

/** The rules for what a read changes. Without side effects. */
export function createReading({ clock, config: { watchMaxDays: maxDays } }: Core, planner: Planner) {
	/** Whether a watch ends because nothing has changed for `maxDays`. */
	function isStale({ lastChangeAt }: Watch): boolean {
		return clock.now() - lastChangeAt > maxDays * DAY_MS;
	}

	/** The update of a watch with a card; empty when there is nothing to write. */
	function updateOf(watch: Watch, changes: readonly Change[], seen: SeenSession, isLast: boolean): WatchUpdate[] {
		const { announcements, card, changed, reworded } = newsFor(watch, changes, seen);
		const stale = !changed && isStale(watch);
		const end: WatchEnd | null = isLast ? 'sessionOver' : stale ? 'noChange' : null;
		if (watch.digest !== null && changes.length === 0 && end === null) return [];
		const farewell = end === 'noChange' ? [watchEndedIn(watch, end, maxDays)] : [];
		const news = {
			announcements: [...announcements, ...farewell],
			card: end === null ? card : 'now',
			reworded,
		} as const;
		return [{ watchId: watch.id, revision: watch.revision, digest: seen.view.digest, changed, ...news, end }];
	}

	/**
	 * The update of a raised hand. It ends when nobody is asked any more, but not shortly after an answer or while the
	 * agent changes its question often: agents often ask again. It never ends for want of changes: the session would be
	 * listed again.
	 */
	function raisedHandUpdate(
		watch: Watch,
		changes: readonly Change[],
		seen: SeenSession,
		isEarly: boolean,
	): WatchUpdate[] {
		const { digest, seenAt } = seen.view;
		const isUnread = watch.revision <= 0;
		const isDismissed = watch.revision === DISMISSED || (isUnread && isSameQuestion(watch.digest, digest));
		const { endings, ...news } = newsFor(isUnread ? { ...watch, digest: null } : watch, changes, seen);
		const isRestless = isSwitching(endings) && seenAt - endings.unansweredAt < REST_MS;
		const isLowered = digest.over || isDismissed || (!hasOpenQuestion(digest) && !isEarly && !isRestless);
		const end: WatchEnd | null = watch.revision === DISMISSED ? 'unwatched' : isLowered ? 'handLowered' : null;
		if (!isUnread && changes.length === 0 && end === null) return [];
		const told = isDismissed ? { announcements: [], changed: false, card: null } : news;
		return [{ watchId: watch.id, revision: watch.revision, digest, ...told, end }];
	}

	/** The end of a watch whose session cannot be read any more; empty when it goes on. */
	function endOf(watch: Watch, taken: WatchedSession, failures: number, isGone: boolean): WatchUpdate[] {
		const digest = watch.digest ?? taken.digest ?? NOTHING_SEEN;
		const ended = (end: WatchEnd, announcements: NewAnnouncement[], card: 'now' | null = 'now'): WatchUpdate[] => {
			return [{ watchId: watch.id, revision: watch.revision, digest, changed: false, announcements, card, end }];
		};
		if (watch.mode === 'raisedHand') {
			// Nobody can tell any more whether its question is open.
			const isLost = isGone || isStale(watch) || (watch.revision <= 0 && failures >= HAND_TRIES);
			return isLost ? ended('handLowered', settlingOf(watch, 'closed'), null) : [];
		}
		if (!isGone) return isStale(watch) ? ended('noChange', [watchEndedIn(watch, 'noChange', maxDays)]) : [];
		// The end of a session that was over is announced without a last read.
		if (taken.overSince === null || taken.digest === null) {
			return ended('sessionGone', [watchEndedIn(watch, 'sessionGone', null)]);
		}
		if (watch.mode !== 'everything') return ended('sessionOver', [watchEndedIn(watch, 'sessionOver', null)]);
		const { status, assistantCount: step } = taken.digest;
		return ended('sessionOver', [
			{ target: targetOf(watch), key: 'end', content: { kind: 'end', status, result: null, step } },
		]);
	}

	return {
		/** `arrived`: the positions of the question in `taken` to which answers of ours arrived before this read. */
		succeeded(
			taken: TakenSession,
			{ session, readAt: leftAt }: { session: Session; readAt: number },
			watches: readonly Watch[],
			{ ours, arrived }: { ours: OurAnswers; arrived: readonly number[] },
		): ReadOutcome {
			const now = clock.now();
			const readAt = Math.min(leftAt, now);
			const seen = seenIn(session, readAt, ours);
			const { view } = seen;
			const { digest } = view;
			const changesSince = (before: Digest | null) =>
				changesBetween(before, session, ours.leftEmpty, isSameQuestion(before, taken.digest) ? arrived : []);
			const sinceRead = changesSince(taken.digest);
			// The service may write the result a moment after the status, so the end is announced by one more read.
			const isLast = digest.over && taken.overSince !== null;
			const base = {
				stepRate: measuredRate(taken, digest, {
					readAt,
					steadySince: clock.steadySince?.() ?? Number.NEGATIVE_INFINITY,
				}),
				lastReadAt: readAt,
				lastChangeAt: taken.digest === null || !looksSame(taken.digest, digest) ? readAt : taken.lastChangeAt,
				failures: 0,
				overSince: digest.over ? (taken.overSince ?? readAt) : null,
				earlyReadCount: taken.earlyReadCount,
				questions: occurrenceChanges(taken.digest, sinceRead, digest, seen.digestAt),
				// Names and descriptions may change without news.
				...((taken.digest === null || taken.view === null || !showSame(taken.view, view)) && { view }),
			};
			const outline: SessionOutline = {
				...taken,
				...base,
				status: digest.status,
				questionOpen: hasOpenQuestion(digest),
			};
			return {
				update: { ...base, nextRead: planner.nextRead(outline, now) },
				watches: watches.flatMap((watch) => {
					if (watch.mode === 'raisedHand') {
						// What the channel saw of it before counts only for whether the question is the same.
						const changes = changesSince(watch.revision <= 0 ? null : watch.digest);
						return raisedHandUpdate(watch, changes, seen, isEarlyReadAsked(taken, now));
					}
					// A watch begins with what its own read found, which may be newer.
					const isOlder = watch.revision === 0 && watch.digest !== null && readAt < watch.createdAt;
					if (isOlder || (digest.over && !isLast)) return [];
					return updateOf(watch, changesSince(watch.digest), seen, isLast);
				}),
			};
		},

		/** The outcome of a failed read: when to try again, and the end of watches. `isGone`: the service has no such session. */
		failed(taken: TakenSession, watches: readonly Watch[], isGone: boolean): ReadOutcome {
			const failures = taken.failures + 1;
			const outline: SessionOutline = { ...taken, failures, status: null, questionOpen: false };
			const nextRead = planner.nextRead(outline, clock.now());
			return {
				update: { ...keptOf(taken), failures, nextRead },
				watches: watches.flatMap((watch) => endOf(watch, taken, failures, isGone)),
			};
		},
	};
}

/** The session as stored, for a read that failed. */
export function keptOf({ view: _view, ...kept }: TakenSession): Omit<SessionUpdate, 'view'> {
	return kept;
}

function isSameQuestion(before: Digest | null, after: Digest | null): boolean {
	return (
		hasOpenQuestion(before) &&
		hasOpenQuestion(after) &&
		before?.question?.fingerprint === after?.question?.fingerprint &&
		before?.question?.sameBefore === after?.question?.sameBefore
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
