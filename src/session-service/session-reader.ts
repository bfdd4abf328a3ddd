import pRetry from 'p-retry';
import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Session } from '../questions/session.ts';
import type { RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';
import { readSessionFrom } from './response-bodies.ts';
import type { KeptSession, SessionCache } from './session-cache.ts';
import type { Transport } from './transport.ts';

/** One reading of a session. */
export interface SessionReading {
	readonly session: Session;
	/** Clock milliseconds when the request began: the session is shown as it was then or later. */
	readonly readAt: number;
	/** Clock milliseconds when the read that brought `session` began: later ones found the very same object (304). */
	readonly since: number;
	/** Clock milliseconds when the whole response had arrived. */
	readonly endedAt: number;
}

/** How a read waits, in milliseconds from its beginning. Each attempt may take as long as any call, on top of that. */
interface Patience {
	/** For the budget's permit. */
	readonly permitMs: number;
	/** No attempt is repeated later than this, nor more often than `retries`. */
	readonly repeatMs: number;
	readonly retries: number;
}

export const PATIENCE: Readonly<Record<RequestPriority, Patience>> = {
	delivery: { permitMs: 30_000, repeatMs: 10_000, retries: 4 },
	person: { permitMs: 8_000, repeatMs: 8_000, retries: 3 },
	// Watching just polls again.
	background: { permitMs: 60_000, repeatMs: 0, retries: 0 },
};

const MOST_REDIRECTS = 3;

/** Milliseconds before the first repeat; doubled for each further one up to the longest, then spread over 50 to 100 %. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

interface ReadOptions {
	readonly priority: RequestPriority;
	readonly signal: AbortSignal | undefined;
	/** Gives the budget's number of a request that may be sent now, before `deadline` (clock milliseconds). */
	permit(deadline: number): Promise<number>;
}

export interface SessionReader {
	/**
	 * Reads a session, again after failures that may pass, as far as the priority's patience goes. Conditional while the
	 * last result is held, redirects within the origin followed; each request takes a permit.
	 * @throws SessionServiceError, or the signal's reason
	 */
	read(sessionId: string, options: ReadOptions): Promise<SessionReading>;
}

export function createSessionReader({
	transport,
	cache,
	callMs,
	clock,
	log,
}: {
	transport: Transport;
	cache: SessionCache;
	/** How long a call may take. */
	callMs: number;
	clock: Clock;
	log: Log;
}): SessionReader {
	/** @param known held by the caller, so that a 304 has its session even if the cache lets go of it meanwhile */
	function readingFrom(
		response: HttpResponse,
		sessionId: string,
		began: Pick<KeptSession, 'readAt' | 'beganAt'>,
		known: KeptSession | undefined,
	): SessionReading {
		const times = { readAt: began.readAt, endedAt: response.arrivedAt };
		if (response.status === 304) {
			if (known === undefined || known.etag === null) {
				throw new SessionServiceError('unreadable_answer', '304 to a read that named no ETag');
			}
			cache.set(sessionId, { ...known, ...began });
			return { session: known.session, since: known.since, ...times };
		}
		const session = readSessionFrom(response, sessionId);
		cache.set(sessionId, { session, etag: etagOf(response), since: began.readAt, ...began });
		return { session, since: began.readAt, ...times };
	}

	async function attempt(
		sessionId: string,
		{ priority, signal, permit }: ReadOptions,
		permitBy: number,
	): Promise<SessionReading> {
		let path = transport.pathOf(sessionId);
		const known = cache.get(sessionId);
		const headers: Record<string, string> = known?.etag == null ? {} : { 'if-none-match': known.etag };
		for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
			const sequence = await permit(permitBy);
			const began = { readAt: clock.now(), beganAt: uptimeOf(clock) };
			const timeoutMs = Math.max(1, permitBy + callMs - began.readAt);
			const from = path;
			const result = await transport.send(
				{ operation: 'read', sessionId, priority, path, headers, sequence, timeoutMs, signal },
				(response) =>
					isRedirect(response)
						? { redirect: transport.redirectTarget(response, from) }
						: readingFrom(response, sessionId, began, known),
			);
			if (!('redirect' in result)) return result;
			if (result.redirect === null) {
				throw new SessionServiceError('redirected', 'The session service redirects a read elsewhere');
			}
			path = result.redirect;
		}
		const message = `The session service redirects a read more than ${MOST_REDIRECTS} times`;
		throw new SessionServiceError('redirected', message);
	}

	return {
		read(sessionId, options) {
			const { priority, signal } = options;
			const { permitMs, repeatMs, retries } = PATIENCE[priority];
			const startedAt = clock.now();
			// p-retry counts and decides; the waiting is ours, because it honours Retry-After and runs on the injected clock.
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
					log.debug({ code: error.code, attempt: attemptNumber, waitMs: Math.round(waitMs) }, 'reading again');
					await clock.sleep(waitMs, signal);
				},
			});
		},
	};
}

/** Sent back as it came, so it must be something a header can hold. */
function etagOf({ headers }: HttpResponse): string | null {
	const etag = headers.get('etag') ?? '';
	return /^[\x21-\x7e]{1,256}$/.test(etag) ? etag : null;
}

function isRedirect({ status }: HttpResponse): boolean {
	return status >= 300 && status !== 304;
}

/** Milliseconds. A quarter of a second is what several presses on one card and a poll beside them fall into. */
const LONGEST_AGE_MS = 250;

interface RunningRead {
	readonly startedAt: number;
	readonly result: Promise<SessionReading>;
	readonly controller: AbortController;
	readers: number;
}

type SharedRead = (
	keys: readonly [string, ...string[]],
	signal: AbortSignal | undefined,
	start: (signal: AbortSignal) => Promise<SessionReading>,
) => Promise<SessionReading>;

/**
 * Lets readers who ask for the same session at nearly the same moment share one read: joins the first read under one of
 * `keys` that began within the last instant, or starts one under the last key. The signal it is started with aborts when
 * every reader has left.
 *
 * Joining means accepting a state that may be as old as the joined read is running; that is why the age is bounded and
 * why deliveries, which must read after they took the answer's lease, do not come here at all.
 */
export function createSharedReads(clock: Clock): SharedRead {
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

	return (keys, signal, start) =>
		new Promise((resolve, reject) => {
			if (signal?.aborted) {
				reject(signal.reason);
				return;
			}
			const read = keys.map(joinable).find((one) => one !== undefined) ?? begin(keys.at(-1) ?? keys[0], start);
			read.readers++;
			const abandon = () => {
				reject(signal?.reason);
				read.readers--;
				if (read.readers === 0) read.controller.abort(signal?.reason);
			};
			signal?.addEventListener('abort', abandon, { once: true });
			read.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abandon));
		});
}
