import { type Cell, type Clock, createMemo, createMemoryCell, createWaker, unlessAborted } from '../core/basics.ts';
import {
	type Asking,
	type BudgetState,
	backgroundRates,
	decide,
	EMPTY_BUDGET_STATE,
	grantWaiting,
	inOrder,
	isLimitedByService,
	observed,
	type RateLimitObservation,
	usageAt,
} from './budget-state.ts';
import { createReadWindow } from './health.ts';
import { type BackgroundBudget, type RequestPriority, SessionServiceError } from './service.ts';

export type RequestBudget = ReturnType<typeof createRequestBudget>;

const CELL_RETRY_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** The service is slow while each of the newest calls took this long. */
const SLOW_MS = 3_000;
const NEWEST_CALLS = 3;
/** Then a request waits this much longer than its deadline for its turn. */
const TURN_MS = 60_000;
const MOST_AT_ONCE = 16;

interface Waiter extends Required<Asking> {
	/** People take turns: whose turn the request uses. */
	readonly person: string;
	/** Clock milliseconds. */
	readonly deadline: number;
	resolve(sequence: number): void;
	reject(error: unknown): void;
}

type PermitOptions = Partial<Pick<Waiter, 'count' | 'person' | 'ahead' | 'deadline'>> & {
	signal?: AbortSignal | undefined;
};

/**
 * The one counter of requests to the session service: in memory, or in a row that replicas share. While that row cannot
 * be read, nothing is granted and everybody waits up to their deadline. A slow service gets one request of this process
 * after another, in the same order, or as many as do not make it slower: they would time out behind each other.
 * @param requestsPerMinute at least 10, so that the pair of a delivery fits; the service allows an address 250
 */
export function createRequestBudget(options: {
	requestsPerMinute?: number;
	clock: Clock;
	cell?: Cell<BudgetState>;
	/** Nothing is granted beside the first request until its end: nobody knows yet whether the service is slow. */
	firstAlone?: boolean;
}) {
	const { requestsPerMinute = 250, clock, cell = createMemoryCell(clock), firstAlone = false } = options;
	/** In the order of asking. */
	const waiting = new Set<Waiter>();
	/** The newest state that this process has seen: for statistics and hopeless deadlines, never for granting. */
	const latest = createMemo<BudgetState>(clock, () => EMPTY_BUDGET_STATE);
	/** The number of each person's last turn; cleared when no person waits. */
	const lastTurns = new Map<string, number>();
	let turn = 0;
	/** Requests a second. */
	let reserved = 0;
	/** Granted and not ended, by sequence number, with what to call at the end. The pair of a delivery is one. */
	const underWay = new Map<number, (tookMs: number | null) => void>();
	const window = createReadWindow({ most: MOST_AT_ONCE, clock });
	let newestMs: readonly number[] = [];
	const waker = createWaker(clock);
	let isServing = false;

	function update<R>(change: (state: BudgetState) => { state: BudgetState; result: R }): Promise<R> {
		return cell.update((state) => {
			const changed = change(state ?? EMPTY_BUDGET_STATE);
			latest.set(changed.state);
			return changed;
		});
	}

	const limits = () => ({ limit: requestsPerMinute, reserved });
	const waitingCount = (of: RequestPriority) => Array.from(waiting).filter(({ priority }) => priority === of).length;

	let isKnown = !firstAlone;
	/** Whether requests wait for each other. */
	const isSlow = () => (newestMs.length > 0 ? newestMs.every((ms) => ms >= SLOW_MS) : !isKnown);
	const usage = () => usageAt(latest.get(), clock.now(), requestsPerMinute);

	function refuse(waiter: Waiter, retryAt: number): void {
		if (!waiting.delete(waiter)) return;
		const code = isLimitedByService(latest.get(), clock.now(), requestsPerMinute) ? 'rate_limited' : 'no_permit';
		waiter.reject(new SessionServiceError(code, 'The request budget has no permit before the deadline', { retryAt }));
	}

	/** When this request could be granted if no other one waited. */
	function earliestAt({ priority, count, ahead }: Waiter, now: number): number {
		const decision = decide(latest.get(), { ...limits(), now, priority, count, ahead });
		return decision.granted ? now : decision.retryAt;
	}

	/** Grants what can be granted until nobody waits. Ends its pause when it is already running. */
	async function serve(): Promise<void> {
		waker.wake();
		if (isServing) return;
		isServing = true;
		while (waiting.size > 0) {
			waker.clear();
			const nextAt = await grant().catch(() => clock.now() + CELL_RETRY_MS);
			const waitMs = refuseTheLate(nextAt) - clock.now();
			// The clock may be set meanwhile.
			if (waiting.size > 0) await waker.wait(Math.min(waitMs, LONGEST_PAUSE_MS));
		}
		isServing = false;
	}

	/** @returns the next moment at which something may be granted */
	async function grant(): Promise<number> {
		const now = clock.now();
		if (waitingCount('person') === 0) lastTurns.clear();
		const room = isSlow() ? Math.max(0, window.size() - underWay.size) : Number.POSITIVE_INFINITY;
		const asking = inOrder(waiting, lastTurns).slice(0, room);
		if (asking.length === 0) return Number.POSITIVE_INFINITY;
		const { granted, nextAt } = await update((state) => {
			const result = grantWaiting(state, now, limits(), asking);
			return { state: result.state, result };
		});
		for (const { waiter, sequence } of granted) {
			if (waiter.priority === 'person') lastTurns.set(waiter.person, ++turn);
			// The requests of a waiter that has left are not used.
			if (!waiting.delete(waiter)) continue;
			underWay.set(sequence, window.begin());
			waiter.resolve(sequence);
		}
		return nextAt;
	}

	/** @returns when to grant again: at `nextAt` or the first deadline */
	function refuseTheLate(nextAt: number): number {
		const now = clock.now();
		const turnMs = isSlow() ? TURN_MS : 0;
		let next = nextAt;
		for (const waiter of waiting) {
			const isLate = waiter.deadline + turnMs <= now || waiter.deadline < latest.get().pausedUntil;
			if (isLate) refuse(waiter, Math.max(now, earliestAt(waiter, now)));
			else next = Math.min(next, waiter.deadline + turnMs);
		}
		return next;
	}

	return {
		/**
		 * Resolves to the sequence number of the last of `count` requests, for `observe` and `ended`.
		 * @throws SessionServiceError `no_permit` or `rate_limited` if none comes in time; the signal's reason, uncharged
		 */
		async acquire(priority: RequestPriority, options: PermitOptions = {}): Promise<number> {
			const { count = 1, signal, deadline = Number.POSITIVE_INFINITY, person = '', ahead = false } = options;
			signal?.throwIfAborted();
			const { promise, resolve, reject } = Promise.withResolvers<number>();
			const waiter: Waiter = { priority, count, person, ahead, deadline, resolve, reject };
			waiting.add(waiter);
			const at = earliestAt(waiter, clock.now());
			if (at > deadline) refuse(waiter, at);
			else void serve();
			return unlessAborted(promise, signal, () => {
				waiting.delete(waiter);
				void serve();
			});
		},
		/** Takes in the headers of the response to the request number `sequence`, as `observed` says. Never throws. */
		observe(headers: RateLimitObservation, sequence: number): void {
			const now = clock.now();
			update((state) => ({
				state: observed(state, headers, { now, limit: requestsPerMinute, sequence }),
				result: undefined,
			})).then(
				serve,
				// The headers are lost; the next response has new ones.
				() => undefined,
			);
		},
		/** The request has ended, and took this long if that is known; with the number of a pair: all of it. */
		ended(sequence: number, tookMs: number | null): void {
			isKnown = true;
			if (tookMs !== null) newestMs = [...newestMs, tookMs].slice(-NEWEST_CALLS);
			underWay.get(sequence)?.(tookMs);
			if (underWay.delete(sequence) && waiting.size > 0) void serve();
		},
		usage,
		waiting: waitingCount,
		background: {
			reserve(perSecond) {
				reserved = perSecond;
			},
			rates: () => backgroundRates(usage(), reserved),
			pausedUntil: () => latest.get().pausedUntil,
			waiting: () => waitingCount('background'),
		} satisfies BackgroundBudget,
	};
}
