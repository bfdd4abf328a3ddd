import { Pool } from 'undici';
import type { Clock } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Log } from '../log.ts';
import { parseBaseUrl, sessionPath } from './address.ts';
import type { RequestBudget } from './budget.ts';
import type { RateLimitObservation, RequestPriority } from './budget-state.ts';
import { errorOfFailure, errorOfStatus, type Operation, SessionServiceError } from './errors.ts';
import { type CallTimeouts, ExchangeFailure, exchange, type HttpResponse } from './exchange.ts';
import { createBodySlots } from './response-bodies.ts';

/** The largest body of a response: 32 MiB. */
const MAX_BODY_BYTES = 32 * 1_048_576;

/** What a call came to, for metrics: no text of a session in it. */
export interface CallReport {
	readonly priority: RequestPriority;
	/** `ok`, `unchanged` (304), an error's code, or `cancelled`. */
	readonly outcome: string;
}

interface Call {
	readonly operation: Operation;
	readonly sessionId: string;
	readonly priority: RequestPriority;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: Buffer;
	/** See `ExchangeRequest`. */
	readonly maySend?: (() => boolean) | undefined;
	/** The request's number in the budget. */
	readonly sequence: number;
	/** Milliseconds left for the whole call, when less than the usual. */
	readonly timeoutMs?: number;
	readonly signal?: AbortSignal | undefined;
}

/** Sends requests to the one service over one keep-alive pool, and tells the budget what the responses say. */
export interface Transport {
	/** The path of a session. @throws SessionServiceError `invalid_session_id` */
	pathOf(sessionId: string): string;
	/**
	 * One request, no redirect followed. `use` gets the response while its large body's slot is still held.
	 * @throws SessionServiceError; the signal's reason when it is aborted
	 */
	send<T>(call: Call, use: (response: HttpResponse) => T): Promise<T>;
	/** The path of a redirect's target, or null when it is on another origin or unreadable. */
	redirectTarget(response: HttpResponse, from: string): string | null;
	/** Cuts whatever still runs. */
	close(): Promise<void>;
}

/** @param largeBodies bodies over 1 MiB held at once, from their first megabyte until they are parsed */
export function createTransport({
	baseUrl,
	apiKey,
	clock,
	log,
	budget,
	timeouts,
	largeBodies,
	onCall,
}: {
	baseUrl: string;
	apiKey: string;
	clock: Clock;
	log: Log;
	budget: RequestBudget;
	timeouts: CallTimeouts;
	largeBodies: number;
	onCall: ((report: CallReport) => void) | undefined;
}): Transport {
	const address = parseBaseUrl(baseUrl);
	if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('The API key must be printable ASCII without spaces');
	const pool = new Pool(address.origin, {
		// As many as the budget hands out in a minute: no request ever waits for another one's slow response.
		connections: 256,
		pipelining: 1,
		allowH2: false,
		connect: { timeout: timeouts.connect },
		// The service closes idle connections after 5 s. A PUT that meets that moment has an unknown outcome, so ours are
		// given up well before, whatever a `Keep-Alive` header promises.
		keepAliveTimeout: 3_500,
		keepAliveMaxTimeout: 3_500,
		keepAliveTimeoutThreshold: 1_500,
	});
	const slots = createBodySlots(largeBodies);

	/** Tells the budget what the response says. @returns when the next try makes sense, of a 429 */
	function observe({ status, headers }: HttpResponse, sequence: number, startedAt: number): number {
		const now = clock.now();
		const observation = readRateLimit({ status, headers, now, elapsedMs: now - startedAt });
		budget.observe(observation, sequence);
		return now + (observation.retryAfterSeconds ?? 0) * 1000;
	}

	function report({ operation, priority, sessionId }: Call, outcome: string, startedAt: number): void {
		log.debug({ operation, priority, sessionId, outcome, ms: clock.now() - startedAt }, 'session service call');
		onCall?.({ priority, outcome });
	}

	return {
		pathOf: (sessionId) => sessionPath(address, sessionId),

		async send(call, use) {
			const { operation, path, body, maySend, signal } = call;
			const method = operation === 'read' ? 'GET' : 'PUT';
			// Compression is not asked for: it would save little beside the service's own time, and a limit on what comes
			// out of a small body would be needed.
			const own = { 'x-api-key': apiKey, accept: 'application/json', 'accept-encoding': 'identity' };
			const allowed = { ...timeouts, call: Math.min(timeouts.call, call.timeoutMs ?? timeouts.call) };
			const startedAt = clock.now();
			let giveBack = () => {};
			try {
				const response = await exchange(
					{ pool, clock, timeouts: allowed, maxBodyBytes: MAX_BODY_BYTES },
					{ method, path, headers: { ...own, ...call.headers }, body, maySend },
					{
						signal,
						claimLargeBody: async (ended) => {
							giveBack = await slots.acquire(call.priority, ended);
						},
					},
				);
				const retryAt = observe(response, call.sequence, startedAt);
				const error = errorOfStatus(response, operation, retryAt);
				// Redirects of a read are the caller's to follow.
				const isFollowable = operation === 'read' && response.headers.has('location');
				if (error !== null && !(error.code === 'redirected' && isFollowable)) throw error;
				const result = use(response);
				report(call, outcomeOf(response), startedAt);
				return result;
			} catch (failure) {
				const error = failure instanceof ExchangeFailure ? errorOfFailure(failure, operation) : failure;
				report(call, error instanceof SessionServiceError ? error.code : 'cancelled', startedAt);
				throw error;
			} finally {
				giveBack();
			}
		},

		redirectTarget(response, from) {
			const target = URL.parse(response.headers.get('location') ?? '', `${address.origin}${from}`);
			return target?.origin === address.origin ? `${target.pathname}${target.search}` : null;
		},

		close: () => pool.destroy(),
	};
}

function outcomeOf({ status }: HttpResponse): string {
	if (status === 304) return 'unchanged';
	return status < 300 ? 'ok' : 'redirected';
}

/** A 429 that does not say how long: as long as the service's window. */
const DEFAULT_PAUSE_SECONDS = 60;

/**
 * Reads `RateLimit-*` and, of a 429, `Retry-After`. Only headers: the service's plain sentence in the body names
 * another number of seconds (57 beside a header of 28 in one response), and the header is the right one.
 *
 * @param elapsedMs since the request was sent: the service counts a request when it arrives and may answer seconds
 * later, so `RateLimit-Reset` is that much older
 */
export function readRateLimit({
	status,
	headers,
	now,
	elapsedMs,
}: Pick<HttpResponse, 'status' | 'headers'> & { now: number; elapsedMs: number }): RateLimitObservation {
	const limit = seconds(headers.get('ratelimit-limit'));
	const remaining = seconds(headers.get('ratelimit-remaining'));
	const reset = seconds(headers.get('ratelimit-reset'));
	const resetSeconds = reset === undefined ? undefined : Math.max(0, reset - elapsedMs / 1000);
	const after = retryAfter(headers.get('retry-after'), now) ?? reset ?? DEFAULT_PAUSE_SECONDS;
	const retryAfterSeconds = status === 429 ? Math.min(after, LONGEST_RETRY_AFTER_MS / 1000) : undefined;
	return { limit, remaining, resetSeconds, retryAfterSeconds };
}

function seconds(value: string | undefined): number | undefined {
	return value !== undefined && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : undefined;
}

/** Seconds, or a date as HTTP allows. */
function retryAfter(value: string | undefined, now: number): number | undefined {
	const plain = seconds(value);
	if (plain !== undefined || value === undefined) return plain;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
