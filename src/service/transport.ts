import { type Dispatcher, Pool } from 'undici';
import { type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { CONNECTIONS } from '../kernel/proxy.ts';
import type { RequestBudget } from './budget.ts';
import { exchange, type HttpRequest, type HttpResponse } from './exchange.ts';
import { readRateLimit } from './rate-limit-headers.ts';
import { type ReadJson, readBody } from './response-body.ts';
import { errorOfStatus, PRIORITIES, parseBaseUrl, type RequestPriority, SessionServiceError } from './service.ts';

const MAX_BODY_BYTES = 32 * 1_048_576;
/** The limit for a page of a list. */
export const MAX_PAGE_BYTES = 10_000_000;
const CONNECT_WITHIN_MS = 3_000;

export interface CallReport extends Pick<Call<unknown>, 'operation' | 'priority'> {
	/** `ok`, `unchanged` (304), the code of an error, or `cancelled`. */
	readonly outcome: string;
	/** Bytes of the response's body. One that is too large counts as the limit. */
	readonly byteCount: number;
	readonly tookMs: number;
}

export interface KeptResponse<Value> {
	readonly value: Value;
	/** For the next conditional request; null: the response had none that can be sent back. */
	readonly etag: string | null;
	readonly byteCount: number;
}

interface Call<Value> extends Pick<HttpRequest, 'operation' | 'path' | 'body' | 'maySend' | 'signal'> {
	/** Null for a list. */
	readonly sessionId: string | null;
	readonly priority: RequestPriority;
	/** The response of an earlier call, to make a conditional request. */
	readonly kept?: KeptResponse<Value> | undefined;
	readonly maxBodyBytes?: number;
	/** Milliseconds for the whole call, if less than `callTimeoutMs`. */
	readonly timeoutMs?: number;
	readonly read: ReadJson<Value>;
}

export interface TransportOptions {
	readonly baseUrl: string;
	/** The current key. It may change while the program runs. */
	readonly apiKey: () => string;
	readonly clock: Clock;
	readonly log: Log;
	readonly budget: RequestBudget;
	/** A call is given up after this many milliseconds. Default: 20,000. */
	readonly callTimeoutMs?: number;
	/** Sends the requests in place of an own pool. `close` also ends it. */
	readonly proxy?: Dispatcher | null;
	readonly onCall?: ((report: CallReport) => void) | undefined;
}

/** Sends requests to the service over one keep-alive pool, and passes rate limit headers to the budget. */
export function createTransport(options: TransportOptions) {
	const { baseUrl, apiKey, clock, log, budget, callTimeoutMs = 20_000, proxy = null, onCall } = options;
	const { origin, listPath, pathOf } = parseBaseUrl(baseUrl);
	const dispatcher = proxy ?? new Pool(origin, { ...CONNECTIONS, connect: { timeout: CONNECT_WITHIN_MS } });
	const slotFor = createBodySlots();

	return {
		callTimeoutMs,
		listPath,
		pathOf,

		/** Follows no redirect. Resolves to `kept` on 304. @throws SessionServiceError, or the signal's reason */
		async send<Value>(call: Call<Value>): Promise<KeptResponse<Value> & { endedAt: number; tookMs: number }> {
			const { operation, priority, sessionId, kept, body, maxBodyBytes = MAX_BODY_BYTES, read, ...request } = call;
			const startedAt = uptimeOf(clock);
			let byteCount = 0;
			let outcome = 'cancelled';
			const slot = slotFor(priority);
			try {
				const exchangeWith = (key: string) =>
					exchange(dispatcher, clock, {
						...request,
						operation,
						origin,
						headers: {
							'x-api-key': key,
							accept: 'application/json',
							// No compression: it would save little time, and decompression needs a limit of its own.
							'accept-encoding': 'identity',
							// The service's process can crash with any other type.
							...(body && { 'content-type': 'application/json' }),
							...(kept?.etag && { 'if-none-match': kept.etag }),
						},
						...(body && { body }),
						timeoutMs: Math.min(callTimeoutMs, call.timeoutMs ?? callTimeoutMs),
						maxBodyBytes,
						claimLargeBody: slot.take,
					});
				const key = apiKey();
				let response = await exchangeWith(key);
				// The key was replaced during the call. With a 401 the service did nothing, so the call is repeated.
				if (response.status === 401 && apiKey() !== key) response = await exchangeWith(apiKey());
				const now = clock.now();
				byteCount = response.body.length;
				const tookMs = uptimeOf(clock) - startedAt;
				const observation = readRateLimit(response, now, tookMs);
				budget.observe(observation);
				const error = errorOfStatus(response.status, operation, now + (observation.retryAfterSeconds ?? 0) * 1000);
				if (error !== null) throw error;
				const isUnchanged = response.status === 304 && kept?.etag != null;
				const brought = isUnchanged
					? kept
					: { value: await readBody(response, operation, read), etag: etagOf(response), byteCount };
				outcome = isUnchanged ? 'unchanged' : 'ok';
				return { ...brought, endedAt: response.arrivedAt, tookMs };
			} catch (error) {
				if (error instanceof SessionServiceError) outcome = error.code;
				if (outcome === 'body_too_large') byteCount = maxBodyBytes;
				throw error;
			} finally {
				slot.giveBack();
				const tookMs = uptimeOf(clock) - startedAt;
				if (outcome === 'ok' || outcome === 'unchanged') budget.took(tookMs);
				log.debug({ operation, priority, sessionId, outcome, ms: tookMs }, 'session service call');
				onCall?.({ operation, priority, outcome, byteCount, tookMs });
			}
		},

		/** Aborts the running calls. */
		close: () => dispatcher.destroy(),
	};
}

/** Bodies over 1 MiB that may be in memory at once, until parsed. One of 32 MB needs several times that memory. */
const LARGE_BODIES = 2;

/** Limits large bodies in memory. The result makes a call's slot. Watching leaves the last one to others. */
export function createBodySlots() {
	const waiting = new Set<{ readonly priority: RequestPriority; readonly grant: () => void }>();
	let taken = 0;

	function grantFree(): void {
		const inOrder = PRIORITIES.flatMap((priority) => [...waiting].filter((waiter) => waiter.priority === priority));
		for (const waiter of inOrder) {
			if (taken >= LARGE_BODIES - (waiter.priority === 'background' ? 1 : 0)) return;
			waiting.delete(waiter);
			taken++;
			waiter.grant();
		}
	}

	return (priority: RequestPriority) => {
		let isHeld = false;
		return {
			/** Resolves when the slot is taken. Rejects with the signal's reason when that is aborted first. */
			async take(signal: AbortSignal): Promise<void> {
				const { promise, resolve } = Promise.withResolvers<void>();
				const waiter = {
					priority,
					grant() {
						isHeld = true;
						resolve();
					},
				};
				waiting.add(waiter);
				grantFree();
				await unlessAborted(promise, signal, () => waiting.delete(waiter));
			},
			giveBack(): void {
				if (!isHeld) return;
				isHeld = false;
				taken--;
				grantFree();
			},
		};
	};
}

function etagOf({ headers }: HttpResponse): string | null {
	const etag = headers.get('etag') ?? '';
	return /^[\x21-\x7e]{1,256}$/.test(etag) ? etag : null;
}
