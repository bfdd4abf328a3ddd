import type { Core } from '../core.ts';
import { DAY_MS, uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import { LOG_LINES } from '../kernel/log-lines.ts';
import type { SharedState } from '../kernel/memory.ts';
import { backOff, repeatUntilAborted, retryAtOf } from '../kernel/retries.ts';
import { pick } from '../kernel/values.ts';
import type { BackgroundBudget } from '../service/budget.ts';
import type { ServiceHealth } from '../service/health.ts';
import { NO_PERMIT_CODES, type WaitingList } from '../service/service.ts';
import type { SessionStore } from '../store/watched-sessions.ts';
import type { createDiscoveries } from './discovery.ts';
import { type ListKnowledge, leastMs, UNLISTED } from './schedule.ts';

export interface ListingState {
	/** The process that lists, one request at a time; null: none. */
	readonly holder: string | null;
	/** When another process may take over, clock milliseconds. */
	readonly until: number;
	readonly isAvailable: boolean;
	/** The newest list has all sessions that wait. */
	readonly isComplete: boolean;
	/** There is none: it has failed for some minutes. */
	readonly isUnlisted: boolean;
}

interface Options {
	readonly budget: BackgroundBudget;
	readonly health: ServiceHealth;
	readonly cell: SharedState<ListingState>;
}

/** Gets each list, in the process that lists, and hears when there is none or it failed for some minutes. */
type Listener = Pick<ReturnType<typeof createDiscoveries>, 'listed' | 'unlisted'>;

/** The client gives a list up after this. */
const LONGEST_LISTING_MS = 45_000;
/** How long a process that lists may be late before another takes over. */
const LEASE_MARGIN_MS = 15_000;
/** From the beginning of a list to the next one, for each page of the service… */
const EVERY_MS = 4_000;
/** …and in times of what the newest one took. */
const TIMES_TOOK = 4;
/** Of the requests that watching has, where these are few. The others are for reads. */
const MOST_OF_ALL = 1 / 2;
const LONGEST_WAIT_MS = 60_000;
const RETRY = { firstMs: 4_000, longestMs: LONGEST_WAIT_MS } as const;
/** There is no list when this many looks agree, over some minutes: something in front may say so for a moment. */
const TRIES = 8;
/** It is looked for this often then. */
const ABSENT_EVERY_MS = 5 * 60_000;
/** How often to look for something to list, or whether the process that lists is gone. */
const LOOK_MS = 10_000;

/** `unknown`: no request has told yet. `failing`: it may work again at any time. */
type Condition = 'unknown' | 'works' | 'failing' | 'none';

const LOG_EVENTS = { works: 'list_works', failing: 'list_failing', none: 'list_lost' } as const;

const NOBODY: ListingState = { holder: null, until: 0, isAvailable: false, isComplete: false, isUnlisted: false };

/**
 * Lists the sessions that wait for a person, where the service can, while sessions are watched; else only at the start
 * and once a day, to know whether it still can. Nothing depends on it: the schedule reads every watched session too.
 */
export function createListing(core: Core<{ sessions: SessionStore }>, options: Options) {
	const { cell, budget, health } = options;
	const { sessionService, serviceUrl, clock, log } = core;
	const { sessions: store } = core.store;
	const { listing: metrics } = core.metrics;
	// Only lists find sessions that nobody watches.
	const { DISCOVER_SESSIONS: discoverSessions } = core.config;
	const own = crypto.randomUUID();
	let shared = NOBODY;
	let condition: Condition = 'unknown';
	/** Since the last list. */
	let failures = 0;
	/** Those of them that say that there is none. */
	let absences = 0;
	/** When the last list began, by uptime: the clock may be set in between. */
	let listedAt = Number.NEGATIVE_INFINITY;
	/** Of the last list. */
	let isComplete = false;
	/** When the next list is due while sessions are watched, by uptime. */
	let nextAt = Number.NEGATIVE_INFINITY;

	const isOthers = ({ holder, until }: ListingState) => holder !== null && holder !== own && until > clock.now();

	/** Reads what others found. `leaseMs`: becomes the process that lists; 0 ends that. False when another one lists. */
	async function share(leaseMs: number | null = null): Promise<boolean> {
		shared = await cell.update((before) => {
			const found = before ?? NOBODY;
			if (leaseMs === null || isOthers(found)) return { state: found, result: found };
			const held = { holder: leaseMs > 0 ? own : null, until: clock.now() + leaseMs };
			// The process before has looked often enough, until this one finds a list.
			if (condition === 'unknown' && found.isUnlisted && failures === 0) failures = absences = TRIES;
			const state = { ...held, isAvailable: condition === 'works', isComplete, isUnlisted: failures >= TRIES };
			return { state, result: state };
		});
		metrics.available(Number(shared.isAvailable));
		return !isOthers(shared);
	}

	/** `isNeeded`: somebody watches a session, or waits for new ones. */
	function nextDueAt(isNeeded: boolean): number {
		if (condition === 'none') return nextAt;
		// The reads of watched sessions tell when it is back. Without any, lists do.
		if (health.down === true) return listedAt + LONGEST_WAIT_MS;
		return !isNeeded && condition === 'works' ? listedAt + DAY_MS : nextAt;
	}

	/** Lists if it is time. Returns the milliseconds until the next turn. */
	async function turn(listener: Listener, signal: AbortSignal): Promise<number> {
		// While this process is the one that lists, no other changes the state.
		if ((shared.holder !== own || shared.until <= clock.now()) && !(await share())) {
			// When that one is gone, this process goes on at once with what it has found.
			if (shared.isAvailable) {
				health.listed();
				condition = 'works';
				nextAt = Number.NEGATIVE_INFINITY;
			}
			return LOOK_MS;
		}
		const pausedMs = budget.pausedUntil() - clock.now();
		if (pausedMs > 0) return pausedMs;
		const isNeeded = discoverSessions || (await store.count(serviceUrl)) > 0;
		const dueInMs = nextDueAt(isNeeded) - uptimeOf(clock);
		if (dueInMs > 0) return Math.min(LOOK_MS, dueInMs);
		if (!(await share(LONGEST_LISTING_MS + LEASE_MARGIN_MS))) return LOOK_MS;
		listedAt = uptimeOf(clock);
		const waitMs = await list(listener, signal);
		nextAt = listedAt + waitMs;
		await share(waitMs > LONGEST_WAIT_MS ? 0 : waitMs + LEASE_MARGIN_MS);
		return Math.min(LOOK_MS, nextAt - uptimeOf(clock));
	}

	/** Returns the milliseconds from the beginning of this list to the next one. */
	async function list(listener: Listener, signal: AbortSignal): Promise<number> {
		let found: WaitingList;
		try {
			found = await sessionService.listWaiting(signal);
		} catch (error) {
			signal.throwIfAborted();
			const waitMs = failed(error);
			if (condition !== 'works') await store.readWithin(serviceUrl, UNLISTED.quietMs);
			if (failures >= TRIES) await listener.unlisted();
			return waitMs;
		}
		failures = 0;
		absences = 0;
		({ isComplete } = found);
		become('works', 'ok');
		metrics.listed(found);
		health.listed();
		// Sessions never read say nothing about the service. Others are read again soon, and tell.
		if (health.failingSince !== null && !(await store.isFailing(serviceUrl))) health.succeeded();
		// First, so that what it begins to watch is known as listed.
		await listener.listed(found);
		const listed = new Map(found.sessions.map(({ sessionId, updatedAt }) => [sessionId, updatedAt ?? 0]));
		const news = await store.noteListed(serviceUrl, listed, { now: clock.now(), leastMs });
		if (news > 0) metrics.listedReads(news);
		const { requestCount, tookMs } = found;
		const share = MOST_OF_ALL * budget.perSecond();
		return Math.ceil(Math.max(EVERY_MS * requestCount, TIMES_TOOK * tookMs, (1_000 * requestCount) / share));
	}

	function failed(error: unknown): number {
		const code = codeOf(error);
		metrics.listFailed(code);
		if (NO_PERMIT_CODES.has(code)) {
			// No failure of the list: the budget pauses everything.
			const now = clock.now();
			return Math.max(LOOK_MS, (retryAtOf(error, now) ?? now) - now);
		}
		// An outage says nothing about the list.
		if (health.down !== true) failures += 1;
		const isAbsent = error instanceof HandraiseError && !error.retryable;
		absences += Number(isAbsent);
		if (isAbsent && absences >= TRIES) {
			become('none', code);
			return ABSENT_EVERY_MS;
		}
		// Of a list that has vanished nothing new is known.
		if (condition === 'works' || (!isAbsent && condition !== 'none')) become('failing', code);
		return backOff(failures, RETRY);
	}

	function become(next: Exclude<Condition, 'unknown'>, code: string): void {
		if (next === condition) return;
		const isExpected = next === 'works' || condition === 'unknown';
		condition = next;
		const event = LOG_EVENTS[next];
		if (isExpected) log.info({ event, code }, LOG_LINES[event]);
		else log.warn(event, { code });
	}

	return {
		/** Lists until the signal is aborted. Never rejects. */
		async run(listener: Listener, signal: AbortSignal) {
			const onFailure = (code: string) => log.warn('listing_failed', { code });
			await repeatUntilAborted(clock.sleep, signal, () => turn(listener, signal), { retryMs: LOOK_MS, onFailure });
			// Another replica goes on at once.
			await share(0).catch(() => undefined);
		},
		/** The service has no list, or its list has failed for some minutes, as the process that lists has found. */
		isUnlisted: () => shared.isUnlisted,
		isAvailable: () => shared.isAvailable,
		/** What the schedule of reads needs of it. */
		knowledge: (): ListKnowledge => (shared.isAvailable ? pick(shared, 'isComplete') : null),
	};
}
