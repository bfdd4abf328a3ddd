import type { Core } from '../core.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { RateLimit } from '../rate-limiter.ts';
import type { Announcer } from '../slack/posts/announcer.ts';
import {
	type Announcement,
	type AttemptResult,
	type DueAnnouncement,
	PACED,
	type SendOutcome,
} from './announcements.ts';
import { endChannel } from './channel-guard.ts';
import { kindOf } from './kinds.ts';

/** Slack takes about one post a second in a channel. */
const POST_RATE: RateLimit = { intervalMs: 1_050, burst: 1 };
/** Slack takes about 50 `chat.update` a minute for the whole workspace. This allows at most 48 in any minute. */
export const UPDATE_RATE: RateLimit = { intervalMs: 1_500, burst: 8 };
/** The part of the burst that progress leaves to questions, answers and ends. */
export const KEPT_FROM_PROGRESS = 6;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 5 * 60_000;
/** Shorter than the interval of posts, so that this process waits with one post at a time for a channel. */
const SHORT_WAIT_MS = 500;
const THREAD_GONE = 'thread_gone';
/**
 * Begins again with the note of an attempt. Longer than a call to Slack with its time-out and the time until it leaves.
 */
export const POST_LEASE_MS = 25_000;
/** A call leaves within this time after the note of its attempt, or not at all: others may post it after the lease. */
const SEND_WITHIN_MS = 2_000;
/** `lastError` of an attempt that stood still until its call was not allowed any more. */
const STOOD_STILL = 'stood_still';

/** Milliseconds to wait after so many failed attempts. `ms`: the wait that Slack asks for, used up to a limit. */
export function retryDelay(attempts: number, ms: number | null = null): number {
	if (ms !== null) return Math.min(LONGEST_RETRY_AFTER_MS, ms);
	return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, attempts));
}

type Retry = Extract<AttemptResult, { kind: 'retry' }>;
type Outcome = AttemptResult | Extract<SendOutcome, { kind: 'gone' }>;

/** Posts announcements, one attempt at a time. */
export function createPosting(core: Core, announcer: Announcer) {
	const { rateLimiter, clock, log } = core;
	const { watches: store } = core.store;
	const { watches: metrics } = core.metrics;
	/** By rate key: the latest turn given to a post of this process that waits for the rate. */
	const turns = new Map<string, number>();
	clock.onStep?.(() => turns.clear());

	/** Updates posts of questions, each at its turn. Null when the lease was lost. */
	async function updatePosts(due: DueAnnouncement, token: string, signal: AbortSignal): Promise<Outcome | null> {
		const { announcement, watch } = due;
		/** Whether an earlier attempt may have updated a post. */
		const unknown = announcement.sendingSince !== null;
		for (const { post, key, send } of await announcer.updatesOf(due)) {
			const outcome =
				(await waitForTurn(announcement, unknown, signal)) ??
				(await callNow(announcement, token, { earlierAt: null, unknown }, send));
			if (outcome === null) return null;
			// Slack refuses the update of a post that somebody deleted, and would refuse it again.
			if (outcome.kind !== 'sent' && outcome.kind !== 'refused' && outcome.kind !== 'deleted') {
				return resultOf(outcome, announcement, unknown, clock.now());
			}
			if (outcome.kind === 'sent') metrics.post('posted');
			await store.noteShown(post.id, key);
		}
		return { kind: 'posted', ts: watch?.card.ts ?? '', cardKey: null };
	}

	/** Null when the lease was lost. */
	async function attempt(due: DueAnnouncement, token: string, signal: AbortSignal): Promise<Outcome | null> {
		const { announcement } = due;
		if (kindOf(announcement.content).updates) return updatePosts(due, token, signal);
		/** When an earlier attempt may have posted it. A failure of this attempt says nothing about that one. */
		let earlierAt: number | null = null;
		if (announcement.sendingSince !== null) {
			const found = await announcer.find(due, announcement.sendingSince, signal);
			if (found.kind === 'later') return retry(clock.now() + retryDelay(0, found.ms), 'look_later', true);
			if (found.kind === 'found') {
				const stays = found.isThreaded || staysInChannel(due);
				const removal = stays ? 'refused' : await announcer.remove(due, found.ts);
				if (removal === 'unknown') return retry(clock.now() + retryDelay(announcement.attempts), THREAD_GONE, true);
				if (removal === 'refused') {
					metrics.post('found');
					return { kind: 'posted', ts: found.ts, cardKey: null, sentAt: announcement.sendingSince };
				}
			}
			if (found.kind === 'unreadable') earlierAt = announcement.sendingSince;
		}
		const unknown = earlierAt !== null;
		const dropped = { kind: 'dropped', unknown } as const;
		if (isObsolete(due) || isWithoutPlace(due) || (await isForNobody(due))) return dropped;
		const waiting = await waitForTurn(announcement, unknown, signal);
		if (waiting !== null) return waiting;
		// Before the note of the attempt, because the call has to follow it at once and this may be slow.
		const prepared = await announcer.preparePost(due, unknown);
		if (prepared === null) return dropped;
		let sentAt = 0;
		const outcome = await callNow(announcement, token, { earlierAt, unknown }, () => {
			sentAt = clock.now();
			return prepared.send();
		});
		if (outcome === null) return null;
		if (outcome.kind === 'sent') metrics.post(unknown ? 'maybeRepeated' : 'posted');
		const result =
			outcome.kind === 'unthreaded'
				? await unthreadedResult(due, outcome.ts, unknown)
				: resultOf(outcome, announcement, unknown, clock.now());
		if (result.kind !== 'posted') return result;
		// What an earlier attempt may have shown must not come again.
		return { ...result, cardKey: prepared.cardKey, sentAt, leftOut: unknown ? [] : prepared.leftOut };
	}

	/**
	 * Somebody deleted the card, so the post went into the channel. Questions and reminders stay there, and so does the
	 * end of a watch that gets no new card. Any other post is removed and posted again in the new card's thread.
	 */
	async function unthreadedResult(due: DueAnnouncement, ts: string, unknown: boolean): Promise<AttemptResult> {
		const { announcement, watch } = due;
		const lost = watch?.card.ts == null ? {} : { lostCardTs: watch.card.ts };
		const removal = staysInChannel(due) ? 'refused' : await announcer.remove(due, ts);
		if (removal === 'refused') {
			metrics.post('posted');
			return { kind: 'posted', ts, cardKey: null, ...lost };
		}
		const waitMs = removal === 'removed' ? 0 : retryDelay(announcement.attempts);
		return { ...retry(clock.now() + waitMs, THREAD_GONE, unknown || removal === 'unknown'), ...lost };
	}

	/** Whether it is for a channel that watches and discovers nothing any more. */
	async function isForNobody({ announcement: { target, content } }: DueAnnouncement): Promise<boolean> {
		if (kindOf(content).isForAll === true || target.kind !== 'channel') return false;
		return (await store.ofChannel(target)).length === 0 && (await store.discoveryOf(target, null)) === null;
	}

	/** Waits for the rate if the wait is short. Null: it is this post's turn; else other channels go on meanwhile. */
	async function waitForTurn(announcement: Announcement, unknown: boolean, signal: AbortSignal): Promise<Retry | null> {
		for (;;) {
			const rate = rateOf(announcement);
			const waitMs = await rateLimiter.take(rateKeyOf(announcement), rate, { now: clock.now(), keep: 0 });
			if (waitMs === 0) return null;
			if (waitMs > SHORT_WAIT_MS) return retry(turnOf(announcement, waitMs), PACED, unknown);
			await clock.sleep(waitMs, signal);
		}
	}

	/**
	 * Notes an attempt and makes its call, unless the process stood still in between. Null when the lease was lost.
	 * `earlierAt`: when an earlier attempt may have posted it. `unknown`: whether one may have sent something.
	 */
	async function callNow(
		announcement: Announcement,
		token: string,
		{ earlierAt, unknown }: { earlierAt: number | null; unknown: boolean },
		send: () => Promise<SendOutcome>,
	): Promise<SendOutcome | Retry | null> {
		const now = clock.now();
		const attempt = { since: earlierAt ?? now, leasedUntil: now + POST_LEASE_MS };
		if (!(await store.beginAttempt(announcement.id, token, attempt))) return null;
		const tookMs = clock.now() - now;
		if (tookMs < 0 || tookMs > SEND_WITHIN_MS) return retry(clock.now(), STOOD_STILL, unknown);
		const outcome = await send();
		if (outcome.kind === 'later' && outcome.limited) {
			const until = clock.now() + retryDelay(announcement.attempts, outcome.ms);
			await rateLimiter.pause(rateKeyOf(announcement), until);
		}
		return outcome;
	}

	/** When to try a post that waits for its rate. Each gets its own time: of several at one time, all but one would wait again. */
	function turnOf(announcement: Announcement, waitMs: number): number {
		const now = clock.now();
		for (const [key, turnAt] of turns) if (turnAt <= now) turns.delete(key);
		const key = rateKeyOf(announcement);
		const next = (turns.get(key) ?? 0) + rateOf(announcement).intervalMs;
		const turnAt = Math.min(now + LONGEST_RETRY_MS, Math.max(now + waitMs, next));
		turns.set(key, turnAt);
		return turnAt;
	}

	/** Makes one attempt to post an announcement that is leased by `token` and notes the outcome. */
	async function deliver(due: DueAnnouncement, token: string, signal: AbortSignal): Promise<void> {
		const { announcement } = due;
		const { target, content } = announcement;
		const result = await attempt(due, token, signal);
		if (result === null) return;
		if (result.kind === 'gone') {
			const refused = { kind: 'refused', code: result.reason } as const;
			await store.endAttempt(announcement.id, token, refused, clock.now());
			if (target.kind !== 'person') await endChannel(core, target, result.reason);
			return;
		}
		if (result.kind === 'retry' && result.code !== PACED) metrics.post('retried');
		if (result.kind === 'refused') {
			metrics.post('refused');
			const place = target.kind === 'person' ? target.userId : target.channelId;
			log.warn({ place, what: content.kind, code: result.code }, 'a post is refused; it is not tried again');
		}
		await store.endAttempt(announcement.id, token, result, clock.now());
		if (result.kind !== 'posted') return;
		for (const entry of 'entries' in content ? content.entries : []) {
			if (result.leftOut?.includes(entry)) continue;
			metrics.reminder(entry.stage);
			metrics.reminderLate(Math.max(0, clock.now() - entry.dueAt));
		}
	}

	return deliver;
}

/** Whether a post that went into the channel instead of its thread stays there. */
function staysInChannel({ announcement: { target, content }, watch }: DueAnnouncement): boolean {
	if (target.kind !== 'watch' || watch === null) return true;
	const getsNoCard = watch.card.ts === null || watch.ended !== null || watch.mode === 'raisedHand';
	// What mentions people and is posted again mentions them twice.
	const { thread, notifies = false } = kindOf(content);
	return thread === 'root' || notifies || (getsNoCard && thread === 'replyOrPost');
}

/** Whether it is for a watch that ended meanwhile without a last post. */
function isObsolete({ watch }: DueAnnouncement): boolean {
	const reason = watch?.ended?.reason;
	return reason === 'unwatched' || reason === 'handLowered' || reason === 'gaveWay';
}

/** Whether it needs a thread and the watch has no card. */
function isWithoutPlace({ announcement: { target, content }, watch }: DueAnnouncement): boolean {
	if (target.kind !== 'watch' || watch === null || watch.card.ts !== null) return false;
	return kindOf(content).thread === 'reply';
}

/** `unknown`: whether an earlier attempt may have sent something. */
function resultOf(outcome: SendOutcome | Retry, { attempts }: Announcement, unknown: boolean, now: number): Outcome {
	switch (outcome.kind) {
		case 'sent':
		case 'unthreaded':
			return { kind: 'posted', ts: outcome.ts, cardKey: null };
		case 'gone':
		case 'refused':
		case 'retry':
			return outcome;
		case 'deleted':
			return { kind: 'refused', code: 'deleted' };
		case 'later':
			return retry(now + retryDelay(attempts, outcome.ms), outcome.code, unknown);
		case 'unknown':
			return retry(now + retryDelay(attempts), outcome.code, true);
	}
}

function retry(at: number, code: string, unknown: boolean): Retry {
	return { kind: 'retry', at, code, unknown };
}

/** All updates of a workspace share one rate. */
function rateOf({ content }: Announcement): RateLimit {
	return kindOf(content).updates ? UPDATE_RATE : POST_RATE;
}

function rateKeyOf({ target, content }: Announcement): string {
	if (kindOf(content).updates) return `update:${target.teamId}`;
	return `post:${target.teamId}:${target.kind === 'person' ? target.userId : target.channelId}`;
}
