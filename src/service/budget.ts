import { type Clock, createWaker, unlessAborted } from '../kernel/clock.ts';
import { type Cell, createMemo, createMemoryCell } from '../kernel/memory.ts';
import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import { type RequestPriority, SessionServiceError } from './service.ts';

/** What the headers of a response say. */
export interface RateLimitObservation {
	/** Requests a minute. */
	readonly limit?: number | undefined;
	readonly remaining?: number | undefined;
	readonly resetSeconds?: number | undefined;
	/** Of a 429: how long nothing may be sent. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * A token bucket as plain data, which replicas share in a database row. Times are clock milliseconds. The service
 * counts in fixed windows of a minute for each client address: a full bucket, and what fills it within a window, are
 * its limit.
 */
export interface BudgetState {
	/** Requests that may be sent, at the moment `at`. From then on the bucket fills. */
	readonly level: number;
	readonly at: number;
	/** Fewer that the service has left until its window ends, as others behind our address use it too. */
	readonly left: number;
	readonly leftUntil: number;
	/** After a 429: nothing is granted before this. */
	readonly pausedUntil: number;
	/** The limit that the service names, if lower than ours; else null. */
	readonly serviceLimit: number | null;
}

/** 2 s more than the service's window, because requests take different times to arrive. */
const WINDOW_MS = 62_000;

/** Of `limit` requests a minute: what is kept for deliveries, and for people besides; the bucket; what fills it. */
export function sizesOf(limit: number) {
	const third = Math.floor(limit / 3);
	const delivery = Math.min(third, Math.max(2, Math.round(limit * 0.08)));
	const person = Math.min(third, Math.max(1, Math.round(limit * 0.14)));
	// A few for watching may go at once after a pause.
	const capacity = delivery + person + Math.max(1, Math.round(limit / 60));
	const perMs = Math.max(1, limit - capacity) / WINDOW_MS;
	return { kept: { delivery: 0, person: delivery, background: delivery + person }, capacity, perMs };
}

/** The pair of a delivery must always fit, or a nonsensical limit of the service would stop deliveries for good. */
const LEAST_LIMIT = 3;

function sizesIn({ serviceLimit }: BudgetState, limit: number) {
	return sizesOf(serviceLimit === null ? limit : Math.max(LEAST_LIMIT, Math.min(limit, serviceLimit)));
}

const filledAt = ({ level, at }: BudgetState, { capacity, perMs }: ReturnType<typeof sizesOf>, now: number) =>
	Math.min(capacity, level + Math.max(0, now - at) * perMs);

const levelAt = (state: BudgetState, sizes: ReturnType<typeof sizesOf>, now: number) =>
	Math.min(filledAt(state, sizes, now), state.leftUntil > now ? state.left : sizes.capacity);

/** The state in which these requests are taken; or when they can be, if nothing else is before. */
function take(state: BudgetState, limit: number, asked: Pick<Waiter, 'priority' | 'count'>, now: number) {
	if (state.pausedUntil > now) return { state: null, retryAt: state.pausedUntil };
	const sizes = sizesIn(state, limit);
	const needed = sizes.kept[asked.priority] + asked.count;
	const filled = filledAt(state, sizes, now);
	if (levelAt(state, sizes, now) >= needed) {
		const left = state.left - asked.count;
		return { state: { ...state, level: filled - asked.count, at: Math.max(state.at, now), left }, retryAt: now };
	}
	const filledIn = Math.ceil(Math.max(0, needed - filled) / sizes.perMs);
	const isLeft = state.leftUntil <= now || state.left >= needed;
	return { state: null, retryAt: Math.max(Math.max(state.at, now) + filledIn, isLeft ? now : state.leftUntil) };
}

/**
 * The state after a response with these headers, while `underWay` requests were not answered yet; the same when they
 * say nothing new. The service has less left than we reckon when others behind our address use it: then no more is sent
 * until its window ends.
 */
function observed(
	state: BudgetState,
	headers: RateLimitObservation,
	{ now, limit, underWay }: { now: number; limit: number; underWay: number },
): BudgetState {
	const { limit: named = 0, remaining, resetSeconds, retryAfterSeconds } = headers;
	const ahead = (seconds: number) => now + Math.min(seconds * 1000, LONGEST_RETRY_AFTER_MS);
	const serviceLimit = named > 0 ? (named < limit ? named : null) : state.serviceLimit;
	let next = serviceLimit === state.serviceLimit ? state : { ...state, serviceLimit };
	if (remaining !== undefined && resetSeconds !== undefined) {
		const left = Math.max(0, remaining - underWay);
		if (left < levelAt(next, sizesIn(next, limit), now))
			next = { ...next, left, leftUntil: Math.max(next.leftUntil, ahead(resetSeconds)) };
	}
	if (retryAfterSeconds === undefined) return next;
	return { ...next, pausedUntil: Math.max(next.pausedUntil, ahead(Math.max(retryAfterSeconds, 1))) };
}

/** Deliveries, people in turns (whoever was served least recently first), then watching. `lastTurns`: from 1. */
function inOrder(waiting: Iterable<Waiter>, lastTurns: ReadonlyMap<string, number>): Waiter[] {
	const { delivery = [], person = [], background = [] } = Object.groupBy(waiting, ({ priority }) => priority);
	const turns = [...Map.groupBy(person, (one) => one.person)].flatMap(([id, own]) =>
		own.map((one, round) => ({ one, round, lastTurn: lastTurns.get(id) ?? 0 })),
	);
	turns.sort((a, b) => a.round - b.round || a.lastTurn - b.lastTurn);
	return [...delivery, ...turns.map(({ one }) => one), ...background];
}

const CELL_RETRY_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** The service is slow while each of the newest calls took this long, and until the first has ended. */
const SLOW_MS = 3_000;
const NEWEST_CALLS = 3;
/** Then so many requests of this process are under way: with more they would time out behind each other. */
const SLOW_AT_ONCE = 2;
/** A request waits this much longer than its deadline for its turn then. */
const TURN_MS = 60_000;

interface Waiter {
	readonly priority: RequestPriority;
	readonly count: number;
	/** Whose turn the request uses. */
	readonly person: string;
	/** Clock milliseconds. */
	readonly deadline: number;
	resolve(permit: Permit): void;
	reject(error: unknown): void;
}

/** Dispose of it when its request has ended; of a pair when both have. Twice is once. */
export type Permit = Disposable;

type PermitOptions = Partial<Pick<Waiter, 'count' | 'person' | 'deadline'>> & { signal?: AbortSignal | undefined };

export type RequestBudget = ReturnType<typeof createRequestBudget>;

/**
 * The one counter of requests to the session service: in memory, or in a row that replicas share. While that row cannot
 * be read, nothing is granted and everybody waits up to their deadline.
 * @param requestsPerMinute at least 10, so that the pair of a delivery fits; the service allows an address 250
 */
export function createRequestBudget(options: { requestsPerMinute?: number; clock: Clock; cell?: Cell<BudgetState> }) {
	const { requestsPerMinute: limit = 250, clock, cell = createMemoryCell(clock) } = options;
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
	/** The newest state that this process has seen: never for granting. */
	const latest = createMemo<BudgetState>(clock, full);
	/** The number of each person's last turn; cleared when no person waits. */
	const lastTurns = new Map<string, number>();
	let turn = 0;
	let underWay = 0;
	let newestMs: readonly number[] = [];
	/** A request has ended, whatever its outcome. */
	let isKnown = false;
	const waker = createWaker(clock);
	let isServing = false;

	function update<R>(change: (state: BudgetState) => { state: BudgetState; result: R }): Promise<R> {
		return cell.update((state) => {
			const changed = change(state ?? full());
			latest.set(changed.state);
			return changed;
		});
	}

	/** Whether each of the newest calls took this long. Until the first has ended nobody knows. */
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
		if (!Array.from(waiting).some(({ priority }) => priority === 'person')) lastTurns.clear();
		const room = isSlow() ? Math.max(0, SLOW_AT_ONCE - underWay) : Number.POSITIVE_INFINITY;
		const asking = inOrder(waiting, lastTurns).slice(0, room);
		if (asking.length === 0) return Number.POSITIVE_INFINITY;
		const { granted, nextAt } = await update((before) => {
			let state = before;
			for (const [index, waiter] of asking.entries()) {
				const taken = take(state, limit, waiter, now);
				// Those behind need at least as much.
				if (taken.state === null) return { state, result: { granted: asking.slice(0, index), nextAt: taken.retryAt } };
				({ state } = taken);
			}
			return { state, result: { granted: asking, nextAt: Number.POSITIVE_INFINITY } };
		});
		for (const waiter of granted) {
			if (waiter.priority === 'person') lastTurns.set(waiter.person, ++turn);
			// The requests of a waiter that has left are not used.
			if (waiting.delete(waiter)) waiter.resolve(begin(waiter));
		}
		return nextAt;
	}

	/** @returns when to grant again: at `nextAt` or the first deadline */
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
		/** @throws SessionServiceError `no_permit` or `rate_limited` if none comes in time; the signal's reason */
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
				// Granted in the same moment, the caller has the permit.
				waiting.delete(waiter);
				void serve();
			});
		},
		/** A call took this long. */
		took(ms: number): void {
			newestMs = [...newestMs, ms].slice(-NEWEST_CALLS);
		},
		/** Takes in what a response says. Never throws. */
		observe(headers: RateLimitObservation): void {
			// But for the one that was answered.
			const others = Math.max(0, underWay - 1);
			const change = (state: BudgetState) => observed(state, headers, { now: clock.now(), limit, underWay: others });
			const state = latest.get();
			if (change(state) === state) return;
			// When that fails, the headers are lost; the next response has new ones.
			update((before) => ({ state: change(before), result: undefined })).then(serve, () => undefined);
		},
		/** Requests that deliveries may send at once, as this process last saw it. */
		left: () => Math.floor(levelAt(latest.get(), sizesIn(latest.get(), limit), clock.now())),
		background: {
			isSlow,
			/** While people and deliveries ask for nothing, requests a second. */
			perSecond: () => 1_000 * sizesIn(latest.get(), limit).perMs,
			pausedUntil: () => latest.get().pausedUntil,
			/** When a request for watching may begin, if nobody asks before; null: somebody waits already. */
			freeAt: () =>
				waiting.size > 0 ? null : take(latest.get(), limit, { priority: 'background', count: 1 }, clock.now()).retryAt,
		},
	};
}

export type BackgroundBudget = RequestBudget['background'];
