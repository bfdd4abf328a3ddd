import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import type { RequestPriority } from './service.ts';

/** What the rate limit headers of a response say. */
export interface RateLimitObservation {
	/** Requests a minute. */
	readonly limit?: number | undefined;
	readonly remaining?: number | undefined;
	readonly resetSeconds?: number | undefined;
	/** Set for a 429: how long nothing may be sent. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * A token bucket as plain data, which replicas share in a database row. Times are clock milliseconds. The service
 * counts in fixed windows of a minute for each client address. A full bucket plus what flows in within a window is
 * exactly its limit.
 */
export interface BudgetState {
	/** Requests in the bucket at the moment `at`. From then on it fills. */
	readonly level: number;
	readonly at: number;
	/** Requests that the service has left until `leftUntil`: fewer than ours, when others use our address too. */
	readonly left: number;
	readonly leftUntil: number;
	/** After a 429, nothing is granted before this time. */
	readonly pausedUntil: number;
	/** The service's limit in requests a minute, if it is lower than ours; else null. */
	readonly serviceLimit: number | null;
}

/** The service's window and 2 s, because requests take different times to arrive. */
const WINDOW_MS = 62_000;

/**
 * How `limit` requests a minute are divided. `kept`: what each priority must leave in the bucket for those before it.
 * `capacity`: the size of the bucket. `perMs`: what flows in.
 */
export function sizesOf(limit: number) {
	const third = Math.floor(limit / 3);
	const delivery = Math.min(third, Math.max(2, Math.round(limit * 0.08)));
	const person = Math.min(third, Math.max(1, Math.round(limit * 0.14)));
	// After a pause, watching may send a few at once.
	const capacity = delivery + person + Math.max(1, Math.round(limit / 60));
	const perMs = Math.max(1, limit - capacity) / WINDOW_MS;
	return { kept: { delivery: 0, person: delivery, background: delivery + person }, capacity, perMs };
}

/** A delivery needs two requests. With a smaller limit of the service, deliveries would stop for good. */
const LEAST_LIMIT = 3;

export function sizesIn({ serviceLimit }: BudgetState, limit: number) {
	return sizesOf(serviceLimit === null ? limit : Math.max(LEAST_LIMIT, Math.min(limit, serviceLimit)));
}

const filledAt = ({ level, at }: BudgetState, { capacity, perMs }: ReturnType<typeof sizesOf>, now: number) =>
	Math.min(capacity, level + Math.max(0, now - at) * perMs);

export const levelAt = (state: BudgetState, sizes: ReturnType<typeof sizesOf>, now: number) =>
	Math.min(filledAt(state, sizes, now), state.leftUntil > now ? state.left : sizes.capacity);

interface Asked {
	readonly priority: RequestPriority;
	readonly count: number;
}

/** The state after taking these requests; or null, and when they can be taken if nobody takes others before. */
export function take(state: BudgetState, limit: number, asked: Asked, now: number) {
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
 * The state after a response with these headers; the same object when they say nothing new. `underWay`: requests
 * without a response yet. If the service has fewer left than the bucket, others use our address: then no more than that
 * is sent until its window ends.
 */
export function observed(
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
