import pRetry from 'p-retry';
import { putBodyOf } from '../domain/compare.ts';
import { gated } from '../domain/gate.ts';
import type { Session } from '../domain/session.ts';
import { type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import { loggedId } from '../kernel/log.ts';
import { setBounded } from '../kernel/memory.ts';
import { backOff } from '../kernel/retries.ts';
import { runInSlices } from '../kernel/slices.ts';
import type { Permit } from './budget.ts';
import { isPutSuccess, readSessionResponse } from './schema.ts';
import {
	isSameButCase,
	type MeasuredReading,
	type RequestPriority,
	type SessionReading,
	type SessionServiceClient,
	SessionServiceError,
} from './service.ts';
import { createTransport, type KeptResponse, type TransportOptions } from './transport.ts';
import { createSessionList } from './waiting-list.ts';

/** The largest PUT. The service takes 100 kB and fails above that; 1 kB is taken as 1,000 bytes, to be safe. */
const MAX_REQUEST_BYTES = 100_000;

/** Limits in ms from a read's start: to get a permit, and to begin a repeat. Each attempt adds a call's time. */
const PATIENCE = {
	delivery: { permitMs: 30_000, repeatMs: 10_000, retries: 4 },
	person: { permitMs: 8_000, repeatMs: 8_000, retries: 3 },
	// No repeat: the schedule reads again anyway.
	background: { permitMs: 60_000, repeatMs: 0, retries: 0 },
} as const satisfies Readonly<Record<RequestPriority, object>>;

/** `latest` returns no older reading. */
const LATEST_MS = 10 * 60_000;
/** The wait before a repeat, doubled for each further one. A random 50 to 100 % of it is used. */
const WAIT = { firstMs: 250, longestMs: 5_000 } as const;

interface ReadOptions {
	readonly priority: RequestPriority;
	readonly signal: AbortSignal | undefined;
	readonly arrived?: number | undefined;
	/** Waits until `deadline` (clock milliseconds) for a permit. */
	permit(deadline: number): Promise<Permit>;
	/** Gives back the permit of a PUT before the wait for a repeat. */
	giveBack?(): void;
}

interface ClientOptions extends TransportOptions {
	/** How many of our answers have arrived in a session; null: not known. */
	readonly arrivals?: (sessionId: string) => Promise<number | null>;
	/** Called after a session's first read, and after each read that found another state. */
	readonly onChanged?: (session: Session) => void;
}

/** The permit for the read of a delivery. Disposing of it does nothing, because the pair is given back as a whole. */
const OF_PAIR: Permit = { [Symbol.dispose]: () => undefined };

/** The session service's two operations, and the list that some services have. */
export function createSessionServiceClient(options: ClientOptions): SessionServiceClient {
	const { clock, log, budget, onChanged = () => {}, arrivals = async () => null } = options;
	const transport = createTransport(options);
	const cache = createSessionCache();
	const share = createSharedReads(clock);

	async function readOnce(sessionId: string, { priority, signal, arrived, permit }: ReadOptions, permitBy: number) {
		const path = transport.pathOf(sessionId);
		// Taken now, because the cache may drop it before the response says 304.
		const cached = cache.get(sessionId);
		using held = await permit(permitBy);
		const began = { arrival: arrived ?? (await arrivals(sessionId)), readAt: clock.now(), beganAt: uptimeOf(clock) };
		const response = await transport.send({
			operation: 'read',
			sessionId,
			priority,
			path,
			kept: cached?.response,
			signal,
			async read(value, json) {
				const whole = await runInSlices(readSessionResponse(value, json, sessionId));
				return whole && runInSlices(gated(whole));
			},
		});
		held[Symbol.dispose]();
		const { value: session, endedAt, tookMs } = response;
		const id = session.sessionId;
		if (!isSameButCase(id, sessionId)) {
			log.warn('other_session', { session: loggedId(sessionId), sent: loggedId(id) });
			throw new SessionServiceError('other_session', 'The response has another session than the one asked for');
		}
		// The arrivals were counted under the id that was asked for.
		if (id !== sessionId) began.arrival = null;
		const since = session === cached?.session ? cached.since : began.readAt;
		cache.set(id, { session, since, ...began, response });
		if (session !== cached?.session) onChanged(session);
		const byteCount = session === cached?.session ? 0 : response.byteCount;
		return { session, since, readAt: began.readAt, arrival: began.arrival, endedAt, tookMs, byteCount };
	}

	function readPatiently(sessionId: string, options: ReadOptions): Promise<MeasuredReading> {
		const { priority, signal } = options;
		const { permitMs, repeatMs, retries } = PATIENCE[priority];
		const startedAt = clock.now();
		let newest: SessionServiceError | null = null;
		// p-retry only counts the attempts. The waits use Retry-After and the injected clock.
		return pRetry(() => readOnce(sessionId, options, startedAt + permitMs), {
			retries,
			minTimeout: 0,
			signal,
			async onFailedAttempt({ error, attemptNumber: attempt, retriesLeft }) {
				if (!(error instanceof SessionServiceError)) throw error;
				// The reason for the repeat says more than a missing permit for it.
				newest = error.code === 'no_permit' ? (newest ?? error) : error;
				if (!newest.isPassing || retriesLeft === 0) throw newest;
				const now = clock.now();
				const full = backOff(attempt, WAIT);
				const waitMs = error.retryAt === null ? full * (0.5 + Math.random() / 2) : error.retryAt - now;
				if (now + waitMs >= startedAt + repeatMs) throw newest;
				log.debug({ code: error.code, attempt, waitMs: Math.round(waitMs) }, 'a read failed; trying again');
				options.giveBack?.();
				await clock.sleep(waitMs, signal);
			},
		});
	}

	return {
		callTimeoutMs: transport.callTimeoutMs,
		deliveryReadMs: 2 * PATIENCE.delivery.permitMs + transport.callTimeoutMs,
		listWaiting: createSessionList(transport, budget, clock),

		async read(sessionId, { priority, signal, person = '', arrived }) {
			const start = (readSignal: AbortSignal | undefined) =>
				readPatiently(sessionId, {
					priority,
					signal: readSignal,
					arrived,
					permit: (deadline) => budget.acquire(priority, { deadline, signal: readSignal, person }),
				});
			if (priority === 'person') return share({ sessionId, isPersons: true, signal }, start);
			const reading = priority === 'delivery' ? start(signal) : share({ sessionId, isPersons: false, signal }, start);
			return underStoredId(await reading, sessionId);
		},

		latest(sessionId) {
			const kept = cache.get(sessionId);
			return kept === undefined || uptimeOf(clock) - kept.beganAt > LATEST_MS ? null : kept;
		},

		async reserveDelivery(signal) {
			const takePair = (deadline: number) => budget.acquire('delivery', { count: 2, deadline, signal });
			let pair = await takePair(clock.now() + PATIENCE.delivery.permitMs);
			let isFirst = true;
			return {
				async read(sessionId) {
					const reading = await readPatiently(sessionId, {
						priority: 'delivery',
						signal,
						async permit(deadline) {
							// A repeat takes a new pair: after a long wait, the permits count in a past window of the service.
							if (!isFirst) {
								pair[Symbol.dispose]();
								pair = await takePair(deadline);
							}
							isFirst = false;
							return OF_PAIR;
						},
						giveBack: () => pair[Symbol.dispose](),
					});
					return underStoredId(reading, sessionId);
				},
				async putAnswers(sessionId, messageIndex, items, maySend) {
					const path = `${transport.pathOf(sessionId)}/update-human-input`;
					const json = putBodyOf(sessionId, messageIndex, items, MAX_REQUEST_BYTES);
					if (json === null) {
						const message = `The PUT has more than ${MAX_REQUEST_BYTES} bytes`;
						throw new SessionServiceError('request_too_large', message);
					}
					await transport.send({
						operation: 'put',
						sessionId,
						priority: 'delivery',
						path,
						body: json,
						maySend,
						// Without a signal: aborting a PUT that has begun makes its outcome unknown.
						read: (value) => isPutSuccess(value) || null,
					});
				},
				[Symbol.dispose]: () => pair[Symbol.dispose](),
			};
		},

		close: transport.close,
	};
}

/**
 * A reading for rows that stand under `sessionId`: they keep that id, whatever letter case the response has. A person's
 * read has the id of the response.
 */
function underStoredId(reading: MeasuredReading, sessionId: string): MeasuredReading {
	const { session } = reading;
	return session.sessionId === sessionId ? reading : { ...reading, session: { ...session, sessionId } };
}

interface KeptSession extends SessionReading {
	readonly response: KeptResponse<Session>;
	/** `readAt` on the clock's uptime. */
	readonly beganAt: number;
}

const CACHE = { sessions: 1_000, bytes: 32 * 1_048_576 } as const;

/**
 * Keeps whole sessions for conditional reads and paging. Nothing else keeps them. It is limited by count and by the
 * bytes of response bodies; the least recently used go first.
 */
function createSessionCache() {
	// A Map keeps the order of insertion: its first key is the least recently used one.
	const entries = new Map<string, KeptSession>();

	return {
		get(sessionId: string): KeptSession | undefined {
			const kept = entries.get(sessionId);
			if (kept !== undefined) setBounded(entries, sessionId, kept, CACHE.sessions);
			return kept;
		},
		/** Keeps a session, unless a reading that began later is kept already. */
		set(sessionId: string, kept: KeptSession): void {
			if ((entries.get(sessionId)?.beganAt ?? Number.NEGATIVE_INFINITY) > kept.beganAt) return;
			setBounded(entries, sessionId, kept, CACHE.sessions);
			let bytes = 0;
			for (const [id, { response }] of [...entries].reverse()) {
				bytes += response.byteCount;
				if (bytes > CACHE.bytes && id !== sessionId) entries.delete(id);
			}
		},
	};
}

/** A running read is shared for this time. That covers several presses on one card, and watching at the same moment. */
const LONGEST_AGE_MS = 250;

interface RunningRead {
	readonly sessionId: string;
	readonly isPersons: boolean;
	readonly startedAt: number;
	readonly controller: AbortController;
	readonly result: Promise<MeasuredReading>;
	readers: number;
}

/**
 * Readers of one session at about the same time share a read. It is aborted when all have left. Watching may join a
 * person's read. A person joins none of watching, whose permit may take long. Deliveries never share, because they must
 * read after taking their lease.
 */
function createSharedReads(clock: Clock) {
	const running = new Set<RunningRead>();

	function begin(sessionId: string, isPersons: boolean, start: (signal: AbortSignal) => Promise<MeasuredReading>) {
		const controller = new AbortController();
		const result = start(controller.signal).finally(() => running.delete(read));
		const read = { sessionId, isPersons, startedAt: uptimeOf(clock), controller, result, readers: 0 };
		running.add(read);
		return read;
	}

	return async (
		{ sessionId, isPersons, signal }: { sessionId: string; isPersons: boolean; signal: AbortSignal | undefined },
		start: (signal: AbortSignal) => Promise<MeasuredReading>,
	): Promise<MeasuredReading> => {
		signal?.throwIfAborted();
		const joinable = Array.from(running).findLast(
			(read) =>
				read.sessionId === sessionId &&
				(read.isPersons || !isPersons) &&
				!read.controller.signal.aborted &&
				uptimeOf(clock) - read.startedAt <= LONGEST_AGE_MS,
		);
		const read = joinable ?? begin(sessionId, isPersons, start);
		read.readers++;
		return unlessAborted(read.result, signal, () => {
			read.readers--;
			if (read.readers === 0) read.controller.abort(signal?.reason);
		});
	};
}
