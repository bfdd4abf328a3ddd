import type { Clock } from '../clock.ts';
import { type BudgetCell, createBudgetCell } from './budget-cell.ts';
import { grantWaiting, inTurns } from './budget-queue.ts';
import { type BudgetState, type BudgetStats, decide, emptyBudgetState, observed, usageAt } from './budget-state.ts';
import { RateLimitedError } from './errors.ts';

/** Who waits for a request: an answer's delivery, a person who looks at a loading view, or watching. */
export type RequestPriority = 'delivery' | 'person' | 'background';

/** What an answer of the service says about its limit, in its own units (counts and seconds). */
export interface RateLimitObservation {
	readonly limit?: number;
	readonly remaining?: number;
	readonly resetSeconds?: number;
	/** Of a 429: nothing may be sent for so long. */
	readonly retryAfterSeconds?: number;
}

/** Leave to send `count` requests now. */
interface BudgetGrant {
	readonly count: number;
	/** The running number of the grant's last request; see `observe`. */
	readonly sequence: number;
}

/**
 * The one counter for everything sent to the session service, which counts by client address and not by key. One
 * process keeps it in memory; replicas that share an address keep it in one row of their database (`BudgetCell`).
 * The arithmetic is `budget-state.ts`.
 */
export interface RequestBudget {
	/**
	 * Waits for leave to send `count` requests (default 1). People take turns: `person` says whose turn a person's request uses.
	 * @throws RateLimitedError when it is certain that none is given before `deadline` (clock milliseconds)
	 * @throws the signal's reason when aborted first; then nothing is charged
	 */
	acquire(
		priority: RequestPriority,
		options?: { count?: number; signal?: AbortSignal; deadline?: number; person?: string },
	): Promise<BudgetGrant>;
	/**
	 * Takes note of an answer's headers. `sequence` is the running number of the request they answer, so that requests
	 * granted since, which they cannot have counted, are charged against `remaining`.
	 */
	observe(headers: RateLimitObservation, sequence: number): void;
	stats(): BudgetStats;
}

const PRIORITIES: readonly RequestPriority[] = ['delivery', 'person', 'background'];
/** Milliseconds until the next try when the cell cannot be had. */
const CELL_RETRY_MS = 1_000;

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	readonly person: string;
	readonly deadline: number;
	resolve(grant: BudgetGrant): void;
	reject(error: unknown): void;
}

/**
 * The budget of one process, or one process' side of a shared one. Who goes first: `budget-queue.ts`.
 *
 * While the cell cannot be had (a database that is away) nothing is granted, and everybody waits up to their deadline.
 *
 * @param requestsPerMinute at least 10, or a delivery's pair would not fit beside anything else; 250 is what the
 * service allows a client address
 */
export function createRequestBudget({
	requestsPerMinute = 250,
	clock,
	cell = createBudgetCell(),
}: {
	requestsPerMinute?: number;
	clock: Clock;
	cell?: BudgetCell;
}): RequestBudget {
	if (!Number.isInteger(requestsPerMinute) || requestsPerMinute < 10) {
		throw new RangeError(`requestsPerMinute is a whole number of at least 10, got ${requestsPerMinute}`);
	}
	const queues: Record<RequestPriority, Waiter[]> = { delivery: [], person: [], background: [] };
	/** The newest state seen: good for statistics and for telling who waits in vain, not for granting. */
	let known: BudgetState = emptyBudgetState;
	/** Of those who had a turn while anybody waited. */
	const lastTurns = new Map<string, number>();
	let turn = 0;
	let alarm: { readonly at: number; cancel(): void } | null = null;
	let granting = false;
	let grantAgain = false;

	function update<R>(change: (state: BudgetState) => { state: BudgetState; result: R }): Promise<R> {
		return cell.update((state) => {
			const changed = change(state ?? emptyBudgetState);
			known = changed.state;
			return changed;
		});
	}

	function waiting(): Waiter[] {
		return PRIORITIES.flatMap((priority) => queues[priority]);
	}

	function remove(waiter: Waiter): boolean {
		const queue = queues[waiter.priority];
		const index = queue.indexOf(waiter);
		if (index < 0) return false;
		queue.splice(index, 1);
		return true;
	}

	function refuse(waiter: Waiter, retryAt: number): void {
		if (!remove(waiter)) return;
		const now = clock.now();
		waiter.reject(new RateLimitedError('The request budget has nothing free in time', { retryAt, now }));
	}

	/** When this one could have its turn if nobody else were there. */
	function earliest(waiter: Waiter, now: number): number {
		const decision = decide(known, now, requestsPerMinute, waiter.priority, waiter.count);
		return decision.granted ? now : decision.retryAt;
	}

	/** After news of a pause: whoever cannot wait that long hears it now. */
	function refuseThePaused(): void {
		if (known.pausedUntil <= clock.now()) return;
		for (const waiter of waiting()) if (waiter.deadline < known.pausedUntil) refuse(waiter, known.pausedUntil);
	}

	/** Grants what can be granted, one round at a time, until nothing has changed during a round. */
	async function grant(): Promise<void> {
		grantAgain = true;
		if (granting) return;
		granting = true;
		while (grantAgain) {
			grantAgain = false;
			const nextAt = await grantRound().catch(() => clock.now() + CELL_RETRY_MS);
			setAlarm(refuseTheLate(nextAt));
		}
		granting = false;
	}

	async function grantRound(): Promise<number> {
		if (waiting().length === 0) return Number.POSITIVE_INFINITY;
		const now = clock.now();
		if (queues.person.length === 0) lastTurns.clear();
		const person = inTurns(queues.person, lastTurns);
		const asked = { delivery: [...queues.delivery], person, background: [...queues.background] };
		const { sequences, nextAt } = await update((state) => {
			const grants = grantWaiting(state, now, requestsPerMinute, asked);
			return { state: grants.state, result: grants };
		});
		for (const priority of PRIORITIES) {
			for (const [index, sequence] of sequences[priority].entries()) {
				const waiter = asked[priority][index];
				if (waiter !== undefined && priority === 'person') lastTurns.set(waiter.person, ++turn);
				// One that left meanwhile leaves its requests unused.
				if (waiter !== undefined && remove(waiter)) waiter.resolve({ count: waiter.count, sequence });
			}
		}
		return nextAt;
	}

	/** @returns the next moment to look again: `nextAt` or somebody's deadline */
	function refuseTheLate(nextAt: number): number {
		const now = clock.now();
		let next = nextAt;
		for (const waiter of waiting()) {
			if (waiter.deadline <= now) refuse(waiter, Math.max(now, earliest(waiter, now)));
			else next = Math.min(next, waiter.deadline);
		}
		return waiting().length === 0 ? Number.POSITIVE_INFINITY : next;
	}

	function setAlarm(at: number): void {
		if (alarm?.at === at) return;
		alarm?.cancel();
		alarm = null;
		if (at === Number.POSITIVE_INFINITY) return;
		const controller = new AbortController();
		const mine = { at, cancel: () => controller.abort() };
		alarm = mine;
		clock.sleep(Math.max(0, at - clock.now()), controller.signal).then(
			() => {
				if (alarm === mine) alarm = null;
				void grant();
			},
			() => undefined,
		);
	}

	return {
		acquire(priority, { count = 1, signal, deadline = Number.POSITIVE_INFINITY, person = '' } = {}) {
			return new Promise<BudgetGrant>((resolve, reject) => {
				if (signal?.aborted) {
					reject(signal.reason);
					return;
				}
				const abort = () => {
					if (!remove(waiter)) return;
					reject(signal?.reason);
					void grant();
				};
				const settled = () => signal?.removeEventListener('abort', abort);
				const waiter: Waiter = {
					priority,
					count,
					person,
					deadline,
					resolve: (granted) => {
						settled();
						resolve(granted);
					},
					reject: (error) => {
						settled();
						reject(error);
					},
				};
				signal?.addEventListener('abort', abort, { once: true });
				queues[priority].push(waiter);
				const at = earliest(waiter, clock.now());
				if (at > deadline) refuse(waiter, at);
				else void grant();
			});
		},
		observe(headers, sequence) {
			const now = clock.now();
			update((state) => ({
				state: observed(state, now, requestsPerMinute, headers, sequence),
				result: undefined,
			})).then(
				() => {
					refuseThePaused();
					void grant();
				},
				// Lost, as an answer that never came would be: the next one says it again.
				() => undefined,
			);
		},
		stats() {
			const usage = usageAt(known, clock.now(), requestsPerMinute);
			return {
				limit: usage.limit,
				used: { delivery: usage.delivery, person: usage.person, background: usage.background },
				free: usage.free,
				pausedUntil: known.pausedUntil,
				waiting: {
					delivery: queues.delivery.length,
					person: queues.person.length,
					background: queues.background.length,
				},
			};
		},
	};
}
