import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';

/** Who waits for a request: the delivery of an answer, a person, or watching. */
export type RequestPriority = 'delivery' | 'person' | 'background';

/** In the order in which requests are served. */
export const PRIORITIES: readonly RequestPriority[] = ['delivery', 'person', 'background'];

/** What a response of the service says about its rate limit, in the service's units. */
export interface RateLimitObservation {
	readonly limit?: number | undefined;
	readonly remaining?: number | undefined;
	readonly resetSeconds?: number | undefined;
	/** Of a 429: how long nothing may be sent. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * The state of the request budget: plain data, so that one process and replicas that share a database row use the same
 * rules. Times are clock milliseconds.
 *
 * The service counts in fixed windows of 60 s for each client address and does not say when a window begins. So grants
 * are counted in a sliding window that is 2 s longer, because requests take different times to arrive: no 60 s window of
 * the service ever gets more requests than the limit.
 *
 * Shares: in every window deliveries are guaranteed 8 % and people 16 % (20 and 40 of 250). Nobody else can use up a
 * share. What is free beyond the shares goes to deliveries first, then people. Background gets what leaves both shares
 * untouched, spread evenly. `reserved` requests are kept for those of background that go ahead of others, also from people
 * beyond their share; the others of background have a quarter.
 */
export interface BudgetState {
	/** Requests granted in one second of the clock, oldest first. `ahead`: those of background that went ahead of others. */
	readonly buckets: readonly (readonly [
		second: number,
		delivery: number,
		person: number,
		background: number,
		ahead?: number,
	])[];
	/** The number of requests granted so far: the sequence number of the last one. */
	readonly granted: number;
	/** After a 429: nothing is granted before this. */
	readonly pausedUntil: number;
	/** The limit that the service names, if lower than ours; else null. */
	readonly serviceLimit: number | null;
	/** What the service says is left in its window, less what was granted since. Others behind our address use it too. */
	readonly believed: { readonly remaining: number; readonly resetAt: number; readonly sequence: number } | null;
	/** When the next background request is due at an even rate, as in the generic cell rate algorithm. */
	readonly backgroundDue: number;
}

export type BudgetDecision =
	| { readonly granted: true; readonly state: BudgetState }
	/** `retryAt`: when it may be granted if nothing else is granted before; always later than now. */
	| { readonly granted: false; readonly retryAt: number };

/** A grant is counted until its second is this far back: for 61 to 62 s. */
const WINDOW_SECONDS = 62;
const SERVICE_WINDOW_MS = 60_000;
/** Background requests that may go at once after a pause; further ones are spread evenly. */
const BACKGROUND_BURST = 4;

export const EMPTY_BUDGET_STATE: BudgetState = {
	buckets: [],
	granted: 0,
	pausedUntil: 0,
	serviceLimit: null,
	believed: null,
	backgroundDue: 0,
};

/** What is kept for deliveries and people in each window of `limit` requests. */
export function sharesOf(limit: number): { delivery: number; person: number } {
	const third = Math.floor(limit / 3);
	return {
		delivery: Math.min(third, Math.max(2, Math.round(limit * 0.08))),
		person: Math.min(third, Math.max(1, Math.round(limit * 0.16))),
	};
}

/** The part of the service's limit that watching always leaves to deliveries and people. */
export function keptFromWatching(limit: number): number {
	const { delivery, person } = sharesOf(limit);
	return delivery + person;
}

function believedAt(state: BudgetState, now: number): { remaining: number; resetAt: number } | null {
	const { believed } = state;
	return believed === null || believed.resetAt <= now ? null : believed;
}

function isCounted(second: number, now: number): boolean {
	return Math.floor(now / 1000) - second < WINDOW_SECONDS;
}

/** What is used and free at `now`. */
export function usageAt(state: BudgetState, now: number, limit: number) {
	let delivery = 0;
	let person = 0;
	let background = 0;
	let ahead = 0;
	for (const [second, deliveries, people, polls, aheadPolls = 0] of state.buckets) {
		if (!isCounted(second, now)) continue;
		delivery += deliveries;
		person += people;
		background += polls;
		ahead += aheadPolls;
	}
	// The pair of a delivery must always fit, or a nonsensical limit of the service would stop deliveries for good.
	const effective = state.serviceLimit === null ? limit : Math.max(2, Math.min(limit, state.serviceLimit));
	const counted = effective - delivery - person - background;
	const believed = believedAt(state, now);
	return {
		limit: effective,
		delivery,
		person,
		background,
		ahead,
		free: believed ? Math.min(counted, believed.remaining) : counted,
	};
}

/** The largest part of background's share for requests that go ahead of others. */
const MOST_AHEAD = 3 / 4;

/** What is still kept of this window for background requests that go ahead of others. */
function keptForAhead(usage: ReturnType<typeof usageAt>, { reserved = 0 }: Ask): number {
	const { delivery, person } = sharesOf(usage.limit);
	return Math.max(0, Math.min(reserved, Math.floor(MOST_AHEAD * (usage.limit - delivery - person))) - usage.ahead);
}

/**
 * What background leaves to others of a window: both shares, and what is kept for the rest of background. Those that go
 * ahead leave of people's share what is unused, so people who use more do not stop them, and of what background then has
 * a part.
 */
function keptFrom(usage: ReturnType<typeof usageAt>, ask: Ask): number {
	const { delivery, person } = sharesOf(usage.limit);
	if (ask.ahead !== true) return delivery + person + keptForAhead(usage, ask);
	const background = Math.max(0, usage.free + usage.background - delivery - person);
	const keptForRest = Math.ceil((1 - MOST_AHEAD) * background) - (usage.background - usage.ahead);
	return delivery + Math.max(0, person - usage.person) + Math.max(0, keptForRest);
}

/** Whole milliseconds between background requests, so that their part of a window lasts until the next one. */
function backgroundInterval(state: BudgetState, usage: ReturnType<typeof usageAt>, ask: Ask): number {
	const { now } = ask;
	const kept = keptFrom(usage, ask);
	const even = Math.ceil(SERVICE_WINDOW_MS / Math.max(1, usage.limit - kept - usage.ahead));
	const believed = believedAt(state, now);
	if (believed === null) return even;
	return Math.max(even, Math.ceil((believed.resetAt - now) / Math.max(1, believed.remaining - kept)));
}

/** Whether the shares allow it now. */
function fits(usage: ReturnType<typeof usageAt>, ask: Ask): boolean {
	const { priority, count } = ask;
	const shares = sharesOf(usage.limit);
	const left = usage.free - count;
	switch (priority) {
		case 'delivery': {
			const within = usage.delivery + count <= shares.delivery;
			return left >= (within ? 0 : Math.max(0, shares.person - usage.person));
		}
		case 'person': {
			const within = usage.person + count <= shares.person;
			return left >= Math.max(0, shares.delivery - usage.delivery) + (within ? 0 : keptForAhead(usage, ask));
		}
		case 'background':
			return left >= keptFrom(usage, ask);
	}
}

/** Whether people's requests are within their guaranteed share, so that nobody may hold them back. */
export function withinPeoplesShare(state: BudgetState, now: number, limit: number, count: number): boolean {
	const usage = usageAt(state, now, limit);
	return usage.person + count <= sharesOf(usage.limit).person;
}

interface Ask {
	readonly now: number;
	/** Our own limit of requests a minute. */
	readonly limit: number;
	readonly priority: RequestPriority;
	readonly count: number;
	/** Of background: whether it goes before others, and how many requests of a window are kept for such ones. */
	readonly ahead?: boolean | undefined;
	readonly reserved?: number | undefined;
}

/** The number of requests of a window at this rate. */
export function inWindow(perSecond: number): number {
	return perSecond * WINDOW_SECONDS;
}

/** Decides on `count` requests of one priority at `now`, and charges them when granted. */
export function decide(state: BudgetState, ask: Ask): BudgetDecision {
	const { now, limit, priority, count } = ask;
	if (state.pausedUntil > now) return { granted: false, retryAt: state.pausedUntil };
	const usage = usageAt(state, now, limit);
	if (!fits(usage, ask)) return { granted: false, retryAt: firstFit(state, ask) };
	if (priority !== 'background') return { granted: true, state: charge(state, ask) };
	// What is reserved need not be spread.
	if (ask.ahead === true && (ask.reserved ?? 0) > 0) return { granted: true, state: charge(state, ask) };
	const interval = backgroundInterval(state, usage, ask);
	// Bounded, because a replica with a slower rate may have written it.
	const due = Math.min(Math.max(now, state.backgroundDue), now + BACKGROUND_BURST * interval);
	const earliest = due - (BACKGROUND_BURST - 1) * interval;
	if (now < earliest) return { granted: false, retryAt: earliest };
	return { granted: true, state: { ...charge(state, ask), backgroundDue: due + count * interval } };
}

function charge(state: BudgetState, { now, priority, count, ahead = false }: Ask): BudgetState {
	const second = Math.floor(now / 1000);
	const buckets = state.buckets.filter(([bucketSecond]) => isCounted(bucketSecond, now));
	const last = buckets.at(-1);
	// When the clock goes back a little, the newest second is charged: the order is kept and nothing is forgotten early.
	const bucket = last !== undefined && last[0] >= second ? last : ([second, 0, 0, 0, 0] as const);
	if (bucket === last) buckets.pop();
	const charged = (other: RequestPriority) => (other === priority ? count : 0);
	buckets.push([
		bucket[0],
		bucket[1] + charged('delivery'),
		bucket[2] + charged('person'),
		bucket[3] + charged('background'),
		(bucket[4] ?? 0) + (ahead ? charged('background') : 0),
	]);
	const { believed } = state;
	return {
		...state,
		buckets,
		granted: state.granted + count,
		believed: believed === null ? null : { ...believed, remaining: believed.remaining - count },
	};
}

/** When a request that does not fit now will fit: when a second leaves our window, or the service's window ends. */
function firstFit(state: BudgetState, ask: Ask): number {
	const { now, limit } = ask;
	const moments = state.buckets.map(([second]) => (second + WINDOW_SECONDS) * 1000);
	const believed = believedAt(state, now);
	if (believed !== null) moments.push(believed.resetAt);
	moments.sort((a, b) => a - b);
	for (const moment of moments) {
		if (moment > now && fits(usageAt(state, moment, limit), ask)) return moment;
	}
	// It never fits because the service lowered its limit: try again after the window.
	return now + SERVICE_WINDOW_MS;
}

/**
 * The state after a response with these headers. `sequence`: the number of its request; requests granted after it are not
 * in `remaining` yet and are charged. A response to an older request than the last one only sets a pause.
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
			const grantedSince = Math.max(0, next.granted - sequence);
			next = { ...next, believed: { remaining: remaining - grantedSince, resetAt, sequence } };
		}
	}
	if (retryAfterSeconds !== undefined) {
		const until = now + Math.min(Math.max(retryAfterSeconds, 1) * 1000, LONGEST_RETRY_AFTER_MS);
		next = { ...next, pausedUntil: Math.max(next.pausedUntil, until) };
	}
	return next;
}
