import { hasCome } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';

/** Who waits for a request: an answer's delivery, a person who looks at a loading view, or watching. */
export type RequestPriority = 'delivery' | 'person' | 'background';

/** What a response of the service says about its limit, in its own units (counts and seconds). */
export interface RateLimitObservation {
	readonly limit?: number | undefined;
	readonly remaining?: number | undefined;
	readonly resetSeconds?: number | undefined;
	/** Of a 429: nothing may be sent for so long. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * The state of the request budget: plain data, so that one process and replicas that share a database row use the same
 * rules. Times are clock milliseconds.
 *
 * The service counts a fixed window of 60 s for each client address, and does not say where its windows begin. So grants
 * are counted in a sliding window, longer by the seconds by which requests may differ on their way: whichever 60 s the
 * service looks at, no more than the limit arrived in them.
 *
 * Shares: of every window deliveries are guaranteed 8 % and people 16 % (20 and 40 of 250). Neither can be used up by
 * the other or by background, however much these ask for; what is free beyond that goes to deliveries first, then
 * people. Background runs on what leaves both shares untouched, spread evenly.
 */
export interface BudgetState {
	/** Requests granted in one second of the clock: [second, deliveries, people, background], oldest first. */
	readonly buckets: readonly (readonly [second: number, delivery: number, person: number, background: number])[];
	/** Requests granted ever: the running number of the last one. */
	readonly granted: number;
	/** After a 429: nothing is granted before this. */
	readonly pausedUntil: number;
	/** The limit that the service names, when lower than ours; null while unknown. */
	readonly serviceLimit: number | null;
	/** What the service said it has left in its window, less what was granted since; others use it too. */
	readonly believed: { readonly remaining: number; readonly resetAt: number; readonly sequence: number } | null;
	/** The earliest even-paced time of the next background request, as in the generic cell rate algorithm. */
	readonly backgroundDue: number;
}

export type BudgetDecision =
	| { readonly granted: true; readonly state: BudgetState }
	/** `retryAt`: when it may be granted if nothing else is until then; always later than now. */
	| { readonly granted: false; readonly retryAt: number };

/** A grant leaves the count once its whole second is this far back: between 61 and 62 s later. */
const WINDOW_SECONDS = 62;
const SERVICE_WINDOW_MS = 60_000;
/** How many background requests may go at once after a quiet while; the rest is spread evenly. */
const BACKGROUND_BURST = 4;

export const EMPTY_BUDGET_STATE: BudgetState = {
	buckets: [],
	granted: 0,
	pausedUntil: 0,
	serviceLimit: null,
	believed: null,
	backgroundDue: 0,
};

/** The shares that are kept for deliveries and people in each window of `limit` requests. */
export function sharesOf(limit: number): { delivery: number; person: number } {
	const most = Math.floor(limit / 3);
	return {
		delivery: Math.min(most, Math.max(2, Math.round(limit * 0.08))),
		person: Math.min(most, Math.max(1, Math.round(limit * 0.16))),
	};
}

interface Usage {
	readonly limit: number;
	readonly delivery: number;
	readonly person: number;
	readonly background: number;
	readonly free: number;
}

function believedAt(state: BudgetState, now: number): { remaining: number; resetAt: number } | null {
	const { believed } = state;
	if (believed === null) return null;
	return hasCome(believed.resetAt, now, LONGEST_RETRY_AFTER_MS) ? null : believed;
}

/** Seconds further ahead than a window come from a clock that was put back: counting them would stop everything. */
function counts(second: number, now: number): boolean {
	return Math.abs(Math.floor(now / 1000) - second) < WINDOW_SECONDS;
}

function pausedAt(state: BudgetState, now: number): boolean {
	return !hasCome(state.pausedUntil, now, LONGEST_RETRY_AFTER_MS);
}

/** What is used and free at `now`. */
export function usageAt(state: BudgetState, now: number, limit: number): Usage {
	let delivery = 0;
	let person = 0;
	let background = 0;
	for (const [second, deliveries, people, polls] of state.buckets) {
		if (!counts(second, now)) continue;
		delivery += deliveries;
		person += people;
		background += polls;
	}
	// A pair for a delivery must always fit, or a service that announces nonsense would stop them for good.
	const most = state.serviceLimit === null ? limit : Math.max(2, Math.min(limit, state.serviceLimit));
	const own = most - delivery - person - background;
	const believed = believedAt(state, now);
	return { limit: most, delivery, person, background, free: believed ? Math.min(own, believed.remaining) : own };
}

/** Whole milliseconds between background requests so that what is theirs lasts evenly until it is renewed. */
function backgroundInterval(state: BudgetState, now: number, limit: number): number {
	const shares = sharesOf(limit);
	const kept = shares.delivery + shares.person;
	const even = Math.ceil(SERVICE_WINDOW_MS / Math.max(1, limit - kept));
	const believed = believedAt(state, now);
	if (believed === null) return even;
	return Math.max(even, Math.ceil((believed.resetAt - now) / Math.max(1, believed.remaining - kept)));
}

/** Whether the shares allow it, leaving time aside. */
function fits(usage: Usage, priority: RequestPriority, count: number): boolean {
	const shares = sharesOf(usage.limit);
	const left = usage.free - count;
	switch (priority) {
		case 'delivery': {
			const within = usage.delivery + count <= shares.delivery;
			return left >= (within ? 0 : Math.max(0, shares.person - usage.person));
		}
		case 'person':
			return left >= Math.max(0, shares.delivery - usage.delivery);
		case 'background':
			return left >= shares.delivery + shares.person;
	}
}

/** Whether a person's request is within what people are guaranteed, so that nobody's queue may hold it back. */
export function withinPeoplesShare(state: BudgetState, now: number, limit: number, count: number): boolean {
	const usage = usageAt(state, now, limit);
	return usage.person + count <= sharesOf(usage.limit).person;
}

interface Ask {
	readonly now: number;
	/** Our own limit of requests in a minute. */
	readonly limit: number;
	readonly priority: RequestPriority;
	readonly count: number;
}

/** Decides on `count` requests of one priority at `now`, and charges them when granted. */
export function decide(state: BudgetState, ask: Ask): BudgetDecision {
	const { now, limit, priority, count } = ask;
	if (pausedAt(state, now)) return { granted: false, retryAt: state.pausedUntil };
	const usage = usageAt(state, now, limit);
	if (!fits(usage, priority, count)) return { granted: false, retryAt: firstFit(state, ask) };
	if (priority !== 'background') return { granted: true, state: charge(state, ask) };
	const interval = backgroundInterval(state, now, usage.limit);
	// Bounded, because a replica with a slower rate may have written it; one further ahead was written before the clock
	// was put back.
	const isAhead = state.backgroundDue > now + LONGEST_RETRY_AFTER_MS;
	const due = isAhead ? now : Math.min(Math.max(now, state.backgroundDue), now + BACKGROUND_BURST * interval);
	const earliest = due - (BACKGROUND_BURST - 1) * interval;
	if (now < earliest) return { granted: false, retryAt: earliest };
	return { granted: true, state: { ...charge(state, ask), backgroundDue: due + count * interval } };
}

function charge(state: BudgetState, { now, priority, count }: Ask): BudgetState {
	const second = Math.floor(now / 1000);
	const buckets = state.buckets.filter((bucket) => counts(bucket[0], now));
	const last = buckets.at(-1);
	// A clock that went back charges the newest second, so that the order holds and nothing is forgotten early.
	const into = last !== undefined && last[0] >= second ? last : ([second, 0, 0, 0] as const);
	if (into === last) buckets.pop();
	const add = (which: RequestPriority) => (which === priority ? count : 0);
	buckets.push([into[0], into[1] + add('delivery'), into[2] + add('person'), into[3] + add('background')]);
	const { believed } = state;
	return {
		...state,
		buckets,
		granted: state.granted + count,
		believed: believed === null ? null : { ...believed, remaining: believed.remaining - count },
	};
}

/** The first moment at which something that does not fit now will: a second leaves the window, or theirs is renewed. */
function firstFit(state: BudgetState, { now, limit, priority, count }: Ask): number {
	const moments = state.buckets.map(([second]) => (second + WINDOW_SECONDS) * 1000);
	const believed = believedAt(state, now);
	if (believed !== null) moments.push(believed.resetAt);
	moments.sort((one, other) => one - other);
	for (const moment of moments) {
		if (moment > now && fits(usageAt(state, moment, limit), priority, count)) return moment;
	}
	// Only when it never fits (a limit lowered by the service): look again when the window has passed.
	return now + SERVICE_WINDOW_MS;
}

/**
 * Takes a response's headers in. `sequence`: the running number of the request they answer; what was granted after it is
 * not in `remaining` yet and is charged. A response older than the one believed changes nothing but a pause.
 */
export function observed(
	state: BudgetState,
	headers: RateLimitObservation,
	{ now, limit, sequence }: { now: number; limit: number; sequence: number },
): BudgetState {
	let next = state;
	if (headers.limit !== undefined && headers.limit > 0) {
		next = { ...next, serviceLimit: headers.limit < limit ? headers.limit : null };
	}
	const { remaining, resetSeconds, retryAfterSeconds } = headers;
	if (remaining !== undefined && resetSeconds !== undefined && resetSeconds >= 0) {
		const resetAt = now + Math.min(resetSeconds * 1000, LONGEST_RETRY_AFTER_MS);
		const isNewest = believedAt(next, now) === null || sequence >= (next.believed?.sequence ?? 0);
		if (isNewest) {
			const since = Math.max(0, next.granted - sequence);
			next = { ...next, believed: { remaining: remaining - since, resetAt, sequence } };
		}
	}
	if (retryAfterSeconds !== undefined) {
		const until = now + Math.min(Math.max(retryAfterSeconds, 1) * 1000, LONGEST_RETRY_AFTER_MS);
		// A pause that is not in force any more may lie further ahead, from before the clock was put back.
		next = { ...next, pausedUntil: pausedAt(next, now) ? Math.max(next.pausedUntil, until) : until };
	}
	return next;
}
