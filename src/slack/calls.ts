import type { Clock } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import type { RateLimit, RateLimiter } from '../kernel/rate-limiter.ts';
import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import { slackFailure } from './clients.ts';

/**
 * Slack's tiers 2 to 4 allow 20, 50, 100 calls of a method a minute. A burst and a minute's calls together stay below.
 */
const RATES = {
	'users.info': { intervalMs: 750, burst: 20 },
	'users.list': { intervalMs: 4_000, burst: 20 },
	'users.conversations': { intervalMs: 1_500, burst: 10 },
	'conversations.members': { intervalMs: 750, burst: 20 },
} as const satisfies Record<string, RateLimit>;

type Method = keyof typeof RATES;

/**
 * The part of a burst that calls for each purpose leave free, so that calls for others find room. What is sent in
 * somebody's name (`send`; `late`: in the background) and what somebody opens (`look`) leave none. They even exceed the
 * burst by this many bursts, and Slack decides. Homes leave most of it.
 */
const LEFT_FREE = { send: -6, late: -6, look: -5, home: 0.8 } as const;
export type Need = keyof typeof LEFT_FREE;
/** The same for `look` with `users.info`. Whoever finds no room waits for `users.list`, which tells of everybody. */
const LEFT_FREE_BY_LOOKS = 0.2;

const leftFreeBy = (method: Method, need: Need) =>
	method === 'users.info' && need === 'look' ? LEFT_FREE_BY_LOOKS : LEFT_FREE[need];

export type SlackCalls = ReturnType<typeof createSlackCalls>;

/** Limits the calls that Homes share with what people do. All replicas share the limits. */
export function createSlackCalls(
	{ rateLimiter, clock }: { readonly rateLimiter: RateLimiter; readonly clock: Clock },
	teamId: () => string | undefined,
) {
	const keyOf = (method: Method) => `slack:${method}:${teamId()}`;

	/** Milliseconds until there is room; 0: there is, and the call is counted. */
	const waitMs = (method: Method, need: Need) => {
		const rate = RATES[method];
		const options = { now: clock.now(), keep: Math.floor(rate.burst * leftFreeBy(method, need)) };
		return rateLimiter.take(keyOf(method), rate, options).catch(() => 0);
	};

	return {
		waitMs,
		/** Counts a call. @throws `slack_unavailable` with `retryAt` when the limit has no room, or Slack said to wait */
		async permit(method: Method, need: Need): Promise<void> {
			const waiting = waitMs(method, need);
			// Only Slack itself may refuse what is sent.
			if (need === 'send' || need === 'late') return;
			const ms = await waiting;
			if (ms <= 0) return;
			throw rateLimitError(method, ms, clock.now());
		},
		/** Waits until there is room for Homes, and counts a call. */
		async turn(method: Method, signal?: AbortSignal): Promise<void> {
			for (let ms = await waitMs(method, 'home'); ms > 0; ms = await waitMs(method, 'home'))
				await clock.sleep(ms, signal);
		},
		/** Resolves as `call`. If Slack limits it, the method pauses for all replicas for as long as Slack says. */
		async noting<Result>(method: Method, call: Promise<Result>): Promise<Result> {
			try {
				return await call;
			} catch (error) {
				const { retryAfterMs } = slackFailure(error);
				const until = clock.now() + Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
				if (retryAfterMs !== null) await rateLimiter.pause(keyOf(method), until).catch(() => undefined);
				throw error;
			}
		},
	};
}

/** The error for a call that has to wait `ms`. `slackFailure` reads it like a 429. */
export function rateLimitError(method: Method, ms: number, now: number): HandraiseError {
	const details = { code: 'slack_unavailable', retryable: true, retryAt: now + ms };
	const error = new HandraiseError(`${method} has no room for this call now`, details);
	return Object.assign(error, { retryAfter: ms / 1_000 });
}
