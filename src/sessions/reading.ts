import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../core.ts';
import type { OurAnswers } from '../delivery/earlier-answers.ts';
import { isChecking, type OccurrenceChange } from '../domain/occurrences.ts';
import { isOver, isWaiting } from '../domain/session.ts';
import { changesBetween, type Digest, type SessionChange } from '../domain/session-digest.ts';
import { type KnownAnswers, questionViewAt, snapshotOf } from '../domain/session-snapshot.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { MeasuredReading } from '../service/service.ts';
import { readsAfter } from '../store/session-reads.ts';
import { DISMISSED, hasOpenQuestion, WATCH_MAX_DAYS, type Watch, type WatchEnd } from '../store/watch.ts';
import type { TakenSession } from '../store/watched-sessions.ts';
import { type NewPost, QUESTION_KEY, targetOf } from '../surfaces/post.ts';
import type { ReadOutcome, SessionUpdate, WatchUpdate } from './recording-store.ts';
import { isEarlyReadAsked, type ListKnowledge, nextRead, type SessionOutline } from './schedule.ts';

/** A raised hand ends after this many failed reads without any other. Its session will be listed again. */
const HAND_TRIES = 3;

export type ReadAnswers = KnownAnswers & Pick<OurAnswers, 'known' | 'occurrences' | 'outcomes'>;

/** The rules for what a read changes, and when the next one comes. They have no side effects. */
export function createReading({ clock }: Core<unknown>, list: () => ListKnowledge) {
	/** Whether a watch ends because nothing has changed for `WATCH_MAX_DAYS`. */
	const isStale = ({ lastChangeAt }: Watch) => clock.now() - lastChangeAt > WATCH_MAX_DAYS * DAY_MS;

	/** The update of a watch with a card; empty when there is nothing to write. */
	function cardUpdate(watch: Watch, news: News, { status }: Digest, isLast: boolean): WatchUpdate[] {
		const stale = !news.changed && !isOver(status) && isStale(watch);
		const end: WatchEnd | null = isLast ? 'sessionOver' : stale ? 'noChange' : null;
		if (watch.revision > 0 && !news.changed && end === null) return [];
		const last = isLast ? endOfSession(watch, status) : end === 'noChange' ? [farewell(watch)] : [];
		return [{ ...news, posts: [...news.posts, ...last], end }];
	}

	/**
	 * The update of a raised hand; empty when there is nothing to write. It ends when nobody is asked, unless the agent
	 * may ask again (`mayAskAgain`). It never ends for want of changes: its session would be listed again.
	 */
	function raisedHandUpdate(watch: Watch, news: News, digest: Digest, mayAskAgain: boolean): WatchUpdate[] {
		const isUnread = watch.revision <= 0;
		const isDismissed = watch.revision === DISMISSED || (isUnread && isAskedIn(digest, watch.dismissed));
		const isLowered = isOver(digest.status) || isDismissed || (!hasOpenQuestion(digest) && !mayAskAgain);
		const end: WatchEnd | null = watch.revision === DISMISSED ? 'unwatched' : isLowered ? 'handLowered' : null;
		if (!isUnread && !news.changed && end === null) return [];
		return [{ ...news, ...(isDismissed && { posts: [], changed: false, card: null }), end }];
	}

	/** The end of a watch whose session cannot be read any more; empty when it goes on. */
	function endOf(watch: Watch, taken: TakenSession, failures: number, isGone: boolean): WatchUpdate[] {
		const { id: watchId, revision } = watch;
		const unchanged = { watchId, revision, changed: false, card: null } as const;
		const ended = (end: WatchEnd, posts: NewPost[]): WatchUpdate[] => [{ ...unchanged, posts, end }];
		if (watch.mode === 'raisedHand') {
			// It is unknown whether its question is still open.
			const isLost = isGone || isStale(watch) || (watch.revision <= 0 && failures >= HAND_TRIES);
			return isLost ? ended('handLowered', []) : [];
		}
		if (!isGone) return isStale(watch) ? ended('noChange', [farewell(watch)]) : [];
		if (taken.overSince === null || taken.snapshot === null) return ended('sessionGone', [farewell(watch)]);
		return ended('sessionOver', endOfSession(watch, taken.snapshot.status));
	}

	return {
		/** The outcome of a read, for the session and for each of its watches. */
		succeeded(
			taken: TakenSession,
			found: Pick<MeasuredReading, 'session' | 'readAt' | 'arrival' | 'tookMs' | 'byteCount'>,
			watches: readonly Watch[],
			ours: ReadAnswers,
		): ReadOutcome {
			const now = clock.now();
			const { session, arrival } = found;
			const readAt = Math.min(found.readAt, now);
			const { known, occurrences, outcomes } = ours;
			const { closedItems, changes: ofQuestions } = occurrences;
			const shownWith = { ...ours, closedItems };
			const snapshot = snapshotOf(session, readAt, shownWith, arrival);
			const { digest } = snapshot;
			const isEnded = isOver(digest.status);
			// The service may write the result a moment after the status, so one more read follows before the end is posted.
			const isLast = isEnded && taken.overSince !== null;
			const ended: SessionChange[] = isLast ? [{ kind: 'ended', status: digest.status }] : [];
			const sinceRead: Changes = {
				ofSession: isEnded ? ended : changesBetween(taken.digest, digest),
				ofQuestions,
				asked: askedIn(ofQuestions),
			};
			/** For a watch that was told of nothing yet. */
			const sinceBegin: Changes = {
				ofSession: changesBetween(null, digest),
				ofQuestions: [],
				asked: hasOpenQuestion(digest) ? { changed: false } : null,
			};
			const isAsShown = taken.digest !== null && isDeepStrictEqual({ ...taken.snapshot, seenAt: readAt }, snapshot);
			const isOther = ofQuestions.some(({ kind }) => kind !== 'seen');
			const base = {
				lastReadAt: readAt,
				lastChangeAt: isDeepStrictEqual(taken.digest, digest) ? taken.lastChangeAt : readAt,
				failures: 0,
				overSince: isEnded ? (taken.overSince ?? readAt) : null,
				earlyReadCount: taken.earlyReadCount,
				reads: readsAfter(taken.reads, found),
				isStepped:
					(snapshot.question?.openCount ?? 0) > 0 &&
					snapshot.question?.stepsSince !== taken.snapshot?.question?.stepsSince,
				found: {
					changes: ofQuestions,
					isOld: occurrences.isOld,
					outcomes,
					known,
					itemsAt: (index: number) => questionViewAt(session, index, shownWith)?.items,
				},
				// Names may change without news, and a question that is asked again may look as before.
				...((isOther || !isAsShown) && { snapshot }),
			};
			const isAnswerChecked = isChecking(occurrences);
			const shown = { status: digest.status, question: questionOf(digest), isChecking: isAnswerChecked };
			return {
				update: { ...base, nextRead: nextRead({ ...taken, ...base, ...shown }, list(), now) },
				watches: watches.flatMap((watch) => {
					const isUnread = watch.revision <= 0;
					const news = newsFor(watch, isUnread ? sinceBegin : sinceRead, isAnswerChecked);
					if (watch.mode === 'raisedHand')
						return raisedHandUpdate(watch, news, digest, isAnswerChecked || isEarlyReadAsked(taken, now));
					// The read by which the watch began was newer.
					const isOlder = readAt < watch.createdAt;
					return isUnread && (isOlder || (isEnded && !isLast)) ? [] : cardUpdate(watch, news, digest, isLast);
				}),
			};
		},

		/** The outcome of a failed read: when to try again, and the end of watches. `isGone`: there is no such session. */
		failed(taken: TakenSession, watches: readonly Watch[], isGone: boolean): ReadOutcome {
			const failures = taken.failures + 1;
			const outline: SessionOutline = { ...taken, failures, status: null, question: null, isChecking: false };
			return {
				update: { ...keptOf(taken), failures, nextRead: nextRead(outline, list(), clock.now()), isGone },
				watches: watches.flatMap((watch) => endOf(watch, taken, failures, isGone)),
			};
		},
	};
}

const questionOf = (digest: Digest): SessionOutline['question'] =>
	hasOpenQuestion(digest) ? 'open' : digest.question && 'answered';

/** The stored state of a session, which a failed read keeps. */
export const keptOf = ({ snapshot: _snapshot, ...kept }: TakenSession): Omit<SessionUpdate, 'snapshot'> => kept;

function isAskedIn(digest: Digest, question: Watch['dismissed']): boolean {
	const { fingerprint, messageIndex } = digest.question ?? {};
	return hasOpenQuestion(digest) && fingerprint === question?.fingerprint && messageIndex === question?.messageIndex;
}

/** What a watch has not been told yet. */
interface Changes {
	readonly ofSession: readonly SessionChange[];
	readonly ofQuestions: readonly OccurrenceChange[];
	readonly asked: AskedNow;
}

/** An open question that is news. `changed`: it takes the place of another one. Null: there is none. */
type AskedNow = { readonly changed: boolean } | null;

function askedIn(changes: readonly OccurrenceChange[]): AskedNow {
	const changed = changes.some((one) => one.kind === 'settled' && one.how === 'changed');
	const isAsked = changes.some((one) => (one.kind === 'asked' && one.settled === null) || one.kind === 'reopened');
	return isAsked ? { changed } : null;
}

type News = Omit<WatchUpdate, 'end'>;

/** The update of a watch for these changes, without its end. */
function newsFor(watch: Watch, { ofSession, ofQuestions, asked }: Changes, isAnswerChecked: boolean): News {
	const isOther = asked !== null || ofQuestions.some(({ kind }) => kind !== 'seen');
	const isNews = isOther || ofSession.some(({ kind }) => kind !== 'stepped' && kind !== 'filesChanged');
	const card = watch.mode === 'raisedHand' ? null : isNews ? 'now' : 'progress';
	const posts = postsOf(watch, ofSession, asked, isAnswerChecked);
	const { id: watchId, revision } = watch;
	return { watchId, revision, posts, card, changed: isOther || ofSession.length > 0 };
}

/** The posts for these changes. What becomes of a question, its own post shows. `isAnswerChecked`: see `isChecking`. */
export function postsOf(
	watch: Watch,
	changes: readonly SessionChange[],
	asked: AskedNow,
	isAnswerChecked = false,
): NewPost[] {
	const target = targetOf(watch);
	const ofStatus = changes.flatMap((change): NewPost[] => {
		if (watch.progress !== true) return [];
		if (change.kind !== 'statusChanged' || !statusMatters(change, changes, asked !== null)) return [];
		// The agent may not have taken the answer yet: a later read shows whether it waits.
		if (isAnswerChecked && isWaiting(change.to)) return [];
		return [{ target, key: `status:${watch.revision}`, content: { kind: 'status', from: change.from, to: change.to } }];
	});
	// Each time that a question is asked has one key, so a second plan for it is ignored.
	const ofQuestion = asked && { target, key: QUESTION_KEY, content: { kind: 'question', ...asked } as const };
	return [...ofStatus, ...(ofQuestion ? [ofQuestion] : [])];
}

/** The last post of a watch that ends before its session. */
function farewell(watch: Watch): NewPost {
	return { target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded' } };
}

/** The last post of a watch whose session is over. */
function endOfSession(watch: Watch, status: string): NewPost[] {
	return [{ target: targetOf(watch), key: 'sessionEnded', content: { kind: 'sessionEnded', status } }];
}

/** False when another post shows the new status, and when an agent continues after a question or an end. */
function statusMatters(
	{ from, to }: { from: string; to: string },
	changes: readonly SessionChange[],
	isAsked: boolean,
): boolean {
	if (isOver(to) || changes.some(({ kind }) => kind === 'ended')) return false;
	if (isWaiting(to)) return !isAsked;
	return to !== 'active' || !(isWaiting(from) || isOver(from));
}
