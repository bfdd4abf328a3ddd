import { randomUUID } from 'node:crypto';
import type { Cell } from '../cell.ts';
import { uptimeOf } from '../clock.ts';
import type { Core } from '../core.ts';
import { codeOf, HandraiseError, retryAtOf } from '../errors.ts';
import type { ListedSession } from '../questions/session.ts';
import type { BackgroundBudget } from './schedule.ts';
import type { ServiceHealth } from './service-health.ts';

/*
 * Some services can list the sessions that wait for a person. There, one request every two seconds tells which ones do.
 * Nothing depends on it: the schedule reads every watched session as well, and where there is no list, that is all.
 */

/** The sessions that wait for a person. */
export interface WaitingList {
	readonly sessions: readonly ListedSession[];
	/** Whether all are in it: a very long list is not read to its end. */
	readonly isComplete: boolean;
	readonly requestCount: number;
	/** Without the wait for permits. */
	readonly tookMs: number;
}

/** What replicas share. */
export interface ListingState {
	/** The process that lists, one request at a time; null: none. */
	readonly holder: string | null;
	/** When another process may take over, clock milliseconds. */
	readonly until: number;
	/** Whether the service has a list that works. */
	readonly isAvailable: boolean;
	/** Whether `onUnlisted` was called since the last list. */
	readonly isUnlisted: boolean;
	/** Requests a second. */
	readonly perSecond: number;
}

interface Options {
	readonly cell: Cell<ListingState>;
	readonly budget: BackgroundBudget;
	readonly health: ServiceHealth;
	readonly countWatched: () => Promise<number>;
	/** Whether people rely on a list: one that is not there at the start has probably vanished for a moment. */
	readonly isExpected: () => Promise<boolean>;
	/** Gets each list, in the process that lists. The next request waits for it. */
	readonly onList: (list: WaitingList) => Promise<void>;
	/** The service has no list, or its list has failed for some minutes. */
	readonly onUnlisted: () => Promise<void>;
}

/** The client gives a list up after this. */
const LONGEST_LISTING_MS = 45_000;
/** How long a process that lists may be late before another one takes over. */
const LEASE_MARGIN_MS = 15_000;
/** From the beginning of a list to the next one, with more than a few watched sessions. */
const EVERY_MS = 2_000;
/** Up to so many sessions are read every few seconds anyway... */
const FEW = 20;
/** ...so a list is asked for this often. */
const EVERY_MS_IF_FEW = 10_000;
/** After a list that took this long, the next one comes after so many times what it took. */
const SLOW_MS = 1_000;
const SLOW_FACTOR = 8;
/** With discovery, after any list. */
const DISCOVERY_FACTOR = 4;
/** The largest share of the requests that are left for watching. */
const SHARE = 1 / 4;
const FIRST_RETRY_MS = 4_000;
const LONGEST_WAIT_MS = 60_000;
/**
 * A list that has vanished is looked for so many times, then once a day like one that was never there, or this often while
 * people rely on it.
 */
const TRIES = 8;
const DAY_MS = 24 * 3_600_000;
const EXPECTED_EVERY_MS = 5 * 60_000;
/** How often to look whether there is something to list, or whether the process that lists is gone. */
const LOOK_MS = 10_000;

/** `unknown`: no request has told yet. `failing`: it may work again at any time. */
type Condition = 'unknown' | 'works' | 'failing' | 'none';

const LOG_WORDS: Readonly<Record<Exclude<Condition, 'unknown'>, string>> = {
	works: 'the session service lists the sessions that wait; watched ones are read at once',
	failing: 'the session service’s list fails; watched sessions are read by the schedule',
	none: 'the session service has no list that can be used; watched sessions are read by the schedule',
};

/** From the beginning of a list to that of the next one, in whole milliseconds. */
export function listEveryMs({
	watched,
	discoverSessions,
	backgroundPerSecond,
	list: { tookMs, requestCount },
}: {
	watched: number;
	discoverSessions: boolean;
	backgroundPerSecond: number;
	list: Pick<WaitingList, 'tookMs' | 'requestCount'>;
}): number {
	const usual = discoverSessions || watched > FEW ? EVERY_MS : EVERY_MS_IF_FEW;
	const withinShare = (1_000 * requestCount) / (SHARE * backgroundPerSecond);
	const factor = discoverSessions ? DISCOVERY_FACTOR : tookMs < SLOW_MS ? 0 : SLOW_FACTOR;
	return Math.min(LONGEST_WAIT_MS, Math.ceil(Math.max(usual, withinShare, factor * tookMs)));
}

/**
 * What is kept for `requestsPerSecond` lists and for the reads that they lead to: none of them must wait for the budget. At
 * 1.5, 2 and 3 times the lists' own rate, 95 % of the questions of 1,000 sessions are seen after 3.7, 2.4 and 2.4 s; at 3
 * times, cards of 300 sessions are a fifth older than at 2 (`npm run bench:watching`).
 */
export function reservedFor(requestsPerSecond: number): number {
	return 2 * requestsPerSecond;
}

function retryMs(failures: number): number {
	return Math.min(LONGEST_WAIT_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1));
}

const NOBODY: ListingState = { holder: null, until: 0, isAvailable: false, isUnlisted: false, perSecond: 0 };

/** Lists while sessions are watched. Without any, only at the start and once a day: to know whether the service lists. */
export function createListing(core: Core, options: Options) {
	const { sessionService, clock, log } = core;
	const { listing: metrics } = core.metrics;
	// Only lists find sessions that nobody watches.
	const { discoverSessions } = core.config;
	const { cell, budget, health, isExpected, onList, onUnlisted } = options;
	const own = randomUUID();
	/** As this process last saw it. */
	let shared = NOBODY;
	let condition: Condition = 'unknown';
	/** Since the last list. */
	let failures = 0;
	let isUnlisted = false;
	/** When the last list began, by uptime: the clock may be set in between. */
	let listedAt = Number.NEGATIVE_INFINITY;
	/** Of the last list. */
	let requestCount = 1;
	/** When the next list is due while sessions are watched, by uptime. */
	let nextAt = Number.NEGATIVE_INFINITY;

	/** Becomes the process that lists, or gives that back with `leaseMs` 0. Returns false when another one lists. */
	async function hold(leaseMs: number, requestsPerSecond?: number): Promise<boolean> {
		const now = clock.now();
		const isHeld = await cell.update((before) => {
			const state = before ?? NOBODY;
			const isFree = state.holder === null || state.holder === own || state.until <= now;
			shared = isFree
				? {
						holder: leaseMs > 0 ? own : null,
						until: now + leaseMs,
						isAvailable: condition === 'works',
						isUnlisted,
						perSecond: requestsPerSecond ?? state.perSecond,
					}
				: state;
			return { state: shared, result: isFree };
		});
		metrics.available(shared.isAvailable);
		return isHeld;
	}

	/** Sees what the process that lists has found. Returns whether that is another one. */
	async function isListedByAnother(): Promise<boolean> {
		const now = clock.now();
		shared = await cell.update((before) => ({ state: before ?? NOBODY, result: before ?? NOBODY }));
		metrics.available(shared.isAvailable);
		if (shared.holder === null || shared.holder === own) return false;
		return shared.until > now;
	}

	/** When the next list is due, by uptime. */
	function nextDueAt(watched: number): number {
		if (condition === 'none') return nextAt;
		// The reads of watched sessions tell when it is back. Without any, lists do.
		if (health.down === true) return listedAt + LONGEST_WAIT_MS;
		return watched === 0 && condition === 'works' ? listedAt + DAY_MS : nextAt;
	}

	/** Lists if it is time. Returns the milliseconds until the next turn. */
	async function turn(signal: AbortSignal): Promise<number> {
		const now = clock.now();
		if (await isListedByAnother()) {
			// When that one is gone, this process goes on at once with what it has found.
			if (shared.isAvailable) {
				condition = 'works';
				nextAt = Number.NEGATIVE_INFINITY;
			}
			return LOOK_MS;
		}
		if (budget.pausedUntil() > now) return budget.pausedUntil() - now;
		const watched = Math.max(Number(discoverSessions), await options.countWatched());
		const dueInMs = nextDueAt(watched) - uptimeOf(clock);
		if (dueInMs > 0) return Math.min(LOOK_MS, dueInMs);
		if (!(await hold(LONGEST_LISTING_MS + LEASE_MARGIN_MS))) return LOOK_MS;
		listedAt = uptimeOf(clock);
		const waitMs = await list(watched, signal);
		nextAt = listedAt + waitMs;
		const isOften = condition === 'works' && watched > 0;
		await hold(waitMs > LONGEST_WAIT_MS ? 0 : waitMs + LEASE_MARGIN_MS, isOften ? (1_000 * requestCount) / waitMs : 0);
		return Math.max(0, Math.min(LOOK_MS, nextAt - uptimeOf(clock)));
	}

	/** Returns the milliseconds from the beginning of this list to the next one. */
	async function list(watched: number, signal: AbortSignal): Promise<number> {
		let found: WaitingList;
		try {
			found = await sessionService.listWaiting(signal, metrics.requested);
		} catch (error) {
			signal.throwIfAborted();
			const waitMs = await failed(error);
			if (failures >= TRIES) {
				isUnlisted = true;
				await onUnlisted();
			}
			return waitMs;
		}
		failures = 0;
		isUnlisted = false;
		requestCount = found.requestCount;
		become('works', 'ok');
		metrics.listed(found);
		await onList(found);
		const backgroundPerSecond = budget.backgroundPerSecond();
		return listEveryMs({ watched, discoverSessions, backgroundPerSecond, list: found });
	}

	async function failed(error: unknown): Promise<number> {
		const code = codeOf(error);
		metrics.listFailed(code);
		if (code === 'rate_limited') {
			// No failure of the list: the budget pauses everything.
			const now = clock.now();
			return Math.max(EVERY_MS_IF_FEW, (retryAtOf(error, now) ?? now) - now);
		}
		// An outage says nothing about the list.
		if (health.down !== true) failures += 1;
		if (!(error instanceof HandraiseError) || error.retryable) {
			// Of a list that has vanished nothing new is known.
			if (condition !== 'none') become('failing', code);
			return retryMs(failures);
		}
		const isReliedOn = await isExpected();
		if (condition === 'unknown' && !isReliedOn) failures = TRIES;
		become('none', code);
		if (failures < TRIES) return retryMs(failures);
		return isReliedOn ? EXPECTED_EVERY_MS : DAY_MS;
	}

	function become(next: Exclude<Condition, 'unknown'>, code: string): void {
		if (next === condition) return;
		const isExpected = next === 'works' || condition === 'unknown';
		condition = next;
		log[isExpected ? 'info' : 'warn']({ code }, LOG_WORDS[next]);
	}

	return {
		/** Lists until the signal is aborted. Never rejects. */
		async run(signal: AbortSignal) {
			let problem: string | null = null;
			while (!signal.aborted) {
				let waitMs = LOOK_MS;
				try {
					waitMs = await turn(signal);
					problem = null;
				} catch (error) {
					if (signal.aborted) break;
					const code = codeOf(error);
					if (code !== problem) log.warn({ code }, 'could not list the sessions that wait; trying again');
					problem = code;
				}
				await clock.sleep(waitMs, signal).catch(() => undefined);
			}
			// Another replica goes on at once.
			await hold(0, 0).catch(() => undefined);
		},
		/** Requests a second that the schedule leaves to lists and to the reads that they lead to. */
		reservedPerSecond: () => reservedFor(shared.perSecond),
		/** Whether the service has no list, or its list has failed for some minutes, as the process that lists has found. */
		isUnlisted: () => shared.isUnlisted,
		/** Whether the last list worked. */
		isAvailable: () => shared.isAvailable,
	};
}

export type Listing = ReturnType<typeof createListing>;
