import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../clock.ts';
import { LONGEST_RETRY_AFTER_MS } from '../errors.ts';
import type { Log } from '../log.ts';
import { CONNECTIONS } from '../proxy.ts';
import { listPath, parseBaseUrl, sessionPath } from './address.ts';
import type { RequestBudget } from './budget.ts';
import { PRIORITIES, type RateLimitObservation, type RequestPriority } from './budget-state.ts';
import { errorOfStatus, SessionServiceError } from './errors.ts';
import { type CallTimeouts, exchange, type HttpRequest, type HttpResponse } from './exchange.ts';

/** The largest body of a response: 32 MiB. */
const MAX_BODY_BYTES = 32 * 1_048_576;

/** For metrics. */
export interface CallReport {
	readonly priority: RequestPriority;
	/** `ok`, `unchanged` (304), an error's code, or `cancelled`. */
	readonly outcome: string;
}

interface Call extends Pick<HttpRequest, 'operation' | 'path' | 'headers' | 'body' | 'maySend' | 'signal'> {
	/** Null for a list. */
	readonly sessionId: string | null;
	readonly priority: RequestPriority;
	/** The request's sequence number in the budget. */
	readonly sequence: number;
	readonly maxBodyBytes?: number;
	/** Milliseconds for the whole call, if less than usual. */
	readonly timeoutMs?: number;
}

export interface TransportOptions {
	readonly baseUrl: string;
	readonly apiKey: string;
	readonly clock: Clock;
	readonly log: Log;
	readonly budget: RequestBudget;
	readonly timeouts: CallTimeouts;
	/** Bodies over 1 MiB held at once, from their first megabyte until they are parsed. Default: 2. */
	readonly largeBodies?: number;
	/** Sends the requests instead of a pool of its own; `close` ends it too. */
	readonly proxy?: Dispatcher | null;
	readonly onCall?: ((report: CallReport) => void) | undefined;
}

export type Transport = ReturnType<typeof createTransport>;

/**
 * Sends requests to the service over one keep-alive pool, and tells the budget what the responses say.
 * @throws TypeError for an invalid address or key
 */
export function createTransport(options: TransportOptions) {
	const { baseUrl, apiKey, clock, log, budget, timeouts, largeBodies = 2, proxy = null, onCall } = options;
	const address = parseBaseUrl(baseUrl);
	if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('The API key must be printable ASCII without spaces');
	const { origin } = address;
	const dispatcher = proxy ?? new Pool(origin, { ...CONNECTIONS, connect: { timeout: timeouts.connect } });
	const slotFor = createBodySlots(largeBodies);

	/** @returns for a 429, when the next try makes sense */
	function observe(response: HttpResponse, sequence: number, startedAt: number): number {
		const now = clock.now();
		const observation = readRateLimit(response, now, now - startedAt);
		budget.observe(observation, sequence);
		return now + (observation.retryAfterSeconds ?? 0) * 1000;
	}

	function report({ operation, priority, sessionId }: Call, outcome: string, startedAt: number): void {
		log.debug({ operation, priority, sessionId, outcome, ms: clock.now() - startedAt }, 'session service call');
		onCall?.({ priority, outcome });
	}

	return {
		/** @throws SessionServiceError `invalid_session_id` */
		pathOf: (sessionId: string) => sessionPath(address, sessionId),
		listPath: listPath(address),

		/**
		 * Sends one request and follows no redirect. `use` gets the response while the slot of a large body is still held.
		 * @throws SessionServiceError; the signal's reason when it is aborted
		 */
		async send<T>(call: Call, use: (response: HttpResponse) => T): Promise<T> {
			const { operation, priority, path, headers, body, maySend, signal, maxBodyBytes = MAX_BODY_BYTES } = call;
			const startedAt = clock.now();
			const slot = slotFor(priority);
			try {
				const response = await exchange(dispatcher, clock, {
					operation,
					origin,
					path,
					// No compression: it would save little of the service's time, and decompression would need a limit of its own.
					headers: { 'x-api-key': apiKey, accept: 'application/json', 'accept-encoding': 'identity', ...headers },
					...(body && { body }),
					maySend,
					signal,
					timeouts: { ...timeouts, call: Math.min(timeouts.call, call.timeoutMs ?? timeouts.call) },
					maxBodyBytes,
					claimLargeBody: slot.take,
				});
				const retryAt = observe(response, call.sequence, startedAt);
				const error = errorOfStatus(response.status, operation, retryAt);
				if (error !== null) throw error;
				const result = use(response);
				report(call, response.status === 304 ? 'unchanged' : 'ok', startedAt);
				return result;
			} catch (error) {
				report(call, error instanceof SessionServiceError ? error.code : 'cancelled', startedAt);
				throw error;
			} finally {
				slot.giveBack();
			}
		},

		/** Aborts the running calls. */
		close: () => dispatcher.destroy(),
	};
}

/**
 * A body of 32 MB needs several times that memory while it is decoded and parsed, so only `slots` large ones are held
 * at once. Background never takes the last slot, so that people and deliveries do not wait.
 * @returns a function that makes the slot of one call, which is taken when its body is large
 */
export function createBodySlots(slots: number) {
	const waiting = new Set<{ readonly priority: RequestPriority; readonly grant: () => void }>();
	let taken = 0;

	function grantFree(): void {
		for (const priority of PRIORITIES) {
			const kept = priority === 'background' && slots > 1 ? 1 : 0;
			for (const waiter of waiting) {
				if (taken >= slots - kept) break;
				if (waiter.priority !== priority) continue;
				waiting.delete(waiter);
				taken++;
				waiter.grant();
			}
		}
	}

	return (priority: RequestPriority) => {
		let isHeld = false;
		return {
			/** Resolves when it is free. Rejects with the signal's reason when that is aborted first. */
			async take(signal: AbortSignal): Promise<void> {
				signal.throwIfAborted();
				const { promise, resolve, reject } = Promise.withResolvers<void>();
				const grant = () => {
					isHeld = true;
					resolve();
				};
				const waiter = { priority, grant };
				const leave = () => {
					waiting.delete(waiter);
					reject(signal.reason);
				};
				signal.addEventListener('abort', leave, { once: true });
				waiting.add(waiter);
				grantFree();
				await promise.finally(() => signal.removeEventListener('abort', leave));
			},
			/** Does nothing if it is not held. */
			giveBack(): void {
				if (!isHeld) return;
				isHeld = false;
				taken--;
				grantFree();
			},
		};
	};
}

/** The service's window, for a 429 that does not say how long to wait. */
const DEFAULT_PAUSE_SECONDS = 60;

/**
 * Reads `RateLimit-*` and, of a 429, `Retry-After`. The sentence in the service's body names another number of seconds
 * and is wrong. `elapsedMs`: since the request was sent. The service may respond that much later than it counted it.
 */
export function readRateLimit(
	{ status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
	now: number,
	elapsedMs: number,
): RateLimitObservation {
	const limit = wholeNumber(headers.get('ratelimit-limit'));
	const remaining = wholeNumber(headers.get('ratelimit-remaining'));
	const reset = wholeNumber(headers.get('ratelimit-reset'));
	const resetSeconds = reset === undefined ? undefined : Math.max(0, reset - elapsedMs / 1000);
	const after = retryAfter(headers.get('retry-after'), now) ?? reset ?? DEFAULT_PAUSE_SECONDS;
	const retryAfterSeconds = status === 429 ? Math.min(after, LONGEST_RETRY_AFTER_MS / 1000) : undefined;
	return { limit, remaining, resetSeconds, retryAfterSeconds };
}

function wholeNumber(value: string | undefined): number | undefined {
	return value !== undefined && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : undefined;
}

/** Seconds, or a date as HTTP allows. */
function retryAfter(value: string | undefined, now: number): number | undefined {
	const seconds = wholeNumber(value);
	if (seconds !== undefined || value === undefined) return seconds;
	const date = Date.parse(value);
	return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
