import pRetry from 'p-retry';
import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Session } from '../questions/session.ts';
import type { RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';
import { readBody } from './json.ts';
import { readSessionResponse } from './schema.ts';
import type { Transport } from './transport.ts';

export interface SessionReading {
	readonly session: Session;
	/** When the request began, clock milliseconds: the session is as it was then or later. */
	readonly readAt: number;
	/** When the read that brought `session` began, clock milliseconds: later reads found it unchanged (304). */
	readonly since: number;
	/** When the whole response had arrived, clock milliseconds. */
	readonly endedAt: number;
}

/** How long a read waits, in milliseconds from its start. Each attempt may take the time of a call on top of that. */
interface Patience {
	/** For a permit of the budget. */
	readonly permitMs: number;
	/** No repeat begins later than this; at most `retries` repeats. */
	readonly repeatMs: number;
	readonly retries: number;
}

export const PATIENCE: Readonly<Record<RequestPriority, Patience>> = {
	delivery: { permitMs: 30_000, repeatMs: 10_000, retries: 4 },
	person: { permitMs: 8_000, repeatMs: 8_000, retries: 3 },
	// Watching reads again anyway.
	background: { permitMs: 60_000, repeatMs: 0, retries: 0 },
};

/** Older readings are not shown again. */
const LATEST_MS = 10 * 60_000;
/** The wait before the first repeat, doubled for each further one up to the longest; a random 50 to 100 % of it is used. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

interface ReadOptions {
	readonly priority: RequestPriority;
	readonly signal: AbortSignal | undefined;
	/** Waits until `deadline` (clock milliseconds) for a permit; resolves to its sequence number. */
	permit(deadline: number): Promise<number>;
}

export function createSessionReader(transport: Transport, cacheBytes: number, clock: Clock, log: Log) {
	const cache = createSessionCache(cacheBytes);

	async function attempt(sessionId: string, { priority, signal, permit }: ReadOptions, permitBy: number) {
		const path = transport.pathOf(sessionId);
		// Held, because the cache may drop it before a 304.
		const cached = cache.get(sessionId);
		const headers: Record<string, string> = cached?.etag == null ? {} : { 'if-none-match': cached.etag };
		const sequence = await permit(permitBy);
		const began = { readAt: clock.now(), beganAt: uptimeOf(clock) };
		return transport.send({ operation: 'read', sessionId, priority, path, headers, sequence, signal }, (response) => {
			const times = { readAt: began.readAt, endedAt: response.arrivedAt };
			if (response.status === 304) {
				if (cached === undefined || cached.etag === null) {
					throw new SessionServiceError('unreadable_answer', 'A 304 to a read without an ETag');
				}
				cache.set(sessionId, { ...cached, ...began });
				return { session: cached.session, since: cached.since, ...times };
			}
			const session = readBody(response, 'read', (value) => readSessionResponse(value, sessionId));
			cache.set(sessionId, { session, etag: etagOf(response), since: began.readAt, ...began });
			return { session, since: began.readAt, ...times };
		});
	}

	return {
		/** Repeats after temporary failures, each with a permit. @throws SessionServiceError, or the signal's reason */
		read(sessionId: string, options: ReadOptions): Promise<SessionReading> {
			const { priority, signal } = options;
			const { permitMs, repeatMs, retries } = PATIENCE[priority];
			const startedAt = clock.now();
			// p-retry counts the attempts. We wait ourselves, by Retry-After and on the injected clock.
			return pRetry(() => attempt(sessionId, options, startedAt + permitMs), {
				retries,
				minTimeout: 0,
				signal,
				async onFailedAttempt({ error, attemptNumber, retriesLeft }) {
					if (!(error instanceof SessionServiceError) || !error.isPassing || retriesLeft === 0) throw error;
					const now = clock.now();
					const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attemptNumber - 1));
					const waitMs = error.retryAt === null ? full * (0.5 + Math.random() / 2) : error.retryAt - now;
					if (now + waitMs >= startedAt + repeatMs) throw error;
					log.debug(
						{ code: error.code, attempt: attemptNumber, waitMs: Math.round(waitMs) },
						'a read failed; trying again',
					);
					await clock.sleep(waitMs, signal);
				},
			});
		},

		/** A session as it was last read; null when that was more than 10 minutes ago or it is no longer in the cache. */
		latest(sessionId: string): Omit<SessionReading, 'endedAt'> | null {
			const kept = cache.get(sessionId);
			return kept === undefined || uptimeOf(clock) - kept.beganAt > LATEST_MS ? null : kept;
		},
	};
}

interface KeptSession extends Omit<SessionReading, 'endedAt'> {
	/** For the next conditional read. */
	readonly etag: string | null;
	/** `readAt` on the clock's uptime. */
	readonly beganAt: number;
}

/**
 * The only place that keeps whole sessions: for conditional reads, and for windows whose pages are turned. Keeps the most
 * recently used ones within `maxBytes` of memory: one takes from a kilobyte to 64 MB.
 */
function createSessionCache(maxBytes: number) {
	// A Map keeps the order of insertion: its first key is the least recently used one.
	const entries = new Map<string, { readonly kept: KeptSession; readonly weight: number }>();
	let bytes = 0;

	function drop(sessionId: string): void {
		bytes -= entries.get(sessionId)?.weight ?? 0;
		entries.delete(sessionId);
	}

	return {
		get(sessionId: string): KeptSession | undefined {
			const entry = entries.get(sessionId);
			if (entry !== undefined) {
				entries.delete(sessionId);
				entries.set(sessionId, entry);
			}
			return entry?.kept;
		},
		/** Keeps a session unless a later reading of it is kept. */
		set(sessionId: string, kept: KeptSession): void {
			const before = entries.get(sessionId);
			if (before !== undefined && before.kept.beganAt > kept.beganAt) return;
			const weight = before?.kept.session === kept.session ? before.weight : weightOf(kept.session);
			drop(sessionId);
			entries.set(sessionId, { kept, weight });
			bytes += weight;
			for (const oldest of entries.keys()) {
				if (bytes <= maxBytes) break;
				drop(oldest);
			}
		},
	};
}

/** V8 takes two bytes for each character of a text with any character beyond Latin-1, else one. */
const CHARACTER_BYTES = 2;
/** One object with the headers of its strings; 130 to 165 were measured. */
const OBJECT_BYTES = 200;

/** About the most memory that a session can take, in bytes: 0.01 (fields that nobody reads) to 65 times its body. */
function weightOf(value: unknown): number {
	if (typeof value === 'string') return CHARACTER_BYTES * value.length;
	if (typeof value !== 'object' || value === null) return 0;
	return Object.values(value).reduce((bytes: number, part) => bytes + weightOf(part), OBJECT_BYTES);
}

/** Null when it cannot be sent back in a header. */
export function etagOf({ headers }: HttpResponse): string | null {
	const etag = headers.get('etag') ?? '';
	return /^[\x21-\x7e]{1,256}$/.test(etag) ? etag : null;
}

/** Covers several presses on one card and a read for watching at the same moment. */
const LONGEST_AGE_MS = 250;

interface RunningRead {
	readonly startedAt: number;
	readonly result: Promise<SessionReading>;
	readonly controller: AbortController;
	readers: number;
}

/**
 * Lets readers who ask for the same session at nearly the same time share one read: joins a read under one of `keys` that
 * began within `LONGEST_AGE_MS`, or starts one under the last key. A started read is aborted when every reader has left.
 * Deliveries must read after they took the answer's lease, so they never share.
 */
export function createSharedReads(clock: Clock) {
	const running = new Map<string, RunningRead>();

	function begin(key: string, start: (signal: AbortSignal) => Promise<SessionReading>): RunningRead {
		const controller = new AbortController();
		const read = { startedAt: uptimeOf(clock), result: start(controller.signal), controller, readers: 0 };
		running.set(key, read);
		const forget = () => {
			if (running.get(key) === read) running.delete(key);
		};
		read.result.then(forget, forget);
		return read;
	}

	function joinable(key: string): RunningRead | undefined {
		const read = running.get(key);
		if (read === undefined || read.controller.signal.aborted) return undefined;
		return uptimeOf(clock) - read.startedAt <= LONGEST_AGE_MS ? read : undefined;
	}

	return async (
		keys: readonly [string, ...string[]],
		signal: AbortSignal | undefined,
		start: (signal: AbortSignal) => Promise<SessionReading>,
	): Promise<SessionReading> => {
		signal?.throwIfAborted();
		const read = keys.map(joinable).find((joined) => joined !== undefined) ?? begin(keys.at(-1) ?? keys[0], start);
		read.readers++;
		const left = Promise.withResolvers<never>();
		const leave = () => {
			left.reject(signal?.reason);
			read.readers--;
			if (read.readers === 0) read.controller.abort(signal?.reason);
		};
		signal?.addEventListener('abort', leave, { once: true });
		return Promise.race([left.promise, read.result]).finally(() => signal?.removeEventListener('abort', leave));
	};
}
