import pRetry from 'p-retry';
import { putBodyOf } from '../domain/compare.ts';
import { gated, type Session } from '../domain/session.ts';
import { type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import { codeOf } from '../kernel/errors.ts';
import { inSlices } from '../kernel/lease-loop.ts';
import { loggedId } from '../kernel/log.ts';
import { setBounded } from '../kernel/memory.ts';
import { backOff } from '../kernel/retries.ts';
import type { Permit, RequestBudget } from './budget.ts';
import { idIn, isPutSuccess, type ListPage, listQuery, readListResponse, readSessionResponse } from './schema.ts';
import {
	isSameButCase,
	type MeasuredReading,
	type RequestPriority,
	type SessionReading,
	type SessionServiceClient,
	SessionServiceError,
	type WaitingList,
} from './service.ts';
import { createTransport, type KeptResponse, MAX_PAGE_BYTES, type TransportOptions } from './transport.ts';

/** The largest PUT. The service takes 100 kB (the smaller meaning of the unit is used) and fails above that. */
const MAX_REQUEST_BYTES = 100_000;

/** From a read's start: how long it waits for a permit, and may begin a repeat. Each attempt adds a call's time. */
const PATIENCE = {
	delivery: { permitMs: 30_000, repeatMs: 10_000, retries: 4 },
	person: { permitMs: 8_000, repeatMs: 8_000, retries: 3 },
	// Watching reads again anyway.
	background: { permitMs: 60_000, repeatMs: 0, retries: 0 },
} as const satisfies Readonly<Record<RequestPriority, object>>;

/** Older readings are not shown again. */
const LATEST_MS = 10 * 60_000;
/** The wait before a repeat, doubled for each further one up to the longest; a random 50 to 100 % of it is used. */
const WAIT = { firstMs: 250, longestMs: 5_000 } as const;

interface ReadOptions {
	readonly priority: RequestPriority;
	readonly signal: AbortSignal | undefined;
	readonly arrived?: number | undefined;
	/** Waits until `deadline` (clock milliseconds) for a permit. */
	permit(deadline: number): Promise<Permit>;
	/** Gives back what is kept for a PUT, before the wait for a repeat. */
	giveBack?(): void;
}

interface ClientOptions extends TransportOptions {
	/** How many answers of ours have arrived. */
	readonly arrivals?: (sessionId: string) => Promise<number | null>;
	/** A read is the first or found another state. */
	readonly onChanged?: (session: Session) => void;
	readonly spellings?: Spellings;
}

/** What is stored under other spellings of a session's id. */
export interface Spellings {
	/** The ids with such rows that differ from this one by letter case only. */
	others(sessionId: string): Promise<readonly string[]>;
	/** The service says that `former` is `sessionId`. */
	move(former: string, sessionId: string): Promise<unknown>;
}

/** For the read of a pair, which is ended as a whole. */
const OF_PAIR: Permit = { [Symbol.dispose]: () => undefined };

const NO_SPELLINGS: Spellings = { others: async () => [], move: async () => null };
/** What only the id that was asked for can cause: where another id was just read, they are two sessions. */
const OF_ONE_ID = new Set(['session_not_found', 'refused', 'body_too_large', 'body_too_complex', 'invalid_session_id']);
/** How many sessions are known to have nothing stored under other spellings, and how many other spellings of lists. */
const MAX_SETTLED = 10_000;

/** The session service's two operations, and the list that some services have. */
export function createSessionServiceClient(options: ClientOptions): SessionServiceClient {
	const { clock, log, budget, onChanged = () => {}, arrivals = async () => null, spellings = NO_SPELLINGS } = options;
	const transport = createTransport(options);
	const cache = createSessionCache();
	const share = createSharedReads(clock);
	const settled = new Map<string, true>();
	/** The ids of sessions by other spellings with which they were asked for. */
	const idsOf = new Map<string, string>();

	/**
	 * Has all rows of a session stand under the id that the service says, before anybody uses what was read: else lists
	 * of who may answer, claims and answers miss each other. `idBy`: the id that the service says for another one.
	 */
	async function settle(asked: string, id: string, idBy: (other: string) => Promise<string | null>): Promise<void> {
		if (asked === id) idsOf.delete(asked);
		else {
			setBounded(idsOf, asked, id, MAX_SETTLED);
			await spellings.move(asked, id);
		}
		if (settled.has(id)) return;
		// A service that distinguishes letter case has another session there, which keeps what is its own.
		for (const other of await spellings.others(id)) if ((await idBy(other)) === id) await spellings.move(other, id);
		setBounded(settled, id, true, MAX_SETTLED);
	}

	/** The id that the service says for a spelling of a session that was read; null: it is no spelling of that. */
	async function idBy(sessionId: string, { priority, signal, permit }: ReadOptions, permitBy: number) {
		try {
			using _ = await permit(permitBy);
			const call = { operation: 'read', sessionId, priority, path: transport.pathOf(sessionId), signal } as const;
			return (await transport.send({ ...call, read: (value) => idIn(value, sessionId) })).value;
		} catch (error) {
			if (OF_ONE_ID.has(codeOf(error))) return null;
			throw error;
		}
	}

	async function readOnce(sessionId: string, { priority, signal, arrived, permit }: ReadOptions, permitBy: number) {
		const path = transport.pathOf(sessionId);
		// Held, because the cache may drop it before a 304.
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
				const whole = await inSlices(readSessionResponse(value, json, sessionId));
				return whole && inSlices(gated(whole));
			},
		});
		held[Symbol.dispose]();
		const { value: session, endedAt, tookMs } = response;
		const id = session.sessionId;
		if (!isSameButCase(id, sessionId)) {
			log.warn('other_session', { session: loggedId(sessionId), sent: loggedId(id) });
			throw new SessionServiceError('other_session', 'The response has another session than the one asked for');
		}
		await settle(sessionId, id, (other) => idBy(other, { priority, signal, permit }, permitBy));
		// It was counted for the other spelling.
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
		// p-retry counts the attempts. We wait ourselves, by Retry-After and on the injected clock.
		return pRetry(() => readOnce(sessionId, options, startedAt + permitMs), {
			retries,
			minTimeout: 0,
			signal,
			async onFailedAttempt({ error, attemptNumber: attempt, retriesLeft }) {
				if (!(error instanceof SessionServiceError)) throw error;
				// Why it is repeated says more than that its turn comes later.
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

	const listWaiting = createSessionList(transport, budget, clock);

	return {
		callTimeoutMs: transport.callTimeoutMs,
		deliveryReadMs: 2 * PATIENCE.delivery.permitMs + transport.callTimeoutMs,
		async listWaiting(signal) {
			const { sessions, ...list } = await listWaiting(signal);
			const named = sessions.map((one) => ({ ...one, sessionId: idsOf.get(one.sessionId) ?? one.sessionId }));
			return { ...list, sessions: [...new Map(named.map((one) => [one.sessionId, one])).values()] };
		},

		async read(sessionId, { priority, signal, person = '', arrived }) {
			const start = (readSignal: AbortSignal | undefined) =>
				readPatiently(sessionId, {
					priority,
					signal: readSignal,
					arrived,
					permit: (deadline) => budget.acquire(priority, { deadline, signal: readSignal, person }),
				});
			if (priority === 'delivery') return start(signal);
			return share({ sessionId, isPersons: priority === 'person', signal }, start);
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
				read: (sessionId) =>
					readPatiently(sessionId, {
						priority: 'delivery',
						signal,
						async permit(deadline) {
							// A repeat takes a new pair: after a long wait, the old permit of the PUT counts in a past window.
							if (!isFirst) {
								pair[Symbol.dispose]();
								pair = await takePair(deadline);
							}
							isFirst = false;
							return OF_PAIR;
						},
						giveBack: () => pair[Symbol.dispose](),
					}),
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
						// No signal: a PUT that has begun is completed, because aborting it makes its outcome unknown.
						read: (value) => isPutSuccess(value) || null,
					});
				},
				[Symbol.dispose]: () => pair[Symbol.dispose](),
			};
		},

		close: transport.close,
	};
}

interface KeptSession extends SessionReading {
	readonly response: KeptResponse<Session>;
	/** `readAt` on the clock's uptime. */
	readonly beganAt: number;
}

const CACHE = { sessions: 1_000, bytes: 32 * 1_048_576 } as const;

/** The only place that keeps whole sessions, for conditional reads and paging: the last used, by bytes of bodies. */
function createSessionCache() {
	// A Map keeps the order of insertion: its first key is the least recently used one.
	const entries = new Map<string, KeptSession>();

	return {
		get(sessionId: string): KeptSession | undefined {
			const kept = entries.get(sessionId);
			if (kept !== undefined) setBounded(entries, sessionId, kept, CACHE.sessions);
			return kept;
		},
		/** Keeps a session unless a later reading of it is kept. */
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

/** Covers several presses on one card and a read for watching at the same moment. */
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
 * Readers of a session at about the same time share a read, which ends when all left. Background may join a person's, a
 * person none of background: its permit may take long. Deliveries never share: they read after taking the lease.
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

/** A smaller page may be read. */
const TOO_LARGE = new Set(['body_too_large', 'body_too_complex']);
const PAGE_SIZE = 200;
const MAX_SESSIONS = 1_000;
const MAX_PAGES = 10;
/** For all pages together, with the wait for permits. */
const LISTING_MS = 45_000;

/** Lists waiting sessions, if the service can. After a page that is too large, pages are half as large from then on. */
function createSessionList(transport: ReturnType<typeof createTransport>, budget: RequestBudget, clock: Clock) {
	/** The pages of the newest list, of `pageSize`. */
	let kept: readonly KeptResponse<ListPage>[] = [];
	let pageSize = PAGE_SIZE;

	return async function listWaiting(signal?: AbortSignal): Promise<WaitingList> {
		const deadline = clock.now() + LISTING_MS;
		let pages: KeptResponse<ListPage>[] = [];
		let requestCount = 0;
		let tookMs = 0;

		async function readPage(): Promise<ListPage> {
			const asked = { limit: pageSize, page: pages.length + 1 };
			using _ = await budget.acquire('background', { deadline, signal });
			requestCount++;
			const startedAt = uptimeOf(clock);
			const call = transport.send({
				operation: 'list',
				sessionId: null,
				priority: 'background',
				path: `${transport.listPath}?${listQuery(asked)}`,
				kept: kept[pages.length],
				maxBodyBytes: MAX_PAGE_BYTES,
				timeoutMs: Math.max(1, deadline - clock.now()),
				signal,
				read: (value) => readListResponse(value, asked),
			});
			const page = await call.finally(() => {
				tookMs += uptimeOf(clock) - startedAt;
			});
			pages.push(page);
			return page.value;
		}

		/** @returns the last page. When one is too large, all are read again, half as large. */
		async function readPages(): Promise<ListPage> {
			pages = [];
			const mostPages = Math.min(MAX_PAGES, Math.ceil(MAX_SESSIONS / pageSize));
			try {
				let newest = await readPage();
				while (pages.length < Math.min(newest.pageCount, mostPages)) newest = await readPage();
				return newest;
			} catch (error) {
				if (!TOO_LARGE.has(codeOf(error)) || pageSize === 1) throw error;
				pageSize = Math.floor(pageSize / 2);
				kept = [];
				return readPages();
			}
		}

		const { sessionCount } = await readPages();
		kept = pages;
		const itemCount = pages.reduce((sum, { value }) => sum + value.itemCount, 0);
		const sessions = pages.flatMap(({ value }) => value.sessions);
		return {
			sessions: [...new Map(sessions.map((session) => [session.sessionId, session])).values()],
			isComplete: pages.every(({ value }) => value.sessionCount === sessionCount) && itemCount >= sessionCount,
			requestCount,
			tookMs,
		};
	};
}
