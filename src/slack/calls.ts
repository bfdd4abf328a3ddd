import type { Clock } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import type { RateLimit, RateLimiter } from '../kernel/rate-limiter.ts';
import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import { slackFailure } from './clients.ts';

/** Slack's tiers 2 to 4: 20, 50, 100 calls of a method a minute for a workspace. A burst and a minute stay below. */
const RATES = {
	'users.info': { intervalMs: 750, burst: 20 },
	'users.list': { intervalMs: 4_000, burst: 20 },
	'users.conversations': { intervalMs: 1_500, burst: 10 },
	'conversations.members': { intervalMs: 750, burst: 20 },
} as const satisfies Record<string, RateLimit>;

type Method = keyof typeof RATES;

/**
 * The part of a burst that is left to those who come first: what is sent, then what somebody opens by a command, a
 * button or a window, then Homes. The first two may exceed the burst, since only Slack knows what it takes.
 */
const KEPT = { send: -6, late: -6, look: -5, home: 0.8 } as const;
export type Need = keyof typeof KEPT;
/** Whoever finds no room for `users.info` is told of by the list: what opens stays below Slack's limit, for presses. */
const KEPT_FROM_LOOKS = 0.2;

const keptOf = (method: Method, need: Need) =>
	method === 'users.info' && need === 'look' ? KEPT_FROM_LOOKS : KEPT[need];

export type SlackCalls = ReturnType<typeof createSlackCalls>;

/** The calls that Homes share with what people do, by limits that replicas share. */
export function createSlackCalls(
	{ rateLimiter, clock }: { readonly rateLimiter: RateLimiter; readonly clock: Clock },
	teamId: () => string | undefined,
) {
	const keyOf = (method: Method) => `slack:${method}:${teamId()}`;

	/** Milliseconds until there is room; 0: the call is counted. */
	const waitMs = (method: Method, need: Need) => {
		const rate = RATES[method];
		const options = { now: clock.now(), keep: Math.floor(rate.burst * keptOf(method, need)) };
		return rateLimiter.take(keyOf(method), rate, options).catch(() => 0);
	};

	return {
		waitMs,
		/** Counts a call. @throws `slack_unavailable` with `retryAt` when others come first, or Slack said to wait */
		async permit(method: Method, need: Need): Promise<void> {
			const waiting = waitMs(method, need);
			// Slack alone refuses what is sent.
			if (need === 'send' || need === 'late') return;
			const ms = await waiting;
			if (ms <= 0) return;
			throw noRoom(method, ms, clock.now());
		},
		/** Waits until there is room for Homes, and counts a call. */
		async turn(method: Method, signal?: AbortSignal): Promise<void> {
			for (let ms = await waitMs(method, 'home'); ms > 0; ms = await waitMs(method, 'home'))
				await clock.sleep(ms, signal);
		},
		/** The call. When Slack limits it, the method pauses for all replicas for as long as Slack says. */
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

/** The error for a call that has to wait for so long. */
export function noRoom(method: Method, ms: number, now: number): HandraiseError {
	const details = { code: 'slack_unavailable', retryable: true, retryAt: now + ms };
	const error = new HandraiseError(`${method} has no room for this call now`, details);
	// As of a 429, for `slackFailure`.
	return Object.assign(error, { retryAfter: ms / 1_000 });
}
