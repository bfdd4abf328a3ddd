import type { RequestPriority } from './budget.ts';
import { type BudgetState, decide, withinPeoplesShare } from './budget-state.ts';

/** Those who wait, by priority, each queue in the order of asking. */
export type Queues<T extends { readonly count: number } = { readonly count: number }> = Readonly<
	Record<RequestPriority, readonly T[]>
>;

export interface Grants {
	readonly state: BudgetState;
	/** For the first ones of each queue: the running number of their last request. */
	readonly sequences: Readonly<Record<RequestPriority, readonly number[]>>;
	/** When something may change by itself; infinity when nobody is left waiting. */
	readonly nextAt: number;
}

/**
 * Grants what can be granted at `now`: deliveries first, then people, then background, each first come, first served.
 * A delivery that waits holds everything else back but people within their share (or single requests would keep taking
 * what its pair waits for).
 */
export function grantWaiting(before: BudgetState, now: number, limit: number, queues: Queues): Grants {
	let state = before;
	let nextAt = Number.POSITIVE_INFINITY;

	function serve(priority: RequestPriority, mayPass: (count: number) => boolean): number[] {
		const sequences: number[] = [];
		for (const { count } of queues[priority]) {
			if (!mayPass(count)) break;
			const decision = decide(state, now, limit, priority, count);
			if (!decision.granted) {
				nextAt = Math.min(nextAt, decision.retryAt);
				break;
			}
			state = decision.state;
			sequences.push(state.granted);
		}
		return sequences;
	}

	const delivery = serve('delivery', () => true);
	const deliveriesWait = delivery.length < queues.delivery.length;
	const person = serve('person', (count) => !deliveriesWait || withinPeoplesShare(state, now, limit, count));
	// It needs both shares untouched, so it fits nowhere while anybody else waits.
	const background = serve('background', () => true);
	return { state, sequences: { delivery, person, background }, nextAt };
}
