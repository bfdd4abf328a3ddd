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

/** A raised hand that was never read holds its place for this many reads. Its session is listed again. */
const HAND_TRIES = 3;

export type ReadAnswers = KnownAnswers & Pick<OurAnswers, 'known' | 'occurrences' | 'outcomes'>;

/** The rules for what a read changes, and when the next one comes. Without side effects. */
export function createReading({ clock }: Core<unknown>, list: () => ListKnowledge) {
	/** Whether nothing has changed for `WATCH_MAX_DAYS`: then a watch ends. */
	const isStale = ({ lastChangeAt }: Watch) => clock.now() - lastChangeAt > WATCH_MAX_DAYS * DAY_MS;

	/** The update of a watch with a card; empty when there is nothing to write. */
	function updateOf(watch: Watch, { update }: News, { status }: Digest, isLast: boolean): WatchUpdate[] {
		const stale = !update.changed && !isOver(status) && isStale(watch);
		const end: WatchEnd | null = isLast ? 'sessionOver' : stale ? 'noChange' : null;
		if (watch.revision > 0 && !update.changed && end === null) return [];
		const last = isLast ? endOfSession(watch, status) : end === 'noChange' ? [farewell(watch)] : [];
		return [{ ...update, posts: [...update.posts, ...last], end }];
	}

	/**
	 * The update of a raised hand. It ends when nobody is asked, but not soon after an answer: agents ask again. It never
	 * ends for want of changes: the session would be listed again.
	 */
	function raisedHandUpdate(watch: Watch, news: News, digest: Digest, isEarly: boolean): WatchUpdate[] {
		const { update, isChecking } = news;
		const isUnread = watch.revision <= 0;
		const isDismissed = watch.revision === DISMISSED || (isUnread && isAskedIn(digest, watch.dismissed));
		const isLowered = isOver(digest.status) || isDismissed || (!hasOpenQuestion(digest) && !isEarly && !isChecking);
		const end: WatchEnd | null = watch.revision === DISMISSED ? 'unwatched' : isLowered ? 'handLowered' : null;
		if (!isUnread && !update.changed && end === null) return [];
		return [{ ...update, ...(isDismissed && { posts: [], changed: false, card: null }), end }];
	}

	/** The end of a watch whose session cannot be read any more; empty when it goes on. */
	function endOf(watch: Watch, taken: TakenSession, failures: number, isGone: boolean): WatchUpdate[] {
		const { id: watchId, revision } = watch;
		const unchanged = { watchId, revision, changed: false, card: null } as const;
		const ended = (end: WatchEnd, posts: NewPost[]): WatchUpdate[] => [{ ...unchanged, posts, end }];
		if (watch.mode === 'raisedHand') {
			// Nobody can tell any more whether its question is open.
			const isLost = isGone || isStale(watch) || (watch.revision <= 0 && failures >= HAND_TRIES);
			return isLost ? ended('handLowered', []) : [];
		}
		if (!isGone) return isStale(watch) ? ended('noChange', [farewell(watch)]) : [];
		if (taken.overSince === null || taken.view === null) return ended('sessionGone', [farewell(watch)]);
		return ended('sessionOver', endOfSession(watch, taken.view.status));
	}

	return {
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
			const view = snapshotOf(session, readAt, shownWith, arrival);
			const { digest } = view;
			const isEnded = isOver(digest.status);
			// The service may write the result a moment after the status, so the end is announced by one more read.
			const isLast = isEnded && taken.overSince !== null;
			const end = { kind: 'ended', status: digest.status } as const;
			const ended = isLast ? [end] : [];
			const sinceRead = isEnded ? ended : changesBetween(taken.digest, digest);
			const isAsShown = taken.digest !== null && isDeepStrictEqual({ ...taken.view, seenAt: readAt }, view);
			const isOther = ofQuestions.some(({ kind }) => kind !== 'seen');
			const base = {
				lastReadAt: readAt,
				lastChangeAt: isDeepStrictEqual(taken.digest, digest) ? taken.lastChangeAt : readAt,
				failures: 0,
				overSince: isEnded ? (taken.overSince ?? readAt) : null,
				earlyReadCount: taken.earlyReadCount,
				reads: readsAfter(taken.reads, found),
				isStepped:
					(view.question?.openCount ?? 0) > 0 && view.question?.stepsSince !== taken.view?.question?.stepsSince,
				found: {
					changes: ofQuestions,
					isOld: occurrences.isOld,
					outcomes,
					known,
					itemsAt: (index: number) => questionViewAt(session, index, shownWith)?.items,
				},
				// Names and descriptions may change without news, and a question asked again may look as before.
				...((isOther || !isAsShown) && { view }),
			};
			const seen = { isChecking: isChecking(occurrences) };
			const shown = { status: digest.status, question: questionOf(digest) };
			return {
				update: { ...base, nextRead: nextRead({ ...taken, ...base, ...shown, ...seen }, list(), now) },
				watches: watches.flatMap((watch) => {
					const isUnread = watch.revision <= 0;
					const told: QuestionNews = isUnread ? firstNews(hasOpenQuestion(digest)) : newsOf(ofQuestions);
					const changes = isUnread ? changesBetween(null, digest) : sinceRead;
					const news = newsFor(watch, changes, { ...seen, ofQuestions: isUnread ? [] : ofQuestions, told });
					if (watch.mode === 'raisedHand') return raisedHandUpdate(watch, news, digest, isEarlyReadAsked(taken, now));
					// The read for whoever began it was newer.
					const isOlder = readAt < watch.createdAt;
					return isUnread && (isOlder || (isEnded && !isLast)) ? [] : updateOf(watch, news, digest, isLast);
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

/** The session as stored, for a read that failed. */
export const keptOf = ({ view: _view, ...kept }: TakenSession): Omit<SessionUpdate, 'view'> => kept;

function isAskedIn(digest: Digest, question: Watch['dismissed']): boolean {
	const { fingerprint, messageIndex } = digest.question ?? {};
	return hasOpenQuestion(digest) && fingerprint === question?.fingerprint && messageIndex === question?.messageIndex;
}

type News = ReturnType<typeof newsFor>;
interface Seen {
	readonly isChecking: boolean;
	readonly ofQuestions: readonly OccurrenceChange[];
	readonly told: QuestionNews;
}

/** What a channel is told of questions. `changed`: the open one became another. Null: no question is asked now. */
type QuestionNews = { readonly changed: boolean } | null;

const firstNews = (isOpen: boolean): QuestionNews => (isOpen ? { changed: false } : null);

function newsOf(changes: readonly OccurrenceChange[]): QuestionNews {
	const changed = changes.some((one) => one.kind === 'settled' && one.how === 'changed');
	const isAsked = changes.some((one) => (one.kind === 'asked' && one.settled === null) || one.kind === 'reopened');
	return isAsked ? { changed } : null;
}

/** What to tell a channel of these changes. */
function newsFor(watch: Watch, changes: readonly SessionChange[], { ofQuestions, told, isChecking }: Seen) {
	const isOther = told !== null || ofQuestions.some(({ kind }) => kind !== 'seen');
	const isNews = isOther || changes.some(({ kind }) => kind !== 'stepped' && kind !== 'filesChanged');
	const card = watch.mode === 'raisedHand' ? null : isNews ? 'now' : 'progress';
	const posts = postsOf(watch, changes, told, isChecking);
	const { id: watchId, revision } = watch;
	const update = { watchId, revision, posts, card, changed: isOther || changes.length > 0 } as const;
	return { update, isChecking };
}

/** What a channel is told of these changes. How a question goes on, its post shows. See `isChecking` of occurrences. */
export function postsOf(
	watch: Watch,
	changes: readonly SessionChange[],
	asked: QuestionNews,
	isChecking = false,
): NewPost[] {
	const target = targetOf(watch);
	const ofStatus = changes.flatMap((change): NewPost[] => {
		if (watch.progress !== true) return [];
		if (change.kind !== 'statusChanged' || !statusMatters(change, changes, asked !== null)) return [];
		// An agent that waits beside an answer is told of when that is certain.
		if (isChecking && isWaiting(change.to)) return [];
		return [{ target, key: `status:${watch.revision}`, content: { kind: 'status', from: change.from, to: change.to } }];
	});
	// One that waits again has its post, but not where the watch is newer.
	const ofQuestion = asked && { target, key: QUESTION_KEY, content: { kind: 'question', ...asked } as const };
	return [...ofStatus, ...(ofQuestion ? [ofQuestion] : [])];
}

/** The last post of a watch: why it is not watched any more. */
function farewell(watch: Watch): NewPost {
	return { target: targetOf(watch), key: 'watchEnded', content: { kind: 'watchEnded' } };
}

/** The news that the session is over. */
function endOfSession(watch: Watch, status: string): NewPost[] {
	return [{ target: targetOf(watch), key: 'sessionEnded', content: { kind: 'sessionEnded', status } }];
}

/** False when a question's post or that of the end tells it, and when the agent goes on after a question or an end. */
function statusMatters(
	{ from, to }: { from: string; to: string },
	changes: readonly SessionChange[],
	isAsked: boolean,
): boolean {
	if (isOver(to) || changes.some(({ kind }) => kind === 'ended')) return false;
	if (isWaiting(to)) return !isAsked;
	return to !== 'active' || !(isWaiting(from) || isOver(from));
}
