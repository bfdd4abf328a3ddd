/** What watching may use of the session service. */
export interface BackgroundBudget {
	/** Requests a second that people and deliveries have left over recently; never 0. */
	backgroundPerSecond(): number;
	/** Nothing is sent before this (after a 429), clock milliseconds. */
	pausedUntil(): number;
	/** Reads of this process that wait for a permit. */
	waiting(): number;
}

/** The request budget (`session-service/budget.ts`) as watching sees it. */
export interface SharedBudget {
	/** The budget's statistics. */
	readonly figures: () => {
		readonly limit: number;
		readonly used: { readonly background: number };
		/** What may be granted now, before shares. */
		readonly free: number;
		readonly pausedUntil: number;
		readonly waiting: { readonly background: number };
	};
	/** What is kept for deliveries and people, of a limit. */
	readonly keptFor: (limit: number) => number;
}

/** The service's window, and the seconds by which the budget lengthens it. */
const WINDOW_SECONDS = 62;
/** The least rate to plan with, as a share of the limit. When less is free, the budget itself holds reads back. */
const LEAST_SHARE = 0.05;

/** Reads a second while people and deliveries ask for nothing: what a new watch can expect in the long run. */
export function usualReadsPerSecond({ figures, keptFor }: SharedBudget): number {
	const { limit } = figures();
	return (limit - keptFor(limit)) / WINDOW_SECONDS;
}

export function createBackgroundBudget({ figures, keptFor }: SharedBudget): BackgroundBudget {
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

/** `budget` as the schedule may plan with it: without `reservedPerSecond`, but at least a quarter. */
export function leaving(budget: BackgroundBudget, reservedPerSecond: () => number): BackgroundBudget {
	return {
		...budget,
		backgroundPerSecond() {
			const rate = budget.backgroundPerSecond();
			return Math.max(rate / 4, rate - reservedPerSecond());
		},
	};
}

/** How soon changes of a new watch are noticed, in seconds. */
export interface Expectation {
	/** The time to read every watched session once, in turn. */
	readonly roundSeconds: number;
	/** The typical time until a question of a working session is noticed (`npm run bench:watching`). */
	readonly typicalSeconds: number;
	/** The longest time between two reads of a session. */
	readonly longestSeconds: number;
	/** Slow enough to tell the person who adds the watch. */
	readonly slow: boolean;
}

/** The speed-up over half a round for a working session, as the simulation shows for 40 to 1,000 sessions. */
const QUICKER_THAN_A_ROUND = 6;
/** Even the quietest session is read within so many rounds (at least 15 s), as `schedule.ts` plans. */
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
