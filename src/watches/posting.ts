import { CLOCK_ALLOWANCE_MS, type Clock, hasCome } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Log } from '../log.ts';
import type { RateLimit, RateLimiter } from '../rate-limiter.ts';
import {
	type Announcement,
	CARD_AGAIN_MS,
	CARD_HELD,
	PACED,
	standsWithoutThread,
	waitsForTurn,
} from './announcements.ts';
import { endChannel } from './channel-guard.ts';
import type {
	Announcer,
	AttemptResult,
	ChannelStore,
	DueAnnouncement,
	GoneReason,
	PostingStore,
	SendOutcome,
	WatchMetrics,
} from './ports.ts';

export interface PostingOptions {
	readonly store: PostingStore & ChannelStore;
	readonly announcer: Announcer;
	readonly rateLimiter: RateLimiter;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: WatchMetrics;
}

/** Posts: Slack takes about one a second in a channel. */
const POST_RATE: RateLimit = { intervalMs: 1_050, burst: 1 };
/** `chat.update`: Slack takes about 50 a minute for the whole workspace. These make at most 48 in any minute. */
export const UPDATE_RATE: RateLimit = { intervalMs: 1_500, burst: 8 };
/** Of the burst, what progress leaves to questions, answers and endings. */
export const KEPT_FROM_PROGRESS = 6;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 5 * 60_000;
/** Shorter than the interval of posts, so that one post at a time waits for a channel's turn in this process. */
const SHORT_WAIT_MS = 500;
/** A post that may exist is looked for from this long before its attempt was noted, because clocks differ. */
const LOOK_BACK_MS = 60_000;
/** The same after the clock was put back, when the noted time means nothing. */
const LOOK_FAR_BACK_MS = 24 * 3_600_000;
const THREAD_GONE = 'thread_gone';

/** Milliseconds to wait after so many failed attempts; `ms`: what Slack asks for, believed up to a bound. */
export function retryDelay(attempts: number, ms: number | null = null): number {
	if (ms !== null) return Math.min(LONGEST_RETRY_AFTER_MS, ms);
	return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, attempts));
}

/** Posts announcements, one attempt at a time. */
export function createPosting({ store, announcer, rateLimiter, clock, log, metrics }: PostingOptions) {
	/** The newest turn given to a post of this process that waits for a rate, by the rate's name: each gets its own. */
	const turns = new Map<string, number>();

	/** Null when the lease was lost. */
	async function attempt(
		due: DueAnnouncement,
		token: string,
		signal: AbortSignal,
	): Promise<AttemptResult | { kind: 'gone'; reason: GoneReason } | null> {
		const { announcement } = due;
		/** Goes into the post's metadata, so that it can be found in the channel's history. */
		const metadataKey = announcement.id;
		/** When an earlier attempt may have posted it unseen; a failure of this attempt says nothing about that one. */
		let earlier: number | null = null;
		if (announcement.sendingSince !== null) {
			const since = lookFrom(announcement.sendingSince, clock.now());
			const found = await announcer.find(due, { metadataKey, since, signal });
			if (found.kind === 'later') return again(clock.now() + retryDelay(0, found.ms), 'look_later', true);
			if (found.kind === 'found') {
				const gone = found.threaded || staysInChannel(due) ? 'refused' : await announcer.remove(due, found.ts);
				if (gone === 'unknown') return again(clock.now() + retryDelay(announcement.attempts), THREAD_GONE, true);
				if (gone === 'refused') {
					metrics.post('found');
					return { kind: 'posted', ts: found.ts, cardKey: null };
				}
			}
			if (found.kind === 'unreadable') earlier = announcement.sendingSince;
		}
		const maybeRepeat = earlier !== null;
		if (isWithoutPlace(due) || (await isForNobody(due))) return { kind: 'dropped' };
		const heldUntil = heldUntilOf(announcement, clock.now());
		if (heldUntil !== null) return again(heldUntil, CARD_HELD, maybeRepeat);
		const wait = await takeTurn(announcement, signal);
		if (wait > 0) return again(turnOf(announcement, wait), PACED, maybeRepeat);
		const isCard = announcement.content.kind === 'card';
		const prepared = isCard ? await prepareCard(due) : null;
		if (isCard && prepared === null) return { kind: 'refused', code: 'nothing_to_show' };
		if (!(await store.beginAttempt(announcement.id, token, earlier ?? clock.now()))) return null;
		const outcome =
			prepared === null
				? await announcer.post(due, { metadataKey, maybeRepeat })
				: await prepared.send({ ts: null, metadataKey });
		if (outcome.kind === 'sent') metrics.post(maybeRepeat ? 'maybeRepeated' : 'posted');
		if (outcome.kind === 'later' && outcome.limited) {
			const now = clock.now();
			await rateLimiter.pause(paceKeyOf(announcement), now + retryDelay(announcement.attempts, outcome.ms), now);
		}
		const result =
			outcome.kind === 'unthreaded'
				? await unthreadedResult(due, outcome.ts)
				: resultOf(outcome, announcement, prepared?.key ?? null, clock.now());
		return result.kind === 'retry' ? { ...result, unknown: result.unknown || maybeRepeat } : result;
	}

	/**
	 * Somebody deleted the card, so the post went into the channel. Questions stay there, and so does the end of a watch that
	 * gets no new card. Anything else is removed and posted in the new card's thread.
	 */
	async function unthreadedResult(due: DueAnnouncement, ts: string): Promise<AttemptResult> {
		const { announcement, watch } = due;
		const lost = watch?.card.ts == null ? {} : { lostCardTs: watch.card.ts };
		const gone = staysInChannel(due) ? 'refused' : await announcer.remove(due, ts);
		if (gone === 'refused') {
			metrics.post('posted');
			return { kind: 'posted', ts, cardKey: null, ...lost };
		}
		const now = clock.now();
		const at = gone === 'removed' ? now : now + retryDelay(announcement.attempts);
		return { ...again(at, THREAD_GONE, gone === 'unknown'), ...lost };
	}

	/** Whether it is for the watches of a channel that has none any more. */
	async function isForNobody({ announcement: { target } }: DueAnnouncement): Promise<boolean> {
		return target.kind === 'channel' && (await store.ofChannel(target)).length === 0;
	}

	async function prepareCard({ watch, view }: DueAnnouncement) {
		return watch === null || view === null ? null : announcer.prepareCard({ watch, view, checkedAt: view.seenAt });
	}

	/** The channel takes no posts, so its watches end. */
	async function endGone(due: DueAnnouncement, token: string, reason: GoneReason): Promise<void> {
		const { announcement } = due;
		const now = clock.now();
		await store.endAttempt(announcement.id, token, { kind: 'refused', code: reason }, now);
		if (announcement.target.kind !== 'person') {
			const { teamId, channelId } = announcement.target;
			await endChannel(store, { teamId, channelId }, reason, now);
		}
	}

	/** Waits for the rate when that is short. Returns a longer wait instead, in ms, so that other channels go on. */
	async function takeTurn(announcement: Announcement, signal: AbortSignal): Promise<number> {
		for (;;) {
			const pace = rateOf(announcement);
			const wait = await rateLimiter.take(paceKeyOf(announcement), pace, { now: clock.now(), keep: 0 });
			if (wait === 0 || wait > SHORT_WAIT_MS) return wait;
			await clock.sleep(wait, signal);
		}
	}

	/** A turn of its own: of posts that all came back at the same moment, all but one would be put off again. */
	function turnOf(announcement: Announcement, wait: number): number {
		const now = clock.now();
		for (const [name, turn] of turns) if (hasCome(turn, now, LONGEST_RETRY_MS)) turns.delete(name);
		const name = paceKeyOf(announcement);
		const next = (turns.get(name) ?? 0) + rateOf(announcement).intervalMs;
		const turn = Math.min(now + LONGEST_RETRY_MS, Math.max(now + wait, next));
		turns.set(name, turn);
		return turn;
	}

	/** Makes one attempt to post an announcement that is leased by `token`, and notes the outcome. */
	async function deliver(due: DueAnnouncement, token: string, signal: AbortSignal): Promise<void> {
		const { announcement } = due;
		const result = await attempt(due, token, signal);
		if (result === null) return;
		if (result.kind === 'gone') {
			await endGone(due, token, result.reason);
			return;
		}
		if (result.kind === 'retry' && !waitsForTurn(result.code)) metrics.post('retried');
		if (result.kind === 'refused') {
			metrics.post('refused');
			const { target, content } = announcement;
			const place = target.kind === 'person' ? target.userId : target.channelId;
			log.warn({ place, what: content.kind, code: result.code }, 'Slack refuses a post');
		}
		await store.endAttempt(announcement.id, token, result, clock.now());
	}

	return { deliver };
}

/** Whether a post that went into the channel stays there although its watch had a thread. */
function staysInChannel({ announcement: { target, content }, watch }: DueAnnouncement): boolean {
	if (target.kind !== 'watch' || watch === null) return true;
	const getsNoCard = watch.card.ts === null || watch.ended !== null;
	return content.kind === 'card' || content.kind === 'question' || (getsNoCard && standsWithoutThread(content));
}

/** Whether it needs a thread and the watch has no card. */
function isWithoutPlace({ announcement: { target, content }, watch }: DueAnnouncement): boolean {
	if (target.kind !== 'watch' || watch === null || watch.card.ts !== null) return false;
	return content.kind !== 'card' && content.kind !== 'settle' && !standsWithoutThread(content);
}

/** When to look again at a card whose time has not come, else null. */
function heldUntilOf({ content }: Announcement, now: number): number | null {
	if (content.kind !== 'card' || content.notBefore === undefined) return null;
	return hasCome(content.notBefore, now, CARD_AGAIN_MS) ? null : Math.min(content.notBefore, now + LONGEST_RETRY_MS);
}

function lookFrom(sendingSince: number, now: number): number {
	return sendingSince > now + CLOCK_ALLOWANCE_MS ? now - LOOK_FAR_BACK_MS : sendingSince - LOOK_BACK_MS;
}

function resultOf(
	outcome: Exclude<SendOutcome, { kind: 'unthreaded' }>,
	announcement: Announcement,
	cardKey: string | null,
	now: number,
): AttemptResult | { kind: 'gone'; reason: GoneReason } {
	switch (outcome.kind) {
		case 'sent':
			return { kind: 'posted', ts: outcome.ts, cardKey };
		case 'gone':
			return outcome;
		case 'refused':
			return { kind: 'refused', code: outcome.code };
		case 'deleted':
			return { kind: 'refused', code: 'deleted' };
		case 'later':
			return again(now + retryDelay(announcement.attempts, outcome.ms), outcome.code, false);
		case 'unknown':
			return again(now + retryDelay(announcement.attempts), outcome.code, true);
	}
}

function again(at: number, code: string, unknown: boolean) {
	return { kind: 'retry', at, code, unknown } as const;
}

/** Settling is an update, and updates share one rate for the workspace. */
function rateOf({ content }: Announcement): RateLimit {
	return content.kind === 'settle' ? UPDATE_RATE : POST_RATE;
}

function paceKeyOf({ target, content }: Announcement): string {
	if (content.kind === 'settle') return `update:${target.teamId}`;
	return `post:${target.teamId}:${target.kind === 'person' ? target.userId : target.channelId}`;
}
