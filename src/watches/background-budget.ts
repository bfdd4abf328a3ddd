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
