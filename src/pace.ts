import { CLOCK_ALLOWANCE_MS, hasCome } from './clock.ts';
import { LONGEST_RETRY_AFTER_MS } from './errors.ts';

/** One rate that callers share: `intervalMs` between calls on average, up to `burst` of them at once. */
export interface Pace {
	readonly intervalMs: number;
	readonly burst: number;
	/** How many calls may be charged beyond the burst, after they were made (`charge`). */
	readonly debt?: number;
}

/** Rates by name, of Slack's methods and of people; in the database when replicas share them. */
export interface Paces {
	/** Takes one call of `key` now (0) or says in how many ms to ask again. Leaves `keep` of the burst to others. */
	take(key: string, pace: Pace, options: { now: number; keep: number }): Promise<number>;
	/** Counts `count` more calls of `key`, whether there is room or not, up to the pace's `debt`. */
	charge(key: string, pace: Pace, options: { now: number; count: number }): Promise<void>;
	/** Nothing of `key` before `until` (Slack answered 429), which is at most `LONGEST_RETRY_AFTER_MS` from now. */
	pause(key: string, until: number, now: number): Promise<void>;
	/** Removes rates that have not been used since `before`: they are as new. */
	forget(before: number): Promise<void>;
}

/** One rate as the generic cell rate algorithm keeps it: clock milliseconds. */
export interface PaceState {
	/** When the next call is due at an even pace; in the past when there was none for a while. */
	readonly due: number;
	readonly pausedUntil: number;
}

export const freshPace: PaceState = { due: 0, pausedUntil: 0 };

/** A pause further ahead was noted before a clock was put back: it is none. */
export const LONGEST_PAUSE_MS = LONGEST_RETRY_AFTER_MS + CLOCK_ALLOWANCE_MS;

export type PaceDecision =
	| { readonly waitMs: 0; readonly state: PaceState }
	| { readonly waitMs: number; readonly state: null };

/** The furthest ahead that a call may be due. */
function longestMs({ intervalMs, burst, debt = 0 }: Pace): number {
	return (burst + debt) * intervalMs;
}

function dueAt(state: PaceState, pace: Pace, now: number): number {
	return hasCome(state.due, now, longestMs(pace) + CLOCK_ALLOWANCE_MS) ? now : state.due;
}

/** Takes one call now, leaving `keep` of the burst to others, or says when to ask again. */
export function takePace(state: PaceState, pace: Pace, now: number, keep: number): PaceDecision {
	if (!hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS)) return { waitMs: state.pausedUntil - now, state: null };
	const due = dueAt(state, pace, now);
	const ahead = Math.max(0, pace.burst - 1 - keep) * pace.intervalMs;
	const waitMs = Math.ceil(due - ahead - now);
	if (waitMs > 0) return { waitMs, state: null };
	return { waitMs: 0, state: { due: due + pace.intervalMs, pausedUntil: 0 } };
}

/** Counts `count` more calls. */
export function chargePace(state: PaceState, pace: Pace, now: number, count: number): PaceState {
	const due = Math.min(dueAt(state, pace, now) + count * pace.intervalMs, now + longestMs(pace));
	return { ...state, due };
}

/** For a single process. */
export function createPaces(): Paces {
	const states = new Map<string, PaceState>();

	function keep(key: string, state: PaceState, now: number): void {
		for (const [other, { due, pausedUntil }] of states) if (due < now && pausedUntil < now) states.delete(other);
		states.set(key, state);
	}

	return {
		async take(key, pace, { now, keep: kept }) {
			const decision = takePace(states.get(key) ?? freshPace, pace, now, kept);
			if (decision.state !== null) keep(key, decision.state, now);
			return decision.waitMs;
		},
		async charge(key, pace, { now, count }) {
			keep(key, chargePace(states.get(key) ?? freshPace, pace, now, count), now);
		},
		async pause(key, until, now) {
			const state = states.get(key) ?? freshPace;
			const before = hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS) ? 0 : state.pausedUntil;
			states.set(key, { ...state, pausedUntil: Math.max(before, until) });
		},
		// Those are removed with every call.
		forget: async () => undefined,
	};
}
