import { type Clock, createWaker, unlessAborted } from '../kernel/clock.ts';
import { createMemo, createMemoryState, type SharedState } from '../kernel/memory.ts';
import { type RequestPriority, SessionServiceError } from './service.ts';
import {
	type BudgetState,
	levelAt,
	observed,
	type RateLimitObservation,
	sizesIn,
	sizesOf,
	take,
} from './token-bucket.ts';

/** Deliveries first, then people in turns (least recently served first), then watching. `lastTurns` counts from 1. */
function inOrder(waiting: Iterable<Waiter>, lastTurns: ReadonlyMap<string, number>): Waiter[] {
	const { delivery = [], person = [], background = [] } = Object.groupBy(waiting, ({ priority }) => priority);
	const turns = [...Map.groupBy(person, (one) => one.person)].flatMap(([id, own]) =>
		own.map((one, round) => ({ one, round, lastTurn: lastTurns.get(id) ?? 0 })),
	);
	turns.sort((a, b) => a.round - b.round || a.lastTurn - b.lastTurn);
	return [...delivery, ...turns.map(({ one }) => one), ...background];
}

const STATE_RETRY_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** The service counts as slow while each of the newest calls took this long, and until the first one has ended. */
const SLOW_MS = 3_000;
const NEWEST_CALLS = 3;
/** Requests of this process that a slow service gets at once. More would time out behind each other. */
const SLOW_AT_ONCE = 2;
/** With a slow service, a request may wait for its turn this much longer than its deadline. */
const TURN_MS = 60_000;

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	/** The person whose turn the request uses. */
	readonly person: string;
	/** Clock milliseconds. */
	readonly deadline: number;
	resolve(permit: Permit): void;
	reject(error: unknown): void;
}

/** The right to send requests. Dispose of it when they have ended. Disposing twice has no further effect. */
export type Permit = Disposable;

type PermitOptions = Partial<Pick<Waiter, 'count' | 'person' | 'deadline'>> & { signal?: AbortSignal | undefined };

export type RequestBudget = ReturnType<typeof createRequestBudget>;

/**
 * Grants requests to the session service, counted in memory or in a row that replicas share. While that row cannot be
 * read, nothing is granted, and everybody waits up to their deadline.
 * @param requestsPerMinute at least 10, so that the pair of a delivery fits; the service allows an address 250
 */
export function createRequestBudget(options: {
	requestsPerMinute?: number;
	clock: Clock;
	sharedState?: SharedState<BudgetState>;
}) {
	const { requestsPerMinute: limit = 250, clock, sharedState = createMemoryState(clock) } = options;
	const full = (): BudgetState => ({
		level: sizesOf(limit).capacity,
		at: 0,
		left: 0,
		leftUntil: 0,
		pausedUntil: 0,
		serviceLimit: null,
	});
	/** In the order of asking. */
	const waiting = new Set<Waiter>();
	/** The newest state that this process has seen. It is never used to grant, because replicas may have changed it. */
	const latest = createMemo<BudgetState>(clock, full);
	/** The number of each person's last turn. Cleared when no person waits. */
	const lastTurns = new Map<string, number>();
	let turn = 0;
	let underWay = 0;
	let newestMs: readonly number[] = [];
	/** A request has ended, with any outcome. */
	let isKnown = false;
	const waker = createWaker(clock);
	let isServing = false;

	function update<R>(change: (state: BudgetState) => { state: BudgetState; result: R }): Promise<R> {
		return sharedState.update((state) => {
			const changed = change(state ?? full());
			latest.set(changed.state);
			return changed;
		});
	}

	/** Whether each of the newest calls took this long. True until the first one has ended. */
	const isSlow = (least = SLOW_MS) => (newestMs.length > 0 ? newestMs.every((ms) => ms >= least) : !isKnown);

	function begin({ count }: Waiter): Permit {
		let isEnded = false;
		underWay += count;
		return {
			[Symbol.dispose]() {
				if (isEnded) return;
				isEnded = true;
				isKnown = true;
				underWay -= count;
				if (waiting.size > 0) void serve();
			},
		};
	}

	function refuse(waiter: Waiter, retryAt: number): void {
		if (!waiting.delete(waiter)) return;
		const { pausedUntil, leftUntil, serviceLimit } = latest.get();
		const isLimited = Math.max(pausedUntil, leftUntil) > clock.now() || serviceLimit !== null;
		const code = isLimited ? 'rate_limited' : 'no_permit';
		waiter.reject(new SessionServiceError(code, 'The request budget has no permit before the deadline', { retryAt }));
	}

	/** Grants until nobody waits. When it is already running, ends its pause. */
	async function serve(): Promise<void> {
		waker.wake();
		if (isServing) return;
		isServing = true;
		while (waiting.size > 0) {
			waker.clear();
			const nextAt = await grant().catch(() => clock.now() + STATE_RETRY_MS);
			const waitMs = refuseTheLate(nextAt) - clock.now();
			// Not longer, because the clock may be set meanwhile.
			if (waiting.size > 0) await waker.wait(Math.min(waitMs, LONGEST_PAUSE_MS));
		}
		isServing = false;
	}

	/** @returns the next moment at which something may be granted */
	async function grant(): Promise<number> {
		const now = clock.now();
		if (!Array.from(waiting).some(({ priority }) => priority === 'person')) lastTurns.clear();
		const room = isSlow() ? Math.max(0, SLOW_AT_ONCE - underWay) : Number.POSITIVE_INFINITY;
		const asking = inOrder(waiting, lastTurns).slice(0, room);
		if (asking.length === 0) return Number.POSITIVE_INFINITY;
		const { granted, nextAt } = await update((before) => {
			let state = before;
			for (const [index, waiter] of asking.entries()) {
				const taken = take(state, limit, waiter, now);
				// Those behind it need at least as much, so none of them can be granted.
				if (taken.state === null) return { state, result: { granted: asking.slice(0, index), nextAt: taken.retryAt } };
				({ state } = taken);
			}
			return { state, result: { granted: asking, nextAt: Number.POSITIVE_INFINITY } };
		});
		for (const waiter of granted) {
			if (waiter.priority === 'person') lastTurns.set(waiter.person, ++turn);
			// A waiter may have left meanwhile. Its requests are lost.
			if (waiting.delete(waiter)) waiter.resolve(begin(waiter));
		}
		return nextAt;
	}

	/** Refuses whoever is past their deadline. @returns when to grant again: at `nextAt` or the first deadline */
	function refuseTheLate(nextAt: number): number {
		const now = clock.now();
		const turnMs = isSlow() ? TURN_MS : 0;
		const state = latest.get();
		let next = nextAt;
		for (const waiter of waiting) {
			const isLate = waiter.deadline + turnMs <= now || waiter.deadline < state.pausedUntil;
			if (isLate) refuse(waiter, take(state, limit, waiter, now).retryAt);
			else next = Math.min(next, waiter.deadline + turnMs);
		}
		return next;
	}

	return {
		/** @throws SessionServiceError `no_permit` or `rate_limited` after the deadline; the signal's reason */
		async acquire(priority: RequestPriority, options: PermitOptions = {}): Promise<Permit> {
			const { count = 1, signal, deadline = Number.POSITIVE_INFINITY, person = '' } = options;
			signal?.throwIfAborted();
			const { promise, resolve, reject } = Promise.withResolvers<Permit>();
			const waiter: Waiter = { priority, count, person, deadline, resolve, reject };
			waiting.add(waiter);
			const { retryAt } = take(latest.get(), limit, waiter, clock.now());
			if (retryAt > deadline) refuse(waiter, retryAt);
			else void serve();
			return unlessAborted(promise, signal, () => {
				// If it was granted at the same moment, the caller has the permit.
				waiting.delete(waiter);
				void serve();
			});
		},
		/** Notes the duration of a call, to see whether the service is slow. */
		took(ms: number): void {
			newestMs = [...newestMs, ms].slice(-NEWEST_CALLS);
		},
		/** Notes the headers of a response. Never throws. */
		observe(headers: RateLimitObservation): void {
			// Without the one that this is the response to.
			const others = Math.max(0, underWay - 1);
			const change = (state: BudgetState) => observed(state, headers, { now: clock.now(), limit, underWay: others });
			const state = latest.get();
			if (change(state) === state) return;
			// If the update fails, the headers are lost. The next response has new ones.
			update((before) => ({ state: change(before), result: undefined })).then(serve, () => undefined);
		},
		/** Requests that deliveries may send at once, by the newest state that this process has seen. */
		left: () => Math.floor(levelAt(latest.get(), sizesIn(latest.get(), limit), clock.now())),
		background: {
			isSlow,
			/** Requests a second for watching, while people and deliveries need none. */
			perSecond: () => 1_000 * sizesIn(latest.get(), limit).perMs,
			pausedUntil: () => latest.get().pausedUntil,
			/** When a request for watching can begin, if nobody asks before; null: somebody waits already. */
			freeAt: () =>
				waiting.size > 0 ? null : take(latest.get(), limit, { priority: 'background', count: 1 }, clock.now()).retryAt,
		},
	};
}

export type BackgroundBudget = RequestBudget['background'];
