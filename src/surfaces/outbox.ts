import type { Core } from '../core.ts';
import { SEND_WITHIN_MS } from '../domain/answer.ts';
import { isInThread } from '../domain/channel-settings.ts';
import { isOver } from '../domain/session.ts';
import { uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { LEASE_MS, leaseQueue } from '../kernel/lease-loop.ts';
import { createMemo } from '../kernel/memory.ts';
import type { RateLimit } from '../kernel/rate-limiter.ts';
import { backOff } from '../kernel/retries.ts';
import { context, plainMessage } from '../slack/blocks.ts';
import { MAYBE_REPEAT } from '../slack/phrases.ts';
import { UNREADABLE_POST } from '../store/due.ts';
import type { ChannelKey, WatchEnd } from '../store/watch.ts';
import { type createMessages, placesOf } from './messages.ts';
import {
	type AttemptResult,
	CARD_AGAIN_MS,
	type ContentOf,
	type Drawn,
	type DuePost,
	type GoneReason,
	type Hold,
	isToBePlain,
	kindOf,
	PACED,
	type Post,
	remindedIn,
	type SendOutcome,
	UNSURE_MS,
} from './post.ts';
import type { PostStore, PressedPlace } from './post-store.ts';

const POSTS_AT_ONCE = 10;
/** The others are kept for first posts: Slack may not respond to updates. */
const UPDATES_AT_ONCE = 5;
/** Slack takes about one post a second in a channel. */
const POST_RATE: RateLimit = { intervalMs: 1_050, burst: 1 };
/** Slack takes about 50 `chat.update` a minute for the whole workspace. This allows at most 48 in any minute. */
const UPDATE_RATE: RateLimit = { intervalMs: 1_500, burst: 8 };
/** The part of the burst that progress leaves to questions, answers and ends. */
const KEPT_FROM_PROGRESS = 6;
/** The part of the burst that cards leave to the posts of questions, which people look at more. */
const KEPT_FROM_CARDS = 1;
const RETRY = { firstMs: 2_000, longestMs: 5 * 60_000 } as const;
/** A refused call is repeated this often, for about 30 s: its code may be an unknown one that passes. */
const REFUSED_REPEATS = 4;
/** The message of a hand-over is tried this often, for about 9 min. Then the question goes back to its giver. */
const UNTOLD_REPEATS = 8;
/** Shorter than the interval of posts, so that this process waits with one post at a time for a channel. */
const SHORT_WAIT_MS = 500;
/** When Slack did not respond to a replacement by `response_url`, `chat.update` shows the same after this time. */
const REPLACED_AFTER_MS = 5_000;
/** The pause before a reminder is decided again that had nothing to draw, or it would be decided again and again. */
const DECIDE_AGAIN_MS = 5_000;
/** After a press, the lease of the post is tried this often while another attempt has it: for about a second. */
const SHOW_AGAIN_MS = 100;
const SHOW_TRIES = 10;
/** The code of an attempt that ran `SEND_WITHIN_MS` late, because the process was frozen: it sends nothing. */
const STOOD_STILL = 'stood_still';
/** Watches with these ends post nothing any more. */
const ENDS_SILENTLY = new Set<WatchEnd | undefined>(['unwatched', 'handLowered', 'gaveWay', 'discoveryEnded']);

type Retry = Extract<AttemptResult, { kind: 'retry' }>;
type Sent = Extract<SendOutcome, { kind: 'sent' }> & { readonly sentAt: number };
type Failure = Exclude<SendOutcome, { kind: 'sent' }> | Extract<AttemptResult, { kind: 'retry' | 'lost' }>;

/** What draws posts, decides reminders, and calls Slack. */
export interface OutboxParts extends ReturnType<typeof createMessages> {
	draw(due: DuePost): Promise<Drawn>;
	/** Decides what becomes of a held reminder. */
	remind(target: Post['target'], held: ContentOf<'reminder'>): Promise<Hold>;
}

/**
 * Sends first posts, those of a stream in order, and updates shown ones, within rates that all replicas share.
 * `onGone`: a channel takes no posts any more. `onAttempt`: Slack has taken (null) or refused a first post; `id`: of
 * its watch or channel.
 */
export function createOutbox(
	core: Core<{ posts: PostStore }>,
	{ draw: drawOrThrow, remind, ...messages }: OutboxParts,
	onGone: (channel: ChannelKey, reason: GoneReason) => Promise<void>,
	onAttempt: (id: string, code: string | null) => void = () => {},
) {
	const { rateLimiter, clock, log } = core;
	const { posts: store } = core.store;
	const { watches: metrics } = core.metrics;
	/**
	 * When posts that wait for a rate may be tried: the latest time of each lane, and the time of each post in a lane.
	 */
	const latestTurns = createMemo(clock, () => new Map<string, number>());

	/** A post that cannot be drawn waits like one that cannot be read: it delays no other, and each start tries it. */
	async function draw(due: DuePost): Promise<Drawn> {
		try {
			const drawn = await drawOrThrow(due);
			if (drawn === null || 'kind' in drawn || !due.post.isPlain) return drawn;
			return { ...drawn, message: plainMessage(drawn.message) };
		} catch (error) {
			// The store failed: the lease lapses, and the order of posts stays.
			if (error instanceof HandraiseError) throw error;
			log.warn('work_failed', { rows: 'posts', what: due.post.content.kind, err: error });
			return { kind: 'later', ms: null, code: UNREADABLE_POST, limited: false };
		}
	}

	/** Updates a shown post. */
	async function refresh({ due, token, signal, responseUrl }: Taken, ts: string): Promise<AttemptResult> {
		const { post } = due;
		const isCard = post.content.kind === 'card';
		/** An earlier update of unknown outcome may have shown something else. */
		const mayBeThere = post.sendingSince !== null;
		const drawn = await draw(due);
		// Nothing is stored any more of what it was about.
		if (drawn === null) return { kind: 'shown', ts, key: post.shownKey, isLast: true };
		if ('kind' in drawn) return failed(drawn, post, mayBeThere);
		const { message, key, isLast, againAt = null } = drawn;
		const shown = { kind: 'shown', ts, key, isLast, againAt } as const;
		if (key === post.shownKey && !mayBeThere) {
			if (isCard) metrics.card('unchanged');
			return shown;
		}
		const isUnsure = clock.now() < (post.sendingSince ?? Number.NEGATIVE_INFINITY) + UNSURE_MS;
		if (responseUrl !== null) {
			const replace = () => messages.replace(responseUrl, ts, message);
			const outcome = await callNow(post, token, post.sendingSince, replace);
			if (outcome.kind === 'lost') return outcome;
			if (outcome.kind === 'sent') return { ...shown, isUnsure };
			if (outcome.kind === 'unknown') return retry(clock.now() + REPLACED_AFTER_MS, outcome.code, true);
		}
		const waiting = await waitForTurn(post, mayBeThere, signal);
		if (waiting !== null) return waiting;
		const outcome = await callNow(post, token, post.sendingSince, await messages.prepare(due, message));
		if (outcome.kind === 'lost') return outcome;
		const isSent = outcome.kind === 'sent';
		if (isCard) metrics.card(isSent ? 'sent' : 'failed');
		else if (isSent) metrics.post('posted');
		return isSent ? { ...shown, isUnsure } : failed(outcome, post, mayBeThere);
	}

	/** Prepares a first post, or says what becomes of it without a call. */
	async function ready({ due, signal }: Taken): Promise<Ready | AttemptResult> {
		const { post } = due;
		/** When an earlier attempt began that may have posted it. */
		let earlierAt: number | null = null;
		if (post.sendingSince !== null) {
			const found = await messages.find(post, placesOf(due), post.sendingSince, signal);
			if (found.kind === 'later') return retry(clock.now() + retryDelay(0, found.ms), 'look_later', true);
			if (found.kind === 'found') {
				metrics.post('found');
				const isLast = kindOf(post.content).isCurrent !== true;
				return { kind: 'shown', ts: found.ts, key: null, isLast, sentAt: post.sendingSince };
			}
			if (found.kind === 'unreadable') earlierAt = post.sendingSince;
		}
		if (await isForNobody(due)) return { kind: 'dropped' };
		const hold = await holdOf(due);
		if (hold.kind === 'over') return { kind: 'dropped' };
		if (hold.kind === 'held') return { ...hold, mayBeThere: earlierAt !== null };
		return { kind: 'ready', due: { ...due, post: { ...post, content: hold.content } }, earlierAt };
	}

	/** Sends a first post. */
	async function send({ due, earlierAt }: Ready, { token, signal }: Taken): Promise<AttemptResult> {
		const { post } = due;
		const mayBeThere = earlierAt !== null;
		const waiting = await waitForTurn(post, mayBeThere, signal);
		if (waiting !== null) return waiting;
		// Drawing may be slow, so it comes before `beginAttempt`, which the call has to follow at once.
		const drawn = await draw(due);
		if (drawn === null) {
			const { content } = post;
			// The questions of a reminder were answered meanwhile.
			if (content.kind !== 'reminder') return { kind: 'dropped' };
			return { kind: 'held', until: clock.now() + DECIDE_AGAIN_MS, content, mayBeThere };
		}
		if ('kind' in drawn) return failed(drawn, post, mayBeThere);
		const { message, key, isLast, againAt = null } = drawn;
		const note = mayBeThere && post.content.kind !== 'card' ? context(MAYBE_REPEAT) : [];
		const prepared = await messages.prepare(due, { ...message, blocks: [...message.blocks, ...note] });
		const outcome = await callNow(post, token, earlierAt, prepared);
		if (outcome.kind !== 'sent') return failed(outcome, post, mayBeThere);
		metrics.post(mayBeThere ? 'maybeRepeated' : 'posted');
		return { ...outcome, kind: 'shown', key, isLast, againAt };
	}

	/** Whether a first post is held, which only cards and reminders are. */
	async function holdOf(due: DuePost): Promise<Hold> {
		const { target, content } = due.post;
		const now = clock.now();
		if (content.kind === 'reminder') return remind(target, content);
		const until = content.kind === 'card' ? cardHeldUntil(content, due, now) : 0;
		return { kind: until > now ? 'held' : 'shown', until, content };
	}

	/**
	 * Whether nobody would read a first post: its watch ended before its card or without a last post, its thread is
	 * missing, or its channel watches nothing.
	 */
	async function isForNobody({ post: { target, content }, watch, threadTs, style }: DuePost): Promise<boolean> {
		const { thread, isForAll } = kindOf(content);
		if (target.kind === 'channel') return isForAll !== true && !(await store.isFollowing(target));
		if (target.kind !== 'watch') return false;
		if (thread === 'only' && threadTs === null) return true;
		// The end has its own post in the channel, and no thread needs the card.
		const isTold = watch != null && watch.ended !== null && !isInThread(watch.mode, style);
		if (content.kind === 'card' && content.isFirst === true && isTold) return true;
		return ENDS_SILENTLY.has(watch?.ended?.reason) && content.kind !== 'outcome';
	}

	/** Null: the rate has room for this post, perhaps after a short wait. Else when to try it again. */
	async function waitForTurn(post: Post, mayBeThere: boolean, signal: AbortSignal): Promise<Retry | null> {
		const { key, rate, keep } = laneOf(post);
		const lane = `${key}:${post.urgency}:${keep}`;
		const own = `${lane} ${post.id}`;
		for (;;) {
			const now = clock.now();
			// Posts of this process that wait already come first.
			const turns = latestTurns.get();
			const turnAt = turns.get(own) ?? turns.get(lane) ?? now;
			const waitMs = turnAt > now ? turnAt - now : await rateLimiter.take(key, rate, { now, keep });
			if (waitMs === 0) {
				turns.delete(own);
				return null;
			}
			if (turnAt > now || waitMs > SHORT_WAIT_MS) return retry(turnOf(own, lane, rate, waitMs), PACED, mayBeThere);
			await clock.sleep(waitMs, signal);
		}
	}

	/** Notes an attempt and makes its call at once, unless the lease was lost or the process was frozen in between. */
	async function callNow(
		post: Post,
		token: string,
		since: number | null,
		call: () => Promise<SendOutcome>,
	): Promise<Sent | Failure> {
		const begunAt = uptimeOf(clock);
		const now = clock.now();
		const content = post.ts === null && post.content.kind === 'reminder' ? post.content : null;
		const begun = { since: since ?? now, leasedUntil: now + LEASE_MS, content };
		if (!(await store.beginAttempt(post.id, token, begun))) return { kind: 'lost' };
		const sentAt = clock.now();
		if (uptimeOf(clock) - begunAt > SEND_WITHIN_MS) return retry(sentAt, STOOD_STILL, since !== null);
		const outcome = await call();
		const { target } = post;
		if (post.ts === null && target.kind !== 'person' && (outcome.kind === 'sent' || outcome.kind === 'refused'))
			onAttempt('watchId' in target ? target.watchId : target.channelId, outcome.kind === 'sent' ? null : outcome.code);
		if (outcome.kind === 'later' && outcome.limited) {
			await rateLimiter.pause(laneOf(post).key, clock.now() + retryDelay(0, outcome.ms));
		}
		const repeats = (post.ts === null ? kindOf(post.content).repeats : undefined) ?? REFUSED_REPEATS;
		if (outcome.kind === 'refused' && (post.attempts < repeats || isToBePlain(post, outcome.code)))
			return retry(clock.now() + retryDelay(post.attempts), outcome.code, since !== null);
		return outcome.kind === 'sent' ? { ...outcome, sentAt } : outcome;
	}

	/** When to try a post that waits for its rate. Each gets its own time: else all but one would be tried in vain. */
	function turnOf(own: string, lane: string, { intervalMs }: RateLimit, waitMs: number): number {
		const now = clock.now();
		const turns = latestTurns.get();
		for (const [other, at] of turns) if (at <= now - RETRY.longestMs) turns.delete(other);
		const given = turns.get(own) ?? 0;
		if (given > now) return given;
		const turnAt = Math.min(now + RETRY.longestMs, Math.max(now + waitMs, (turns.get(lane) ?? 0) + intervalMs));
		turns.set(own, turnAt).set(lane, turnAt);
		return turnAt;
	}

	/** The result of an attempt that has not shown its post. */
	function failed(outcome: Failure, { attempts, content, ts }: Post, mayBeThere: boolean): AttemptResult {
		const now = clock.now();
		if (outcome.kind === 'unknown') return retry(now + retryDelay(attempts), outcome.code, true);
		if (outcome.kind !== 'later') return outcome;
		const isUntold = content.kind === 'handedOver' && ts === null && !mayBeThere && attempts >= UNTOLD_REPEATS;
		if (isUntold && !outcome.limited) return { kind: 'refused', code: outcome.code };
		return retry(now + retryDelay(attempts, outcome.ms), outcome.code, mayBeThere);
	}

	/** Tries to show a post. `post`: with what it was to show. */
	async function attempt(taken: Taken): Promise<{ readonly post: Post; readonly result: AttemptResult }> {
		const { post } = taken.due;
		if (post.ts !== null) return { post, result: await refresh(taken, post.ts) };
		const first = await ready(taken);
		if (first.kind !== 'ready') return { post, result: first };
		return { post: first.due.post, result: await send(first, taken) };
	}

	/** Says in the log and in the metrics why a post is not shown. */
	function reportFailure({ id: postId, target, content: { kind: what }, ts }: Post, result: AttemptResult): void {
		const place = target.kind === 'person' ? target.userId : target.channelId;
		if (result.kind === 'retry' && ts === null && result.code !== PACED) {
			// What a person refuses, perhaps because they left, says nothing about Slack.
			if (target.kind !== 'person') metrics.post('retried');
			log.warn('post_delayed', { place, what, code: result.code });
		}
		if (result.kind === 'refused') {
			if (ts === null) metrics.post('refused');
			log.warn(ts === null ? 'post_refused' : 'update_refused', { place, what, code: result.code });
		}
		if (result.kind === 'deleted') log.info({ postId, what }, 'somebody deleted a post');
	}

	async function work(taken: Taken): Promise<void> {
		const { post, result } = await attempt(taken);
		if (result.kind === 'lost') return;
		reportFailure(post, result);
		await store.endAttempt(post, taken.token, result, clock.now());
		if (result.kind === 'gone' && post.target.kind !== 'person') await onGone(post.target, result.reason);
		if (result.kind !== 'shown' || post.ts !== null) return;
		for (const entry of remindedIn(post.content)) {
			metrics.reminder({ stage: entry.stage });
			metrics.reminderLate(Math.max(0, clock.now() - entry.dueAt));
		}
	}

	const stopping = new AbortController();
	const pressed = new Set<Promise<unknown>>();

	/** Shows what a press changed on its post. Another attempt may have that leased. A repeat shows that it is one. */
	async function showChange(place: PressedPlace, responseUrl: string | null): Promise<void> {
		const token = crypto.randomUUID();
		for (let tries = 0; tries < SHOW_TRIES && !stopping.signal.aborted; tries++) {
			const due = await store.takePressed(place, { token, ms: LEASE_MS }, clock.now());
			if (due !== null) return work({ due, token, signal: stopping.signal, responseUrl });
			if (tries === 0 && (await showRepeat(place, responseUrl))) return;
			await clock.sleep(SHOW_AGAIN_MS, stopping.signal);
		}
	}

	/** Whether the pressed message is a repeat, which then shows that. */
	async function showRepeat(place: PressedPlace, responseUrl: string | null): Promise<boolean> {
		const real = responseUrl === null ? null : await store.repeatedBy(place);
		if (responseUrl === null || real === null) return false;
		await messages.replaceRepeat(responseUrl, real);
		return true;
	}

	/** Nothing is posted before the channels are checked. */
	let isAllowed = false;
	const queue = leaseQueue<DuePost>({
		itemsName: 'posts',
		rows: store.rows,
		concurrency: POSTS_AT_ONCE,
		take(lease, room, running) {
			const updates = updateRoom(running);
			const limit = updates > 0 ? Math.min(room, updates) : room;
			return store.takeDue(lease, limit, clock.now(), { updates: updates > 0 });
		},
		nextDueAt: async (running) => (isAllowed ? store.nextDueAt({ updates: updateRoom(running) > 0 }) : null),
		work: (due, token, signal) => work({ due, token, signal, responseUrl: null }),
		release: (held) => store.release(held.map(({ token }) => token)),
	});

	return {
		/** Does nothing before `allow`. */
		queue,
		allow(): void {
			isAllowed = true;
		},
		/** Waits for the posts of presses. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all(pressed);
		},
		/** Draws a post at once after a press on it; what fails, the loop repeats. */
		showPressed(place: PressedPlace, responseUrl: string | null, isChanged: boolean): void {
			const showing = isChanged ? showChange(place, responseUrl) : showRepeat(place, responseUrl);
			const shown = showing.catch((error: unknown) => {
				if (!stopping.signal.aborted) log.warn('press_not_shown', { code: codeOf(error) });
			});
			pressed.add(shown);
			void shown.then(() => pressed.delete(shown));
		},
	};
}

/** A first post whose time has come. */
interface Ready {
	readonly kind: 'ready';
	readonly due: DuePost;
	readonly earlierAt: number | null;
}

/** A post in work. `responseUrl`: of the press that it shows; null: none. */
interface Taken {
	readonly due: DuePost;
	readonly token: string;
	readonly signal: AbortSignal;
	readonly responseUrl: string | null;
}

/**
 * Until when a card is held; 0: it may come. A first card stands below the first question: it comes when a question is
 * settled and a read shows what follows, or at `notBefore` while none was asked. It comes at once where questions or
 * progress stand in its thread. The replacement of a deleted card comes at its time.
 */
function cardHeldUntil({ notBefore = 0, isFirst }: ContentOf<'card'>, due: DuePost, now: number): number {
	const { watch, style, snapshot, question, isQuestionLost, isAnySettled } = due;
	if (isFirst !== true) return Math.min(notBefore, now + CARD_AGAIN_MS);
	if (isInThread(watch?.mode, style) || isQuestionLost) return 0;
	// The next read decides: the end needs a second read, and an answered question looks open until one.
	const isUnread =
		isOver(snapshot?.status ?? '') || (question?.settledHow != null && (snapshot?.question?.openCount ?? 0) > 0);
	if (isUnread) return now + CARD_AGAIN_MS;
	if (isAnySettled) return 0;
	if (question?.settledHow === null) return now + CARD_AGAIN_MS;
	return style.progress ? 0 : Math.min(notBefore, now + CARD_AGAIN_MS);
}

function updateRoom(running: readonly DuePost[]): number {
	return UPDATES_AT_ONCE - running.filter(({ post }) => post.ts !== null).length;
}

/** Milliseconds to wait after this many failed attempts before this one. `ms`: the wait that Slack asks for. */
const retryDelay = (attempts: number, ms: number | null = null) => backOff(attempts + 1, RETRY, ms);

const retry = (at: number, code: string, mayBeThere: boolean): Retry => ({ kind: 'retry', at, code, mayBeThere });

function laneOf({ target, ts, urgency, content }: Post) {
	const place = target.kind === 'person' ? target.userId : target.channelId;
	if (ts === null) return { key: `post:${target.teamId}:${place}`, rate: POST_RATE, keep: 0 };
	const keep = urgency === 'progress' ? KEPT_FROM_PROGRESS : content.kind === 'card' ? KEPT_FROM_CARDS : 0;
	return { key: `update:${target.teamId}`, rate: UPDATE_RATE, keep };
}
