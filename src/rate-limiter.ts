import { setBounded } from './bounded-map.ts';
import { type Cell, createMemoryCell } from './cell.ts';
import { CLOCK_ALLOWANCE_MS, hasCome } from './clock.ts';
import { LONGEST_RETRY_AFTER_MS } from './errors.ts';

/** How many calls are allowed: one each `intervalMs` on average, up to `burst` of them at once. */
export interface RateLimit {
	readonly intervalMs: number;
	readonly burst: number;
	/** How many calls may be charged beyond the burst, after they were made (`charge`). */
	readonly debt?: number;
}

/** Rates by key, of Slack's methods and of people; in the database when replicas share them. */
export interface RateLimiter {
	/** Takes one call of `key` now (0) or says in how many ms to ask again. Leaves `keep` of the burst to others. */
	take(key: string, limit: RateLimit, options: { now: number; keep: number }): Promise<number>;
	/** Counts `count` more calls of `key`, whether there is room or not, up to the limit's `debt`. */
	charge(key: string, limit: RateLimit, options: { now: number; count: number }): Promise<void>;
	/** Nothing of `key` before `until` (Slack answered 429), which is at most `LONGEST_RETRY_AFTER_MS` from now. */
	pause(key: string, until: number, now: number): Promise<void>;
	/** Removes rates that have not been used since `before`: they are as new. */
	forget(before: number): Promise<void>;
}

/** One rate as the generic cell rate algorithm keeps it: clock milliseconds. */
export interface RateState {
	/** When the next call is due at an even rate; in the past when there was none for a while. */
	readonly due: number;
	readonly pausedUntil: number;
}

/** Where the rates are kept, each in a cell of its own. */
export interface RateCells {
	of(key: string): Cell<RateState>;
	forget(before: number): Promise<void>;
}

export const FRESH_RATE: RateState = { due: 0, pausedUntil: 0 };

/** A pause further ahead was noted before a clock was put back: it is none. */
const LONGEST_PAUSE_MS = LONGEST_RETRY_AFTER_MS + CLOCK_ALLOWANCE_MS;

/** Rates that one process keeps: the ones it has used last. */
const MEMORY_RATES = 10_000;

/** The furthest ahead that a call may be due. */
function longestMs({ intervalMs, burst, debt = 0 }: RateLimit): number {
	return (burst + debt) * intervalMs;
}

function dueAt(state: RateState, limit: RateLimit, now: number): number {
	return hasCome(state.due, now, longestMs(limit) + CLOCK_ALLOWANCE_MS) ? now : state.due;
}

/** Takes one call now (`waitMs` is 0), leaving `keep` of the burst to others, or says when to ask again. */
export function takeCall(
	state: RateState,
	limit: RateLimit,
	{ now, keep }: { now: number; keep: number },
): { readonly waitMs: number; readonly state: RateState } {
	if (!hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS)) return { waitMs: state.pausedUntil - now, state };
	const due = dueAt(state, limit, now);
	const ahead = Math.max(0, limit.burst - 1 - keep) * limit.intervalMs;
	const waitMs = Math.ceil(due - ahead - now);
	if (waitMs > 0) return { waitMs, state };
	return { waitMs: 0, state: { due: due + limit.intervalMs, pausedUntil: 0 } };
}

/** @param cells in the database for replicas, in memory for a single process */
export function createRateLimiter(cells: RateCells = createMemoryRates()): RateLimiter {
	return {
		take: (key, limit, options) =>
			cells.of(key).update((before) => {
				const { waitMs, state } = takeCall(before ?? FRESH_RATE, limit, options);
				return { state, result: waitMs };
			}),
		charge: (key, limit, { now, count }) =>
			cells.of(key).update((before) => {
				const state = before ?? FRESH_RATE;
				const due = Math.min(dueAt(state, limit, now) + count * limit.intervalMs, now + longestMs(limit));
				return { state: { ...state, due }, result: undefined };
			}),
		pause: (key, until, now) =>
			cells.of(key).update((before) => {
				const state = before ?? FRESH_RATE;
				const pausedUntil = hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS)
					? until
					: Math.max(state.pausedUntil, until);
				return { state: { ...state, pausedUntil }, result: undefined };
			}),
		forget: (before) => cells.forget(before),
	};
}

function createMemoryRates(): RateCells {
	const cells = new Map<string, Cell<RateState>>();
	return {
		of(key) {
			const cell = cells.get(key) ?? createMemoryCell();
			setBounded(cells, key, cell, MEMORY_RATES);
			return cell;
		},
		// Bounded by their number.
		forget: async () => undefined,
	};
}
