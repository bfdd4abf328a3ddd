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
import { type ListKnowledge, leastMs, UNLISTED } from './schedule.ts';

export interface ListingState {
	/** The process that lists; null: none. */
	readonly holder: string | null;
	/** When another process may take over, clock milliseconds. */
	readonly until: number;
	readonly isAvailable: boolean;
	/** The newest list has all sessions that wait. */
	readonly isComplete: boolean;
	/** The service has no list, or its list has failed for some minutes. */
	readonly isUnlisted: boolean;
}

interface Options {
	readonly budget: BackgroundBudget;
	readonly health: ServiceHealth;
	readonly state: SharedState<ListingState>;
}

/** Is called in the process that lists: with each list, or when there is none for some minutes. */
interface Listener {
	listed(list: WaitingList): Promise<void>;
	unlisted(): Promise<void>;
}

/** The client cancels a list after this time. */
const LONGEST_LISTING_MS = 45_000;
/** How late a process that lists may be before another takes over. */
const LEASE_MARGIN_MS = 15_000;
/** From the beginning of one list to the next: this time for each page of the service… */
const EVERY_MS = 4_000;
/** …and at least this many times as long as the newest list took. */
const TIMES_TOOK = 4;
/** The largest share of the background budget that lists take. The rest is for reads. */
const LARGEST_SHARE = 1 / 2;
const LONGEST_WAIT_MS = 60_000;
const RETRY = { firstMs: 4_000, longestMs: LONGEST_WAIT_MS } as const;
/** This many requests in a row have to fail, over some minutes: a proxy may fail for a moment. */
const TRIES = 8;
/** How often to ask again for a list that does not exist. */
const ABSENT_EVERY_MS = 5 * 60_000;
/** How often to look whether something is to be listed, or whether the process that lists has died. */
const LOOK_MS = 10_000;

/** `unknown`: nothing was asked yet. `failing`: it may work again at any time. `none`: the service has no list. */
type Condition = 'unknown' | 'works' | 'failing' | 'none';

const LOG_EVENTS = { works: 'list_works', failing: 'list_failing', none: 'list_lost' } as const;

const NOBODY: ListingState = { holder: null, until: 0, isAvailable: false, isComplete: false, isUnlisted: false };

/**
 * Lists the sessions that wait for a person, while sessions are watched; else only at the start and once a day, to know
 * whether the service still has a list. Nothing depends on lists: every watched session is read by the schedule, too.
 */
export function createListing(core: Core<{ sessions: SessionStore }>, options: Options) {
	const { state, budget, health } = options;
	const { sessionService, serviceUrl, clock, log } = core;
	const { sessions: store } = core.store;
	const { listing: metrics } = core.metrics;
	const { DISCOVER_SESSIONS: discoverSessions } = core.config;
	const own = crypto.randomUUID();
	let shared = NOBODY;
	let condition: Condition = 'unknown';
	/** How many requests have failed since the last list. */
	let failures = 0;
	/** How many of these say that there is no list. */
	let absences = 0;
	/** When the last list began, by uptime: the clock may be set in between. */
	let listedAt = Number.NEGATIVE_INFINITY;
	/** Whether the last list was complete. */
	let isComplete = false;
	/** When the next list is due while sessions are watched, by uptime. */
	let nextAt = Number.NEGATIVE_INFINITY;

	const isOthers = ({ holder, until }: ListingState) => holder !== null && holder !== own && until > clock.now();

	/**
	 * Shares what this process knows, and reads what others know. `leaseMs`: this is the process that lists for so long;
	 * 0 ends that; null only reads. False when another process lists.
	 */
	async function share(leaseMs: number | null = null): Promise<boolean> {
		shared = await state.update((before) => {
			const found = before ?? NOBODY;
			if (leaseMs === null || isOthers(found)) return { state: found, result: found };
			const held = { holder: leaseMs > 0 ? own : null, until: clock.now() + leaseMs };
			// Another process has asked often enough. This one goes on from there until it finds a list.
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
		// Reads show when the service is back. Where nothing is watched, lists do.
		if (health.down === true) return listedAt + LONGEST_WAIT_MS;
		return !isNeeded && condition === 'works' ? listedAt + DAY_MS : nextAt;
	}

	/** Lists if it is time. Returns the milliseconds until the next turn. */
	async function turn(listener: Listener, signal: AbortSignal): Promise<number> {
		// While this process is the one that lists, no other changes the state.
		if ((shared.holder !== own || shared.until <= clock.now()) && !(await share())) {
			// Should that process die, this one lists at once.
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
		// A list shows that the service is up, unless a watched session cannot be read: its next read decides.
		if (health.failingSince !== null && !(await store.isFailing(serviceUrl))) health.succeeded();
		// Before `noteListed`, so that the watches it adds are noted as listed, too.
		await listener.listed(found);
		const listed = new Map(found.sessions.map(({ sessionId, updatedAt }) => [sessionId, updatedAt ?? 0]));
		const news = await store.noteListed(serviceUrl, listed, { now: clock.now(), leastMs });
		if (news > 0) metrics.listedReads(news);
		const { requestCount, tookMs } = found;
		const share = LARGEST_SHARE * budget.perSecond();
		return Math.ceil(Math.max(EVERY_MS * requestCount, TIMES_TOOK * tookMs, (1_000 * requestCount) / share));
	}

	function failed(error: unknown): number {
		const code = codeOf(error);
		metrics.listFailed(code);
		if (NO_PERMIT_CODES.has(code)) {
			// Not a failure of the list: the budget pauses all requests.
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
		// A list that is known to be absent stays so, whatever fails in between.
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
			// Another replica need not wait for the end of this lease.
			await share(0).catch(() => undefined);
		},
		/** What the process that lists has found: see `ListingState`. */
		isUnlisted: () => shared.isUnlisted,
		isAvailable: () => shared.isAvailable,
		/** What the schedule of reads needs to know. */
		knowledge: (): ListKnowledge => (shared.isAvailable ? pick(shared, 'isComplete') : null),
	};
}
