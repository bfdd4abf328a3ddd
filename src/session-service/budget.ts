import type { Clock } from '../clock.ts';
import {
	type BudgetState,
	type BudgetStats,
	decide,
	emptyBudgetState,
	observed,
	usageAt,
	withinPeoplesShare,
} from './budget-state.ts';
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
export interface BudgetGrant {
	readonly count: number;
	/** The running number of the grant's last request; see `observe`. */
	readonly sequence: number;
}

/**
 * The one counter for everything sent to the session service, which counts by client address and not by key. One
 * process keeps it in memory; replicas that share an address share it through the database. The arithmetic of both
 * is `budget-state.ts`.
 */
export interface RequestBudget {
	/**
	 * Waits for leave to send `count` requests (default 1).
	 * @throws RateLimitedError when it is certain that none is given before `deadline` (clock milliseconds)
	 * @throws the signal's reason when aborted first; then nothing is charged
	 */
	acquire(
		priority: RequestPriority,
		options?: { count?: number; signal?: AbortSignal; deadline?: number },
	): Promise<BudgetGrant>;
	/**
	 * Takes note of an answer's headers. `sequence` is the running number of the request they answer, so that requests
	 * granted since, which they cannot have counted, are charged against `remaining`.
	 */
	observe(headers: RateLimitObservation, sequence: number): void;
	stats(): BudgetStats;
}

const PRIORITIES: readonly RequestPriority[] = ['delivery', 'person', 'background'];

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	readonly deadline: number;
	resolve(grant: BudgetGrant): void;
	reject(error: unknown): void;
}

/**
 * The budget of a single process.
 *
 * Within a priority first come, first served. A delivery that waits holds everything else back but people within
 * their share; a person who waits holds background back.
 *
 * @param requestsPerMinute at least 10, or a delivery's pair would not fit beside anything else; 250 is what the
 * service allows a client address
 */
export function createRequestBudget({
	requestsPerMinute = 250,
	clock,
}: {
	requestsPerMinute?: number;
	clock: Clock;
}): RequestBudget {
	if (!Number.isInteger(requestsPerMinute) || requestsPerMinute < 10) {
		throw new RangeError(`requestsPerMinute is a whole number of at least 10, got ${requestsPerMinute}`);
	}
	let state: BudgetState = emptyBudgetState;
	const queues: Record<RequestPriority, Waiter[]> = { delivery: [], person: [], background: [] };
	let alarm: { readonly at: number; cancel(): void } | null = null;

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

	function mayPass(waiter: Waiter, now: number): boolean {
		if (waiter.priority === 'delivery') return true;
		if (waiter.priority === 'background') return queues.delivery.length + queues.person.length === 0;
		return queues.delivery.length === 0 || withinPeoplesShare(state, now, requestsPerMinute, waiter.count);
	}

	/** Grants what can be granted now and sets the alarm for the next moment at which something changes by itself. */
	function pump(): void {
		const now = clock.now();
		let next = Number.POSITIVE_INFINITY;
		for (const priority of PRIORITIES) {
			for (let head = queues[priority][0]; head !== undefined; head = queues[priority][0]) {
				if (!mayPass(head, now)) break;
				const decision = decide(state, now, requestsPerMinute, priority, head.count);
				if (!decision.granted) {
					next = Math.min(next, decision.retryAt);
					break;
				}
				state = decision.state;
				queues[priority].shift();
				head.resolve({ count: head.count, sequence: state.granted });
			}
		}
		for (const waiter of waiting()) {
			if (waiter.deadline <= now) refuse(waiter, earliest(waiter, now));
			else next = Math.min(next, waiter.deadline);
		}
		setAlarm(next);
	}

	function waiting(): Waiter[] {
		return PRIORITIES.flatMap((priority) => queues[priority]);
	}

	function earliest(waiter: Waiter, now: number): number {
		const decision = decide(state, now, requestsPerMinute, waiter.priority, waiter.count);
		return decision.granted ? now : decision.retryAt;
	}

	/** After news of a pause: whoever cannot wait that long hears it now. */
	function refuseThePaused(): void {
		if (state.pausedUntil <= clock.now()) return;
		for (const waiter of waiting()) if (waiter.deadline < state.pausedUntil) refuse(waiter, state.pausedUntil);
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
				pump();
			},
			() => undefined,
		);
	}

	return {
		acquire(priority, { count = 1, signal, deadline = Number.POSITIVE_INFINITY } = {}) {
			return new Promise<BudgetGrant>((resolve, reject) => {
				if (signal?.aborted) {
					reject(signal.reason);
					return;
				}
				const abort = () => {
					if (!remove(waiter)) return;
					reject(signal?.reason);
					pump();
				};
				const settled = () => signal?.removeEventListener('abort', abort);
				const waiter: Waiter = {
					priority,
					count,
					deadline,
					resolve: (grant) => {
						settled();
						resolve(grant);
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
				pump();
			});
		},
		observe(headers, sequence) {
			state = observed(state, clock.now(), requestsPerMinute, headers, sequence);
			refuseThePaused();
			pump();
		},
		stats() {
			const usage = usageAt(state, clock.now(), requestsPerMinute);
			return {
				limit: usage.limit,
				used: { delivery: usage.delivery, person: usage.person, background: usage.background },
				free: usage.free,
				pausedUntil: state.pausedUntil,
				waiting: {
					delivery: queues.delivery.length,
					person: queues.person.length,
					background: queues.background.length,
				},
			};
		},
	};
}
