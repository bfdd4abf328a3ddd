import type { Clock } from './clock.ts';
import { createMemoryState, type SharedState, setBounded } from './memory.ts';
import { LONGEST_RETRY_AFTER_MS } from './retries.ts';

/** One call in `intervalMs` on average, and up to `burst` calls at once. */
export interface RateLimit {
	readonly intervalMs: number;
	readonly burst: number;
	/** How many calls `charge` may count beyond the burst. */
	readonly debt?: number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** The state of one key in the generic cell rate algorithm; clock milliseconds. */
export interface RateState {
	/** When the next call is due at an even rate. In the past after a pause in calls. */
	readonly due: number;
	readonly pausedUntil: number;
}

const FRESH_RATE: RateState = { due: 0, pausedUntil: 0 };

const MOST_RATES = 10_000;

const longestWaitMs = ({ burst, debt = 0, intervalMs }: RateLimit) => (burst + debt) * intervalMs;

/**
 * Takes one call (`waitMs` is 0), or says when to ask again. `keep`: how many calls of the burst stay for others. The
 * wait is never longer than the limits allow, because this replica's clock may be behind.
 */
function takeCall(state: RateState, limit: RateLimit, { now, keep }: { now: number; keep: number }) {
	if (state.pausedUntil > now) return { waitMs: Math.min(state.pausedUntil - now, LONGEST_RETRY_AFTER_MS), state };
	const due = Math.max(state.due, now);
	const ahead = Math.max(0, limit.burst - 1 - keep) * limit.intervalMs;
	const waitMs = Math.ceil(due - ahead - now);
	if (waitMs > 0) return { waitMs: Math.min(waitMs, longestWaitMs(limit)), state };
	return { waitMs: 0, state: { due: due + limit.intervalMs, pausedUntil: 0 } };
}

/** Limits calls by key: of Slack's methods and of people. `sharedStateOf` gives the state of a key. */
export function createRateLimiter(
	clock: Clock,
	sharedStateOf: (key: string) => SharedState<RateState> = () => createMemoryState(clock),
) {
	const sharedStates = new Map<string, SharedState<RateState>>();

	function update<R>(key: string, change: (state: RateState) => { state: RateState; result: R }): Promise<R> {
		const sharedState = sharedStates.get(key) ?? sharedStateOf(key);
		setBounded(sharedStates, key, sharedState, MOST_RATES);
		return sharedState.update((state) => change(state ?? FRESH_RATE));
	}

	return {
		/** Takes one call. Resolves to 0, or to the milliseconds until the next try. See `takeCall`. */
		take: (key: string, limit: RateLimit, options: { now: number; keep: number }) =>
			update(key, (before) => {
				const { waitMs, state } = takeCall(before, limit, options);
				return { state, result: waitMs };
			}),
		/** Counts `count` calls even beyond the burst, up to the limit's `debt`. */
		charge: (key: string, limit: RateLimit, { now, count }: { now: number; count: number }) =>
			update(key, (state) => {
				const due = Math.min(Math.max(state.due, now) + count * limit.intervalMs, now + longestWaitMs(limit));
				return { state: { ...state, due }, result: undefined };
			}),
		/** Allows no call before `until`, after a 429. `takeCall` believes at most `LONGEST_RETRY_AFTER_MS` of it. */
		pause: (key: string, until: number) =>
			update(key, (state) => {
				return { state: { ...state, pausedUntil: Math.max(state.pausedUntil, until) }, result: undefined };
			}),
	};
}
