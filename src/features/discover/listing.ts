import {
	backOff,
	type Cell,
	codeOf,
	createMemo,
	DAY_MS,
	HandraiseError,
	repeat,
	retryAtOf,
	uptimeOf,
} from '../../core/basics.ts';
import { LOG_LINES } from '../../core/log-lines.ts';
import type { Core } from '../../core.ts';
import type { ListedWaiting } from '../../database/watch.ts';
import type { SessionStore } from '../../database/watch-store.ts';
import type { ServiceHealth } from '../../session-service/health.ts';
import { type BackgroundBudget, WAITING_CODES, type WaitingList } from '../../session-service/service.ts';
import type { createDiscoveries } from './discovery.ts';

export interface ListingState {
	/** The process that lists, one request at a time; null: none. */
	readonly holder: string | null;
	/** When another process may take over, clock milliseconds. */
	readonly until: number;
	readonly isAvailable: boolean;
	/** There is none: it has failed for some minutes. */
	readonly isUnlisted: boolean;
	readonly perSecond: number;
}

interface Options {
	readonly budget: BackgroundBudget;
	readonly health: ServiceHealth;
	readonly cell: Cell<ListingState>;
}

/** Gets each list, in the process that lists, and hears when there is none or it failed for some minutes. */
type Listener = Pick<ReturnType<typeof createDiscoveries>, 'listed' | 'unlisted'>;

/** The client gives a list up after this. */
const LONGEST_LISTING_MS = 45_000;
/** How long a process that lists may be late before another takes over. */
const LEASE_MARGIN_MS = 15_000;
/** From the beginning of a list to the next one, with more than a few watched sessions. */
const EVERY_MS = 2_000;
/** With up to this many, those that work are read every second or two, and lists find what the quiet ones ask... */
const FEW = 20;
/** ...this often. */
const EVERY_MS_IF_FEW = 4_010;
/** After a list that took this long, the next one comes after this many times what it took. */
const SLOW_MS = 1_000;
const SLOW_FACTOR = 8;
/** With discovery, after any list. */
const DISCOVERY_FACTOR = 4;
/** The largest share of the requests that are left for watching. */
const SHARE = 1 / 4;
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

/** From the beginning of a list to that of the next one, in whole milliseconds. */
export function listEveryMs(
	{ tookMs, requestCount }: Pick<WaitingList, 'tookMs' | 'requestCount'>,
	options: { watched: number; discoverSessions: boolean; backgroundPerSecond: number },
): number {
	const { watched, discoverSessions, backgroundPerSecond } = options;
	const usual = watched > FEW ? EVERY_MS : EVERY_MS_IF_FEW;
	const withinShare = (1_000 * requestCount) / (SHARE * backgroundPerSecond);
	const factor = discoverSessions ? DISCOVERY_FACTOR : tookMs < SLOW_MS ? 0 : SLOW_FACTOR;
	return Math.min(LONGEST_WAIT_MS, Math.ceil(Math.max(usual, withinShare, factor * tookMs)));
}

/**
 * What is kept for `requestsPerSecond` lists and for the reads that they lead to. At 1.5, 2 and 3 times the lists' own
 * rate, 95 % of the questions of 1,000 sessions are seen after 3.7, 2.4 and 2.4 s; at 3 times, cards of 300 sessions
 * are a fifth older than at 2 (`npm run bench -- watching`).
 */
export const reservedFor = (requestsPerSecond: number) => 2 * requestsPerSecond;

const NOBODY: ListingState = { holder: null, until: 0, isAvailable: false, isUnlisted: false, perSecond: 0 };

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
	const readWaiting = createWaitingReads(core);
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
	let requestCount = 1;
	/** When the next list is due while sessions are watched, by uptime. */
	let nextAt = Number.NEGATIVE_INFINITY;

	const isOthers = ({ holder, until }: ListingState) => holder !== null && holder !== own && until > clock.now();

	/** Reads what others found. `leaseMs`: becomes the process that lists; 0 ends that. False when another one lists. */
	async function share(leaseMs: number | null = null, perSecond = shared.perSecond): Promise<boolean> {
		shared = await cell.update((before) => {
			const found = before ?? NOBODY;
			if (leaseMs === null || isOthers(found)) return { state: found, result: found };
			const held = { holder: leaseMs > 0 ? own : null, until: clock.now() + leaseMs };
			// The process before has looked often enough, until this one finds a list.
			if (condition === 'unknown' && found.isUnlisted && failures === 0) failures = absences = TRIES;
			const state = { ...held, isAvailable: condition === 'works', isUnlisted: failures >= TRIES, perSecond };
			return { state, result: state };
		});
		metrics.available(Number(shared.isAvailable));
		budget.reserve(reservedFor(shared.perSecond));
		return !isOthers(shared);
	}

	function nextDueAt(watched: number): number {
		if (condition === 'none') return nextAt;
		// The reads of watched sessions tell when it is back. Without any, lists do.
		if (health.down === true) return listedAt + LONGEST_WAIT_MS;
		return watched === 0 && condition === 'works' ? listedAt + DAY_MS : nextAt;
	}

	/** Lists if it is time. Returns the milliseconds until the next turn. */
	async function turn(listener: Listener, signal: AbortSignal): Promise<number> {
		if (!(await share())) {
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
		const watched = Math.max(Number(discoverSessions), await store.count(serviceUrl));
		const dueInMs = nextDueAt(watched) - uptimeOf(clock);
		if (dueInMs > 0) return Math.min(LOOK_MS, dueInMs);
		if (!(await share(LONGEST_LISTING_MS + LEASE_MARGIN_MS))) return LOOK_MS;
		listedAt = uptimeOf(clock);
		const waitMs = await list(watched, listener, signal);
		nextAt = listedAt + waitMs;
		const isOften = condition === 'works' && watched > 0;
		await share(waitMs > LONGEST_WAIT_MS ? 0 : waitMs + LEASE_MARGIN_MS, isOften ? (1_000 * requestCount) / waitMs : 0);
		return Math.min(LOOK_MS, nextAt - uptimeOf(clock));
	}

	/** Returns the milliseconds from the beginning of this list to the next one. */
	async function list(watched: number, listener: Listener, signal: AbortSignal): Promise<number> {
		let found: WaitingList;
		try {
			found = await sessionService.listWaiting(signal);
		} catch (error) {
			signal.throwIfAborted();
			const waitMs = failed(error);
			if (failures >= TRIES) await listener.unlisted();
			return waitMs;
		}
		failures = 0;
		absences = 0;
		requestCount = found.requestCount;
		become('works', 'ok');
		metrics.listed(found);
		health.listed();
		// Sessions never read say nothing about the service. Others are read again soon, and tell.
		if (health.failingSince !== null && !(await store.isFailing(serviceUrl))) health.succeeded();
		await readWaiting(found);
		await listener.listed(found);
		return listEveryMs(found, { watched, discoverSessions, backgroundPerSecond: budget.rates().left });
	}

	function failed(error: unknown): number {
		const code = codeOf(error);
		metrics.listFailed(code);
		if (WAITING_CODES.has(code)) {
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
			await repeat(clock.sleep, signal, () => turn(listener, signal), { retryMs: LOOK_MS, onFailure });
			// Another replica goes on at once.
			await share(0, 0).catch(() => undefined);
		},
		/** The service has no list, or its list has failed for some minutes, as the process that lists has found. */
		isUnlisted: () => shared.isUnlisted,
		isAvailable: () => shared.isAvailable,
	};
}

/** A listed session is compared again after this, and after twice the time when a read that was moved found nothing. */
const COMPARE_AGAIN_MS = 30_000;
const LONGEST_COMPARE_AGAIN_MS = 30 * 60_000;

/** A session that is listed or was, and when to compare it with its newest read. */
interface Comparison extends ListedWaiting {
	/** Null: at once when it is listed, because it was not in the list before. */
	readonly dueAt: number | null;
	/** The time between the newest comparison and the next one. */
	readonly waitMs: number;
}

/** Has watched sessions read at once that newly wait by the list and not by their newest read. */
export function createWaitingReads(core: Core<{ sessions: SessionStore }>) {
	const { serviceUrl, clock } = core;
	const { sessions: store } = core.store;
	/** By id: those of the newest whole list and later ones, and those gone whose reads were moved not long ago. */
	const memo = createMemo(clock, () => ({
		compared: new Map<string, Comparison>(),
		/** When the newest list came in which all were; null: none yet. */
		completeAt: null as number | null,
	}));

	/** `move`: left out when the session waits by its newest read too, or its last move found nothing not long ago. */
	function afterComparing(comparison: Comparison, now: number, move?: { readonly hasChanged: boolean }): Comparison {
		const { dueAt, waitMs, moved } = comparison;
		if (move === undefined) {
			if (moved !== null && moved.until > now) return { ...comparison, dueAt: moved.until };
			return { ...comparison, dueAt: now + COMPARE_AGAIN_MS, waitMs: COMPARE_AGAIN_MS };
		}
		const foundNothing = dueAt !== null || (moved !== null && !move.hasChanged);
		const nextMs = foundNothing ? Math.min(LONGEST_COMPARE_AGAIN_MS, 2 * waitMs) : COMPARE_AGAIN_MS;
		return { ...comparison, dueAt: now + nextMs, waitMs: nextMs, moved: { at: now, until: now + nextMs } };
	}

	return async ({ sessions, isComplete }: WaitingList): Promise<void> => {
		const { compared, completeAt } = memo.get();
		const now = clock.now();
		const unknown = { absentAt: completeAt, moved: null, dueAt: null, waitMs: COMPARE_AGAIN_MS };
		const listed = sessions.map(({ sessionId }) => compared.get(sessionId) ?? { sessionId, ...unknown });
		const due = listed.filter(({ dueAt }) => dueAt === null || dueAt <= now);
		const moved = await store.readWaiting(serviceUrl, due, now);
		const moves = new Map(moved.map((move) => [move.sessionId, move]));
		// An incomplete list does not show which sessions are gone: pages shift while sessions come and go.
		const others = [...compared.values()]
			.filter(({ moved: last, dueAt }) => {
				const at = Math.max(last?.at ?? 0, isComplete ? 0 : (dueAt ?? 0));
				return at + LONGEST_COMPARE_AGAIN_MS > now;
			})
			.map((one) => (isComplete ? { ...one, absentAt: now, dueAt: null } : one));
		const newest = due.map((one) => afterComparing(one, now, moves.get(one.sessionId)));
		memo.set({
			compared: new Map([...others, ...listed, ...newest].map((one) => [one.sessionId, one])),
			completeAt: isComplete ? now : completeAt,
		});
		if (moved.length > 0) core.metrics.listing.listedReads(moved.length);
	};
}
