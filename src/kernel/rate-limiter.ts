import type { Clock } from './clock.ts';
import { type Cell, createMemoryCell, setBounded } from './memory.ts';
import { LONGEST_RETRY_AFTER_MS } from './retries.ts';

/** One call each `intervalMs` on average, up to `burst` calls at once. */
export interface RateLimit {
	readonly intervalMs: number;
	readonly burst: number;
	/** How many calls `charge` may count beyond the burst. */
	readonly debt?: number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** The state of one key in the generic cell rate algorithm; clock milliseconds. */
export interface RateState {
	/** When the next call is due at an even rate; in the past after a pause in calls. */
	readonly due: number;
	readonly pausedUntil: number;
}

const FRESH_RATE: RateState = { due: 0, pausedUntil: 0 };

const MOST_RATES = 10_000;

/**
 * Takes one call now (`waitMs` is 0), leaving `keep` of the burst to others, or says when to ask again: no later
 * than these limits can mean, because a replica's clock may be behind until it looks.
 */
function takeCall(state: RateState, limit: RateLimit, { now, keep }: { now: number; keep: number }) {
	if (state.pausedUntil > now) return { waitMs: Math.min(state.pausedUntil - now, LONGEST_RETRY_AFTER_MS), state };
	const due = Math.max(state.due, now);
	const ahead = Math.max(0, limit.burst - 1 - keep) * limit.intervalMs;
	const waitMs = Math.ceil(due - ahead - now);
	const longestMs = (limit.burst + (limit.debt ?? 0)) * limit.intervalMs;
	if (waitMs > 0) return { waitMs: Math.min(waitMs, longestMs), state };
	return { waitMs: 0, state: { due: due + limit.intervalMs, pausedUntil: 0 } };
}

/** Limits calls by key: of Slack's methods and of people. `cellOf` makes the cell of a rate. */
export function createRateLimiter(
	clock: Clock,
	cellOf: (key: string) => Cell<RateState> = () => createMemoryCell(clock),
) {
	const cells = new Map<string, Cell<RateState>>();

	function update<R>(key: string, change: (state: RateState) => { state: RateState; result: R }): Promise<R> {
		const cell = cells.get(key) ?? cellOf(key);
		setBounded(cells, key, cell, MOST_RATES);
		return cell.update((state) => change(state ?? FRESH_RATE));
	}

	return {
		/** As `takeCall`. Resolves to 0, or to the milliseconds until the next try. */
		take: (key: string, limit: RateLimit, options: { now: number; keep: number }) =>
			update(key, (before) => {
				const { waitMs, state } = takeCall(before, limit, options);
				return { state, result: waitMs };
			}),
		/** Counts `count` calls even if there is no room, up to the limit's `debt`. */
		charge: (key: string, limit: RateLimit, { now, count }: { now: number; count: number }) =>
			update(key, (state) => {
				const longestMs = (limit.burst + (limit.debt ?? 0)) * limit.intervalMs;
				const due = Math.min(Math.max(state.due, now) + count * limit.intervalMs, now + longestMs);
				return { state: { ...state, due }, result: undefined };
			}),
		/** Allows no call before `until` (after a 429), which is at most `LONGEST_RETRY_AFTER_MS` from now. */
		pause: (key: string, until: number) =>
			update(key, (state) => {
				return { state: { ...state, pausedUntil: Math.max(state.pausedUntil, until) }, result: undefined };
			}),
	};
}
