import { CLOCK_ALLOWANCE_MS, hasCome } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Pace, Paces } from './ports.ts';

/** One rate as the generic cell rate algorithm keeps it: clock milliseconds. */
export interface PaceState {
	/** When the next call is due at an even pace; in the past when there was none for a while. */
	readonly due: number;
	readonly pausedUntil: number;
}

export const freshPace: PaceState = { due: 0, pausedUntil: 0 };

/** Posts: Slack takes about one a second in a channel. */
export const POST_PACE: Pace = { intervalMs: 1_050, burst: 1 };
/**
 * `chat.update`: about 50 a minute for the whole workspace. 40 evenly and a burst of 8 make at most 48 in any minute.
 */
export const UPDATE_PACE: Pace = { intervalMs: 1_500, burst: 8 };
/** A pause further ahead was noted before a clock was put back: it is none. */
export const LONGEST_PAUSE_MS = LONGEST_RETRY_AFTER_MS + CLOCK_ALLOWANCE_MS;
/** Of the burst, what progress leaves to questions, answers and endings. */
export const KEPT_FROM_PROGRESS = 6;

export type PaceDecision =
	| { readonly waitMs: 0; readonly state: PaceState }
	| { readonly waitMs: number; readonly state: null };

/** Takes one call now, leaving `keep` of the burst to others, or says when to ask again. */
export function takePace(state: PaceState, pace: Pace, now: number, keep: number): PaceDecision {
	if (!hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS)) return { waitMs: state.pausedUntil - now, state: null };
	const due = hasCome(state.due, now, pace.burst * pace.intervalMs + CLOCK_ALLOWANCE_MS) ? now : state.due;
	const ahead = Math.max(0, pace.burst - 1 - keep) * pace.intervalMs;
	const waitMs = Math.ceil(due - ahead - now);
	if (waitMs > 0) return { waitMs, state: null };
	return { waitMs: 0, state: { due: due + pace.intervalMs, pausedUntil: 0 } };
}

/** For a single process. */
export function createPaces(): Paces {
	const states = new Map<string, PaceState>();
	return {
		async take(key, pace, { now, keep }) {
			const decision = takePace(states.get(key) ?? freshPace, pace, now, keep);
			if (decision.state !== null) {
				for (const [other, state] of states) if (state.due < now && state.pausedUntil < now) states.delete(other);
				states.set(key, decision.state);
			}
			return decision.waitMs;
		},
		async pause(key, until, now) {
			const state = states.get(key) ?? freshPace;
			const before = hasCome(state.pausedUntil, now, LONGEST_PAUSE_MS) ? 0 : state.pausedUntil;
			states.set(key, { ...state, pausedUntil: Math.max(before, until) });
		},
	};
}
