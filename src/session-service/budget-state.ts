import { LONGEST_RETRY_AFTER_MS } from '../core/basics.ts';
import type { RequestPriority } from './service.ts';

export interface RateLimitObservation {
	/** Requests a minute. */
	readonly limit?: number | undefined;
	readonly remaining?: number | undefined;
	readonly resetSeconds?: number | undefined;
	/** Of a 429: how long nothing may be sent. */
	readonly retryAfterSeconds?: number | undefined;
}

/**
 * The state of the request budget: plain data, which replicas share in a database row. Times are clock milliseconds.
 * The service counts in fixed windows of 60 s for each client address, whose beginning it does not tell. So grants
 * count in a sliding window of 2 s more, because requests take different times to arrive. In every window deliveries
 * are guaranteed 8 % and people 16 % (20 and 40 of 250). What is free beyond these shares goes to deliveries first,
 * then people. Background gets what leaves both shares untouched, spread evenly. `reserved` requests are kept for
 * background that goes ahead of others, also from people beyond their share; the rest of background has a quarter.
 */
export interface BudgetState {
	/** Requests granted in a second of the clock, oldest first. `ahead`: those of background that went ahead. */
	readonly buckets: readonly (readonly [
		second: number,
		delivery: number,
		person: number,
		background: number,
		ahead: number,
	])[];
	/** The count of requests granted so far: the sequence number of the last one. */
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

export const EMPTY_BUDGET_STATE: BudgetState = {
	buckets: [],
	granted: 0,
	pausedUntil: 0,
	serviceLimit: null,
	believed: null,
	backgroundDue: 0,
};

export interface Asking {
	readonly priority: RequestPriority;
	readonly count: number;
	/** Of background: goes before others. */
	readonly ahead?: boolean;
}

export interface Limits {
	/** Our own limit of requests a minute. */
	readonly limit: number;
	/** Requests a second that are kept for background that goes ahead of others. Default: none. */
	readonly reserved?: number;
}

interface Ask extends Asking, Limits {
	readonly now: number;
}

/** A grant is counted until its second is this far back: for 61 to 62 s. */
const WINDOW_SECONDS = 62;
const SERVICE_WINDOW_MS = 60_000;
/** Background requests that may go at once after a pause; further ones are spread evenly. */
const BACKGROUND_BURST = 4;
/** The largest part of background's share for requests that go ahead of others. */
const MOST_AHEAD = 3 / 4;

/** What is kept for deliveries and people in each window of `limit` requests. */
export function sharesOf(limit: number): { delivery: number; person: number } {
	const third = Math.floor(limit / 3);
	return {
		delivery: Math.min(third, Math.max(2, Math.round(limit * 0.08))),
		person: Math.min(third, Math.max(1, Math.round(limit * 0.16))),
	};
}

function believedAt({ believed }: BudgetState, now: number) {
	return believed === null || believed.resetAt <= now ? null : believed;
}

const isCounted = (second: number, now: number) => Math.floor(now / 1000) - second < WINDOW_SECONDS;

export function usageAt(state: BudgetState, now: number, limit: number) {
	const counted = state.buckets.filter(([second]) => isCounted(second, now));
	const sumOf = (column: 1 | 2 | 3 | 4) => counted.reduce((sum, bucket) => sum + bucket[column], 0);
	const [delivery, person, background, ahead] = [sumOf(1), sumOf(2), sumOf(3), sumOf(4)];
	// The pair of a delivery must always fit, or a nonsensical limit of the service would stop deliveries for good.
	const effective = state.serviceLimit === null ? limit : Math.max(2, Math.min(limit, state.serviceLimit));
	const remaining = believedAt(state, now)?.remaining ?? Number.POSITIVE_INFINITY;
	const free = Math.min(effective - delivery - person - background, remaining);
	return { limit: effective, delivery, person, background, ahead, free };
}

/** Whether the service's words leave us less than our limit. */
export function isLimitedByService(state: BudgetState, now: number, limit: number): boolean {
	const unlimited = { ...state, serviceLimit: null, believed: null };
	return state.pausedUntil > now || usageAt(state, now, limit).free < usageAt(unlimited, now, limit).free;
}

type Usage = ReturnType<typeof usageAt>;

function isWithinShare(usage: Usage, { priority, count }: Asking): boolean {
	return priority !== 'background' && usage[priority] + count <= sharesOf(usage.limit)[priority];
}

/**
 * What these requests leave of a window. A delivery and a person leave what the other has not used of its share.
 * Background leaves both shares and what is kept for its requests that go ahead. Those leave what people have not used.
 */
function keptFrom(usage: Usage, ask: Ask): number {
	const { priority, ahead = false, reserved = 0 } = ask;
	const shares = sharesOf(usage.limit);
	const unused = {
		delivery: Math.max(0, shares.delivery - usage.delivery),
		person: Math.max(0, shares.person - usage.person),
	};
	const isWithin = isWithinShare(usage, ask);
	if (priority === 'delivery') return isWithin ? 0 : unused.person;
	const both = shares.delivery + shares.person;
	const keptForAhead = Math.max(
		0,
		Math.min(reserved * WINDOW_SECONDS, Math.floor(MOST_AHEAD * (usage.limit - both))) - usage.ahead,
	);
	if (priority === 'person') return unused.delivery + (isWithin ? 0 : keptForAhead);
	if (!ahead) return both + keptForAhead;
	const background = Math.max(0, usage.free + usage.background - both);
	const keptForRest = Math.ceil((1 - MOST_AHEAD) * background) - (usage.background - usage.ahead);
	return shares.delivery + unused.person + Math.max(0, keptForRest);
}

const fits = (usage: Usage, ask: Ask) => usage.free - ask.count >= keptFrom(usage, ask);

/** Whole milliseconds between background requests, so that their part of a window lasts until the next one. */
function backgroundInterval(state: BudgetState, usage: Usage, ask: Ask): number {
	const { now } = ask;
	const kept = keptFrom(usage, ask);
	const even = Math.ceil(SERVICE_WINDOW_MS / Math.max(1, usage.limit - kept - usage.ahead));
	const believed = believedAt(state, now);
	if (believed === null) return even;
	return Math.max(even, Math.ceil((believed.resetAt - now) / Math.max(1, believed.remaining - kept)));
}

/**
 * Decides on requests at `now`, and charges them when granted. `retryAt`: when they may be granted if nothing else is
 * before; always later than now.
 */
export function decide(state: BudgetState, ask: Ask) {
	const { now, limit, priority, count, ahead = false, reserved = 0 } = ask;
	if (state.pausedUntil > now) return { granted: false, retryAt: state.pausedUntil } as const;
	const usage = usageAt(state, now, limit);
	if (!fits(usage, ask)) return { granted: false, retryAt: firstFit(state, ask) } as const;
	// What is reserved need not be spread.
	if (priority !== 'background' || (ahead && reserved > 0))
		return { granted: true, state: charge(state, ask) } as const;
	const interval = backgroundInterval(state, usage, ask);
	// Bounded, as a replica with a slower rate may have written it.
	const due = Math.min(Math.max(now, state.backgroundDue), now + BACKGROUND_BURST * interval);
	const earliest = due - (BACKGROUND_BURST - 1) * interval;
	if (now < earliest) return { granted: false, retryAt: earliest } as const;
	return { granted: true, state: { ...charge(state, ask), backgroundDue: due + count * interval } } as const;
}

function charge(state: BudgetState, { now, priority, count, ahead = false }: Ask): BudgetState {
	const { buckets, believed } = state;
	// When the clock goes back a little, the newest second is charged: the order stays, nothing is forgotten early.
	const second = Math.max(Math.floor(now / 1000), buckets.at(-1)?.[0] ?? 0);
	const [, delivery, person, background, wentAhead] = buckets.find(([one]) => one === second) ?? [second, 0, 0, 0, 0];
	const charged = (other: RequestPriority) => (other === priority ? count : 0);
	const bucket = [
		second,
		delivery + charged('delivery'),
		person + charged('person'),
		background + charged('background'),
		wentAhead + (ahead ? charged('background') : 0),
	] as const;
	return {
		...state,
		buckets: [...buckets.filter(([one]) => one < second && isCounted(one, now)), bucket],
		granted: state.granted + count,
		believed: believed && { ...believed, remaining: believed.remaining - count },
	};
}

/** The least rate that `left` names, as a share of the limit. When less is free, `decide` holds reads back. */
const LEAST_SHARE = 0.05;

/** Requests a second that watching may use; `reserved` of them are kept for lists and the reads that they lead to. */
export function backgroundRates({ limit, free, background, ahead }: Usage, reserved: number) {
	const shares = sharesOf(limit);
	const kept = shares.delivery + shares.person;
	const usual = (limit - kept) / WINDOW_SECONDS;
	return {
		left: Math.max(free + background - kept, LEAST_SHARE * limit) / WINDOW_SECONDS,
		planned: Math.max(usual / 4, usual - Math.max(reserved, ahead / WINDOW_SECONDS)),
		usual,
	};
}

/** When a request that does not fit now will fit: when a second leaves our window, or the service's window ends. */
function firstFit(state: BudgetState, ask: Ask): number {
	const { now, limit } = ask;
	const leaving = state.buckets.map(([second]) => (second + WINDOW_SECONDS) * 1000);
	const moments = [...leaving, believedAt(state, now)?.resetAt ?? now].sort((a, b) => a - b);
	const first = moments.find((moment) => moment > now && fits(usageAt(state, moment, limit), ask));
	// It never fits because the service lowered its limit: try again after the window.
	return first ?? now + SERVICE_WINDOW_MS;
}

/**
 * The state after a response with these headers. Requests granted after its own, which has the number `sequence`, are
 * not in `remaining` yet and are charged. A response to an older request than the last one only sets a pause.
 */
export function observed(
	state: BudgetState,
	headers: RateLimitObservation,
	{ now, limit, sequence }: { now: number; limit: number; sequence: number },
): BudgetState {
	const { limit: named = 0, remaining, resetSeconds, retryAfterSeconds } = headers;
	let next = named > 0 ? { ...state, serviceLimit: named < limit ? named : null } : state;
	if (remaining !== undefined && resetSeconds !== undefined && sequence >= (believedAt(state, now)?.sequence ?? 0)) {
		const resetAt = now + Math.min(resetSeconds * 1000, LONGEST_RETRY_AFTER_MS);
		const grantedSince = Math.max(0, state.granted - sequence);
		next = { ...next, believed: { remaining: remaining - grantedSince, resetAt, sequence } };
	}
	if (retryAfterSeconds !== undefined) {
		const until = now + Math.min(Math.max(retryAfterSeconds, 1) * 1000, LONGEST_RETRY_AFTER_MS);
		next = { ...next, pausedUntil: Math.max(next.pausedUntil, until) };
	}
	return next;
}

/** Deliveries, people in turns, then background with those that go ahead first. `lastTurns`: by person, from 1. */
export function inOrder<W extends Required<Asking> & { readonly person: string }>(
	waiting: Iterable<W>,
	lastTurns: ReadonlyMap<string, number>,
): W[] {
	const { delivery = [], person = [], background = [] } = Object.groupBy(waiting, ({ priority }) => priority);
	background.sort((one, other) => Number(other.ahead) - Number(one.ahead));
	return [...delivery, ...inTurns(person, lastTurns), ...background];
}

/** People take turns: in each round everybody has one, whoever was served least recently first. */
export function inTurns<T extends { readonly person: string }>(
	waiting: readonly T[],
	lastTurns: ReadonlyMap<string, number>,
): T[] {
	const turns = [...Map.groupBy(waiting, ({ person }) => person)].flatMap(([person, own]) =>
		own.map((one, round) => ({ one, round, lastTurn: lastTurns.get(person) ?? 0 })),
	);
	turns.sort((a, b) => a.round - b.round || a.lastTurn - b.lastTurn);
	return turns.map(({ one }) => one);
}

/**
 * Grants what can be granted at `now` of `waiting`, in this order. Who cannot be served holds back those behind of the
 * same priority; those that go ahead have a part of their own. A delivery that waits also holds back people beyond
 * their share: otherwise single requests would keep taking what its pair needs.
 * @returns who was granted, with the sequence number of their last request, and when something more may be granted
 */
export function grantWaiting<W extends Asking>(before: BudgetState, now: number, limits: Limits, waiting: Iterable<W>) {
	const granted: { readonly waiter: W; readonly sequence: number }[] = [];
	const full = new Set<RequestPriority | 'ahead'>();
	let state = before;
	let nextAt = Number.POSITIVE_INFINITY;
	for (const waiter of waiting) {
		const { priority, count, ahead = false } = waiter;
		const kind = ahead ? 'ahead' : priority;
		if (full.has(kind)) continue;
		const mayBeHeldBack = priority === 'person' && full.has('delivery');
		const isHeldBack = mayBeHeldBack && !isWithinShare(usageAt(state, now, limits.limit), waiter);
		const decision = isHeldBack ? null : decide(state, { ...limits, now, priority, count, ahead });
		if (decision?.granted) {
			({ state } = decision);
			granted.push({ waiter, sequence: state.granted });
		} else {
			full.add(kind);
			nextAt = Math.min(nextAt, decision?.retryAt ?? nextAt);
		}
	}
	return { state, granted, nextAt };
}
