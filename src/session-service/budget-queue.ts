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
 * In whose turn each goes: everybody who waits once, then everybody again, whoever was served least recently first. Those
 * of one person stay in the order of asking.
 *
 * @param lastTurns the running number of each person's last turn, from 1; nobody else has had one
 */
export function inTurns<T extends { readonly person: string }>(
	waiting: readonly T[],
	lastTurns: ReadonlyMap<string, number>,
): T[] {
	const byPerson = Map.groupBy(waiting, ({ person }) => person);
	const people = [...byPerson].sort(([one], [other]) => (lastTurns.get(one) ?? 0) - (lastTurns.get(other) ?? 0));
	const turns: T[] = [];
	for (let round = 0; turns.length < waiting.length; round++) {
		for (const [, own] of people) {
			const next = own[round];
			if (next !== undefined) turns.push(next);
		}
	}
	return turns;
}

/**
 * Grants what can be granted at `now`: deliveries first, then people, then background, each in the order of its queue.
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
