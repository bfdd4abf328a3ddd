import { randomUUID } from 'node:crypto';
import { type Clock, hasCome } from '../clock.ts';
import { codeOf, retryAtOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { LeftEmpty } from '../questions/open-question.ts';
import type { Session } from '../questions/session.ts';
import type { Disclosure } from '../questions/show-answers.ts';
import { createWaker } from '../waker.ts';
import type {
	BackgroundBudget,
	HeldSession,
	WatchedSession,
	WatchingService,
	WatchMetrics,
	WatchStore,
} from './ports.ts';
import { failureOf, isStale, keptOf, outcomeOf } from './reading.ts';
import { movesFor, PLAN_MS, type Planner } from './schedule.ts';
import { createServiceHealth, DOWN_AFTER_MS, type ServiceHealth } from './service-health.ts';
import type { SessionKey } from './watch.ts';

export interface PollerOptions {
	readonly store: WatchStore;
	readonly service: WatchingService;
	/** The service's base address: the sessions of this one are read. */
	readonly serviceUrl: string;
	readonly budget: BackgroundBudget;
	readonly planner: Planner;
	readonly clock: Clock;
	readonly log: Log;
	readonly metrics: WatchMetrics;
	/** Told of everybody's calls, so that the service's return is noticed with the first that works; else of reads here. */
	readonly health?: ServiceHealth;
	/** `WATCH_MAX_DAYS` */
	readonly maxDays: number;
	/** Positions that answers of ours left empty on purpose count as answered. */
	readonly leftEmpty?: (key: SessionKey, session: Session) => Promise<LeftEmpty>;
	/** What channels see of the values: what our answers keep secret is read before the guess. */
	readonly disclosure?: (key: SessionKey, session: Session) => Promise<Disclosure>;
	/** Called after something to post was stored. */
	readonly onNews?: () => void;
}

export interface Poller {
	/** Reads until the signal is aborted; then cuts running reads, gives the leases back and resolves. Never rejects. */
	run(signal: AbortSignal): Promise<void>;
	/** Something is due sooner than was known. */
	wake(): void;
}

/** Renewed three times in its length; a dead replica's sessions are due again after it. */
const LEASE_MS = 21_000;
const RENEW_MS = 7_000;
/** Replicas do not tell each other of sessions that became due. */
const LOOK_MS = 1_000;
const MOST_AT_ONCE = 16;
/** One reading, one waiting for leave, however slow the service is. */
const MOST_WAITING = 2;
/** The service answers 404 for a moment now and then behind a proxy: gone is what is gone three times. */
const GONE_AFTER = 3;
const STORE_PAUSE_MS = 2_000;
const MOMENT_MS = 50;
const NOTE_AGAIN_MS = 60_000;

export function createPoller(options: PollerOptions): Poller {
	const { store, service, serviceUrl, budget, planner, clock, log, metrics, maxDays, onNews } = options;
	const { health = createServiceHealth({ clock }) } = options;
	const waker = createWaker(clock);
	const running = new Set<HeldSession & { readonly done: Promise<void> }>();
	let planAt = 0;
	let noted: boolean | null = null;
	let noteAgainAt = 0;
	let recovered = false;
	/** The leases of reads that were cut short. */
	const cut: string[] = [];
	health.onRecovered(readFailingSoon);

	/** The service is back: nobody waits out a back-off any longer. */
	function readFailingSoon(): void {
		recovered = true;
		planAt = 0;
		waker.wake();
	}

	async function plan(): Promise<void> {
		const outlines = await store.outlines(serviceUrl);
		const rate = budget.backgroundPerSecond();
		planner.plan(outlines, rate);
		metrics.watchedSessions(outlines.length);
		metrics.backgroundPerSecond(rate);
		const now = clock.now();
		const moves = movesFor(outlines, planner, now, recovered);
		recovered = false;
		if (moves.length > 0) await store.reschedule(moves);
	}

	/** Starts what is due; returns when to look again. */
	async function startDue(signal: AbortSignal): Promise<number> {
		const now = clock.now();
		if (budget.pausedUntil() > now) return budget.pausedUntil();
		const room = Math.min(MOST_AT_ONCE - running.size, MOST_WAITING - budget.waiting());
		if (room <= 0) return Number.POSITIVE_INFINITY;
		const token = randomUUID();
		const due = await store.takeDue(serviceUrl, { token, ms: LEASE_MS }, room, now);
		for (const taken of due) {
			const done = readOne(taken, token, signal).finally(() => {
				running.delete(task);
				waker.wake();
			});
			const task = { session: taken.session, token, done };
			running.add(task);
		}
		if (due.length > 0) return now;
		// What is due and could not be had is just being taken by another replica.
		return Math.max(now + MOMENT_MS, (await store.nextReadDueAt(serviceUrl, now)) ?? Number.POSITIVE_INFINITY);
	}

	async function readOne(taken: WatchedSession, token: string, signal: AbortSignal): Promise<void> {
		try {
			await readAndRecord(taken, token, signal);
		} catch (error) {
			if (signal.aborted) {
				cut.push(token);
				return;
			}
			// The lease lapses by itself, and the session is due again.
			log.warn({ sessionId: taken.session.sessionId, code: codeOf(error) }, 'a read could not be recorded');
		}
	}

	async function readAndRecord(taken: WatchedSession, token: string, signal: AbortSignal): Promise<void> {
		const { sessionId } = taken.session;
		let reading: Awaited<ReturnType<WatchingService['read']>>;
		try {
			reading = await service.read(sessionId, { priority: 'background', signal });
		} catch (error) {
			signal.throwIfAborted();
			await recordFailure(taken, token, error);
			return;
		}
		health.succeeded();
		const { session, readAt: leftAt } = reading;
		const leftEmpty = await options.leftEmpty?.(taken.session, session);
		const disclosure = await options.disclosure?.(taken.session, session);
		const outcome = outcomeOf({
			taken,
			session,
			leftAt,
			now: clock.now(),
			steadySince: clock.steadySince?.() ?? Number.NEGATIVE_INFINITY,
			watches: await store.ofSession(taken.session),
			planner,
			maxDays,
			...(leftEmpty !== undefined && { leftEmpty }),
			...(disclosure !== undefined && { disclosure }),
		});
		metrics.read(outcome.changed ? 'changed' : 'unchanged');
		if (outcome.changed && taken.lastReadAt !== null) {
			metrics.detectionAge(Math.max(0, clock.now() - taken.lastReadAt));
		}
		await record(taken, token, outcome);
		await noteHealth();
	}

	async function record(
		taken: WatchedSession,
		token: string,
		{ update, watches }: Omit<ReturnType<typeof outcomeOf>, 'changed'>,
	): Promise<void> {
		const written = await store.record(taken.session, token, update, watches, clock.now());
		if (written === null) return;
		for (const watch of watches) if (watch.card !== null) metrics.card('wanted');
		for (let card = 0; card < written.coalesced; card += 1) metrics.card('coalesced');
		if (watches.length > 0) onNews?.();
	}

	async function recordFailure(taken: WatchedSession, token: string, error: unknown): Promise<void> {
		const code = codeOf(error);
		const now = clock.now();
		health.failed(code);
		if (code === 'rate_limited') {
			// No failure of this session: the budget holds everything back, and it is next when that is over.
			const at = Math.max(now, budget.pausedUntil(), retryAtOf(error, now) ?? 0);
			await record(taken, token, { update: { ...keptOf(taken), nextRead: { at, by: now } }, watches: [] });
			return;
		}
		metrics.read('failed');
		const gone = code === 'session_not_found' && taken.failures + 1 >= GONE_AFTER;
		const watches = gone || isStale(taken, now, maxDays) ? await store.ofSession(taken.session) : [];
		await record(taken, token, failureOf({ taken, code, now, watches, planner, gone, maxDays }));
		log.info(
			{ sessionId: taken.session.sessionId, code, failures: taken.failures + 1 },
			'a watched session could not be read',
		);
		await noteHealth();
	}

	/** Tells the store when the service went down or came back, and that it is up now and then: a replica may have died. */
	async function noteHealth(): Promise<void> {
		const { down } = health;
		const now = clock.now();
		if (down === null || (down === noted && !hasCome(noteAgainAt, now, NOTE_AGAIN_MS))) return;
		const before = noted;
		noted = down;
		noteAgainAt = now + NOTE_AGAIN_MS;
		try {
			const since = health.failingSince ?? now;
			const unlessReadSince = now - DOWN_AFTER_MS;
			const news = await store.noteOutage({ service: serviceUrl, now, down, since, unlessReadSince });
			if (!news) return;
			// Another process may have noted the outage, and its back-offs.
			if (!down) readFailingSoon();
			log.warn({ down }, down ? 'the session service does not answer' : 'the session service answers again');
			onNews?.();
		} catch (error) {
			noted = before;
			throw error;
		}
	}

	async function keepLeases(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			await clock.sleep(RENEW_MS, signal);
			if (running.size > 0) await store.renew([...running], LEASE_MS, clock.now()).catch(ignoreStore);
		}
	}

	function ignoreStore(error: unknown): void {
		log.warn({ code: codeOf(error) }, 'leases could not be renewed');
	}

	async function loop(signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			try {
				if (hasCome(planAt, clock.now(), PLAN_MS)) {
					planAt = clock.now() + PLAN_MS;
					await plan();
				}
				await noteHealth();
				const next = await startDue(signal);
				const until = Math.min(next, planAt, clock.now() + LOOK_MS);
				if (until > clock.now()) await waker.wait(until - clock.now(), signal);
			} catch (error) {
				if (signal.aborted) return;
				log.warn({ code: codeOf(error) }, 'watching pauses for a moment');
				await clock.sleep(STORE_PAUSE_MS, signal).catch(() => undefined);
			}
		}
	}

	return {
		async run(signal) {
			await Promise.all([loop(signal).catch(() => undefined), keepLeases(signal).catch(() => undefined)]);
			await Promise.all([...running].map(({ done }) => done));
			await store.releaseReads(cut).catch(ignoreStore);
		},
		wake: () => waker.wake(),
	};
}
