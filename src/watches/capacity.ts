import type { BackgroundBudget } from './ports.ts';

/** What is read of the request budget's statistics (`session-service/budget.ts`). */
export interface BudgetFigures {
	readonly limit: number;
	readonly used: { readonly background: number };
	/** What may be granted now, before shares. */
	readonly free: number;
	readonly pausedUntil: number;
	readonly waiting: { readonly background: number };
}

/** The service's window, and the seconds by which the budget lengthens it. */
const WINDOW_SECONDS = 62;
/** Below this nothing can be planned; the budget itself holds the reads back then. */
const LEAST_SHARE = 0.05;

/** What background has a second while people and deliveries ask for nothing: what a watch may expect in the long run. */
export function usuallyPerSecond(limit: number, kept: number): number {
	return (limit - kept) / WINDOW_SECONDS;
}

/**
 * What background may use, from the budget's figures: what is free and what background used itself, less what is kept
 * for deliveries and people (`keptFor` of the limit), over the window.
 */
export function createBackgroundBudget({
	figures,
	keptFor,
}: {
	figures: () => BudgetFigures;
	keptFor: (limit: number) => number;
}): BackgroundBudget {
	return {
		backgroundPerSecond() {
			const { limit, free, used } = figures();
			const share = free + used.background - keptFor(limit);
			return Math.max(share, LEAST_SHARE * limit) / WINDOW_SECONDS;
		},
		pausedUntil: () => figures().pausedUntil,
		waiting: () => figures().waiting.background,
	};
}

/** What somebody who adds a watch may expect of a session at work, and of a quiet one, in seconds. */
export interface Expectation {
	/** In which every watched session would be read once, were all read in turn. */
	readonly roundSeconds: number;
	/** Until a question of a session at work is noticed, typically (`npm run bench:watching`). */
	readonly typicalSeconds: number;
	/** The longest a session goes unread. */
	readonly longestSeconds: number;
	/** Worth saying before it is added. */
	readonly slow: boolean;
}

/** A session at work is noticed in half a round over this, as the simulation shows from 40 to 1,000 sessions. */
const QUICKER_THAN_A_ROUND = 6;
/** Rounds after which even the quietest session was read, and never sooner than 15 s. */
const LONGEST_ROUNDS = 2.5;
const SLOW_SECONDS = 60;

export function expectationFor(watched: number, readsPerSecond: number): Expectation {
	const roundSeconds = watched / Math.max(readsPerSecond, 1e-3);
	return {
		roundSeconds,
		typicalSeconds: Math.max(1, roundSeconds / 2 / QUICKER_THAN_A_ROUND),
		longestSeconds: Math.max(15, roundSeconds * LONGEST_ROUNDS),
		slow: roundSeconds > SLOW_SECONDS,
	};
}
