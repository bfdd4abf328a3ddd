import {
	type Answer,
	agentMayBeIdle,
	awaitsAgentOutcome,
	BAD_OUTCOMES,
	firstDueAt,
	isBlocking,
	isFailed,
	receiptStateOf,
	TAKES_LONG_MS,
} from '../domain/answer.ts';
import { isForgotten } from '../domain/person.ts';
import type { QuestionKey, Session, SessionKey } from '../domain/session.ts';
import { earliestOf, MINUTE_MS, uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { type LeaseQueue, leaseQueue } from '../kernel/lease-loop.ts';
import { createMemo } from '../kernel/memory.ts';
import type { RateLimit } from '../kernel/rate-limiter.ts';
import { backOff } from '../kernel/retries.ts';
import type { HomeView, ModalView } from '../slack/blocks.ts';
import { slackOutcome } from '../slack/clients.ts';
import type { Directory } from '../slack/directory.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import { LONGEST_SNOOZE_MS } from '../store/schema/watches.ts';
import type { PostStore } from './post-store.ts';
import type { DueView, ViewLane, ViewStore } from './view-store.ts';

const VIEWS_AT_ONCE = 10;
/**
 * Slack takes about 100 `views.publish` and as many `views.update` a minute for the whole workspace. Few inboxes are
 * windows: forms and receipts need the latter, and have no limit of ours.
 */
const INBOX_RATE: RateLimit = { intervalMs: 660, burst: 8 };
/** The part of the burst that is kept for inboxes whose people wait. */
const KEPT_FROM_FOLLOWING = 4;
/** An inbox is drawn at most this often, whatever its person does. */
const SPACING_MS = 2_000;
/** An inbox that shows nothing yet waits at most this long for what Slack tells of its person. */
const PATIENCE_MS = 10_000;
const RETRY = { firstMs: 2_000, longestMs: 10 * MINUTE_MS } as const;
/** A view that Slack refuses is tried this often, because the cause may pass, and then removed. */
const REFUSED_TRIES = 4;
/**
 * After this time a successful update does not prove that somebody sees the view: Slack keeps it when the client is
 * reloaded or quits.
 */
const STILL_THERE_MS = 5_000;

const UNCHANGED = { kind: 'unchanged' } as const;
const GONE_VIEW = { kind: 'gone' } as const;
/** Slack's codes for a view that nobody sees any more, or for a person who does not exist. */
const CLOSED_CODES = new Set(['not_found', 'view_not_found', 'user_not_found']);

/** The part of the store of answers that is needed here. */
interface StoredAnswers {
	get(id: string): Promise<Answer | null>;
	standing(question: QuestionKey): Promise<Answer | null>;
}

/** What a view shows; equal keys look the same. */
export interface ViewLook {
	readonly view: ModalView | HomeView;
	readonly key: string;
}

export interface InboxLook extends ViewLook {
	/** When to draw it again, because Slack did not tell a part of it; null: it is whole. */
	readonly againAt: number | null;
	/** When a question comes back that its person snoozed. */
	readonly backAt: number | null;
	/** Its person may not use Handraise. */
	readonly isRefused: boolean;
}

/** Draws views from what is stored. */
export interface ViewDrawing {
	inbox(view: DueView, now: number): Promise<InboxLook>;
	/** Null: the form cannot be read. */
	form(view: DueView, standing: Answer | null): ViewLook | null;
	receipt(answer: Answer): Promise<ViewLook>;
}

export interface ViewNews extends Pick<Directory, 'onListed'> {
	/** By session id: the newest read of each session that changed, until it is noted for open forms. */
	readonly changedSessions: Map<string, readonly [SessionKey, Session]>;
}

/** Of a call to Slack. `changed`: the window shows something else by now. `gone`: nobody can see it any more. */
type Outcome =
	| { readonly kind: 'shown'; readonly hash: string }
	| { readonly kind: 'unchanged' | 'changed' | 'gone' }
	/** `ms`: the wait that Slack asks for; null: it asks for none. */
	| { readonly kind: 'later'; readonly ms: number | null };

/**
 * The queue that keeps views true: Homes, inboxes in windows, open forms and receipts. Each has a row, which is due
 * when what it shows may have changed. The view is drawn from what is stored, compared with what is shown, and updated
 * if it differs. Slack keeps what was typed.
 */
export function createViews(
	core: SlackCore<{ views: ViewStore; answers: StoredAnswers; posts: Pick<PostStore, 'showReceipt'> }>,
	drawing: ViewDrawing,
	{ changedSessions, onListed }: ViewNews,
): LeaseQueue {
	const { rateLimiter, clock, log, clients } = core;
	const { views: store, answers, posts } = core.store;
	const { inboxes: metrics } = core.metrics;
	/** When the rate of inboxes next has room for those whose people wait, and for all; clock milliseconds. */
	const room = createMemo(clock, () => ({ asked: 0, follows: 0 }));

	async function call(due: DueView, { view }: ViewLook): Promise<Outcome> {
		const isFollowing = (due.kind === 'home' || due.kind === 'inbox') && !due.isAsked;
		const { views } = isFollowing ? clients.background : clients.people;
		try {
			if (view.type === 'home') {
				await views.publish({ user_id: due.person.userId, view });
				return { kind: 'shown', hash: '' };
			}
			const shown = await views.update({ view_id: due.viewId ?? '', view, ...(due.hash && { hash: due.hash }) });
			return { kind: 'shown', hash: shown.view?.hash ?? '' };
		} catch (error) {
			const failure = slackOutcome(error);
			if (CLOSED_CODES.has(failure.code)) return { kind: 'gone' };
			if (failure.code === 'hash_conflict') return { kind: 'changed' };
			log.warn('view_not_shown', { what: due.kind, code: failure.code });
			if (failure.kind === 'refused' && due.attempts + 1 >= REFUSED_TRIES) return { kind: 'gone' };
			return { kind: 'later', ms: failure.kind === 'later' ? failure.ms : null };
		}
	}

	/** Shows what was drawn, unless it is shown already. Null: the lease was lost. */
	async function show(due: DueView, token: string, look: ViewLook): Promise<Outcome | null> {
		if (look.key === due.shownKey) return { kind: 'unchanged' };
		return (await store.begin(due, token)) ? call(due, look) : null;
	}

	/** After our own back-off, or later if Slack asks for a longer wait (`ms`). */
	const retryAt = ({ attempts }: DueView, now: number, ms: number | null = null) => {
		return now + Math.max(backOff(attempts + 1, RETRY), backOff(attempts + 1, RETRY, ms));
	};

	/** Takes one call from the shared rate, if it has room. */
	async function takeTurn({ person, isFirst }: DueView): Promise<boolean> {
		const now = clock.now();
		const keep = isFirst ? 0 : KEPT_FROM_FOLLOWING;
		const waitMs = await rateLimiter.take(rateKey(person), INBOX_RATE, { now, keep });
		if (waitMs === 0) return true;
		const at = now + waitMs;
		const { asked, follows } = room.get();
		room.set(isFirst ? { asked: at, follows: Math.max(follows, at) } : { asked, follows: at });
		return false;
	}

	async function drawInbox(due: DueView, token: string): Promise<void> {
		const now = clock.now();
		const startedAt = uptimeOf(clock);
		const look = await drawing.inbox(due, now);
		metrics.built(uptimeOf(clock) - startedAt);
		const { isAsked, shownAt, followedUntil, attempts } = due;
		const isWhole = look.againAt === null;
		const mayFollow = now < followedUntil + LONGEST_SNOOZE_MS;
		const againAt = isWhole ? null : Math.max(look.againAt, retryAt(due, now));
		const agesAt = now + MINUTE_MS < followedUntil ? now + MINUTE_MS : null;
		const nextAt = earliestOf(agesAt, mayFollow ? againAt : null, look.backAt);
		const notBefore = now + SPACING_MS;
		/** Its person waits until the inbox is whole. */
		const waiting = { isAsked: isAsked && !isWhole, attempts: isWhole ? 0 : attempts + 1 };
		if (!isWhole) {
			const failed = { nextAt, attempts: attempts + 1 };
			// Many people may have opened theirs at once: updates that show nothing would delay the others.
			const isPatient = isAsked && shownAt === null && attempts === 0;
			const soonAt = Math.min(look.againAt, now + PATIENCE_MS);
			if (isPatient) return store.end(due, token, { ...failed, isAsked, nextAt: soonAt }, now);
			// What is shown is older, but whole, and nobody waits for more.
			if (!isAsked && shownAt !== null) return store.end(due, token, failed, now);
		}
		if (look.key === due.shownKey) {
			metrics.update('unchanged');
			return store.end(due, token, { nextAt, notBefore, ...waiting }, now);
		}
		// It keeps its due time, and so its place.
		if (!(await takeTurn(due))) return store.giveBack(due, token);
		const outcome = await show(due, token, look);
		if (outcome === null) return;
		if (outcome.kind === 'later') {
			metrics.update('failed');
			const sentAt = clock.now();
			if (outcome.ms !== null) await rateLimiter.pause(rateKey(due.person), sentAt + backOff(1, RETRY, outcome.ms));
			const later = mayFollow ? retryAt(due, sentAt, outcome.ms) : null;
			return store.end(due, token, { nextAt: later, isAsked, attempts: attempts + 1 }, sentAt);
		}
		if (outcome.kind !== 'shown') {
			metrics.update('failed');
			return store.removeLeased(due, token);
		}
		metrics.update('sent');
		// The row of somebody who may not use Handraise goes, unless they asked again meanwhile.
		if (look.isRefused && isWhole && (await store.removeUnchanged(due, token))) return;
		await store.end(due, token, { shownKey: look.key, nextAt, notBefore, ...waiting }, clock.now());
	}

	/**
	 * Shows in a form that its question was answered, changed or closed, or removes that notice when it is untrue now.
	 */
	async function drawForm(due: DueView, token: string): Promise<void> {
		const now = clock.now();
		const { service, sessionId, messageIndex } = due.row;
		const question = { service, sessionId, messageIndex } as QuestionKey;
		const look = drawing.form(due, await answers.standing(question));
		if (look === null || look.key === (due.shownKey ?? '')) return store.end(due, token, { nextAt: null }, now);
		// `begin` is not needed: with its hash Slack refuses an update of something newer, also one that is repeated.
		const outcome = await call(due, look);
		switch (outcome.kind) {
			case 'gone':
				return store.removeLeased(due, token);
			case 'later':
				return store.end(due, token, failedAt(due, outcome.ms), now);
			case 'shown': {
				const { hash } = outcome;
				return store.end(due, token, { shownKey: look.key, hash, nextAt: null, attempts: 0 }, now);
			}
			default:
				return store.end(due, token, { nextAt: null, attempts: 0 }, now);
		}
	}

	const failedAt = (due: DueView, ms: number | null) => {
		const now = clock.now();
		const at = retryAt(due, now, ms);
		return { nextAt: at < due.followedUntil ? at : null, attempts: due.attempts + 1 };
	};

	/** Tells an author what became of an answer: in its window while that is open, else by a direct message. */
	async function drawReceipt(due: DueView, token: string): Promise<void> {
		const answer = await answers.get(due.answerId ?? '').catch((error: unknown) => {
			// The store failed: the lease lapses, and the view is tried again.
			if (error instanceof HandraiseError) throw error;
			return 'damaged' as const;
		});
		if (answer === 'damaged') return store.end(due, token, failedAt(due, null), clock.now());
		if (answer === null || isForgotten(answer.person.userId)) return store.removeLeased(due, token);
		const told = receiptStateOf(answer);
		const isNews = told !== due.told;
		const look = due.viewId === null ? null : await drawing.receipt(answer);
		// Without news, the window keeps what the acknowledgement showed.
		const isAcknowledged = !isNews && due.shownKey === null;
		const outcome = look === null ? GONE_VIEW : isAcknowledged ? UNCHANGED : await show(due, token, look);
		if (outcome === null) return;
		const now = clock.now();
		const isShown = outcome.kind === 'shown' || outcome.kind === 'unchanged';
		/** A message told it before, because there was no window. */
		const wasMessage = due.viewId === null && due.told !== null;
		const byMessage = needsMessage(answer, { isShown, isNews, now }) || (wasMessage && isNews);
		if (byMessage) await posts.showReceipt(answer, { isNews, now });
		const hasWindow = outcome.kind !== 'gone';
		if (outcome.kind !== 'later' && isOver(answer) && (await store.removeUnchanged(due, token))) return;
		const longAt = firstDueAt(answer) + TAKES_LONG_MS;
		await store.end(
			due,
			token,
			{
				...(look !== null && isShown && !isAcknowledged && { shownKey: look.key }),
				...(!hasWindow && { viewId: null }),
				...(isShown || byMessage ? { told } : !hasWindow && !wasMessage && { told: null }),
				...(outcome.kind === 'later'
					? failedAt(due, outcome.ms)
					: { attempts: 0, nextAt: isBlocking(answer.state) && longAt > now ? longAt : null }),
			},
			now,
		);
	}

	/** Notes for open forms what reads found. A read stays until it is noted: the next one may find no change. */
	async function learn(): Promise<void> {
		for (const [id, read] of changedSessions) {
			try {
				await store.learn(...read, clock.now());
			} catch (error) {
				log.warn('window_news_not_stored', { code: codeOf(error) });
				if (codeOf(error) === 'store_unavailable') throw error;
			}
			if (changedSessions.get(id) === read) changedSessions.delete(id);
		}
	}

	const draw = { home: drawInbox, inbox: drawInbox, form: drawForm, receipt: drawReceipt };

	onListed(() => void store.showWaiting(clock.now()).catch(() => undefined));

	return leaseQueue<DueView>({
		itemsName: 'views',
		rows: store.rows,
		concurrency: VIEWS_AT_ONCE,
		prepare: learn,
		take(lease, count) {
			const now = clock.now();
			return store.takeDue(lease, count, { now, least: least(room.get(), now) });
		},
		async nextDueAt() {
			const now = clock.now();
			const roomAt = room.get();
			const later = Object.values(roomAt).filter((at) => at > now);
			return earliestOf(await store.nextDueAt(least(roomAt, now), now), ...later);
		},
		work: (due, token) => (due.kind === 'closed' ? store.removeLeased(due, token) : draw[due.kind](due, token)),
		release: (held) => store.release(held.map(({ token }) => token)),
	});
}

/** The last lane that may be taken now: the rate of inboxes has no room for those after it. */
function least({ asked, follows }: { asked: number; follows: number }, now: number): ViewLane {
	if (asked > now) return 'now';
	return follows > now ? 'asked' : 'follows';
}

/** Slack's limits hold for a whole workspace. */
const rateKey = ({ teamId }: DueView['person']) => `inbox:${teamId}`;

/** Whether the author of an answer is told by a direct message. `isShown`: an open window shows it. */
function needsMessage(
	answer: Answer,
	{ isShown, isNews, now }: { isShown: boolean; isNews: boolean; now: number },
): boolean {
	const age = now - firstDueAt(answer);
	const { state, agentOutcome } = answer;
	const isBad = agentOutcome !== null && BAD_OUTCOMES.includes(agentOutcome);
	if (isFailed(state) || isBad || agentMayBeIdle(answer)) return isNews && (!isShown || age > STILL_THERE_MS);
	// It took so long that the author has probably closed the window.
	const isLate = (answer.deliveredAt ?? now) - firstDueAt(answer) >= TAKES_LONG_MS;
	return isLate && (isBlocking(state) || (state === 'delivered' && agentOutcome === null));
}

/** Whether nothing more can follow. A failed answer may be sent again, or the answer that was first may fail. */
const isOver = (answer: Answer) =>
	!isBlocking(answer.state) && !awaitsAgentOutcome(answer) && !isFailed(answer.state) && answer.agentOutcome !== 'lost';
