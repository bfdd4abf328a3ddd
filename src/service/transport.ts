import { type Dispatcher, Pool } from 'undici';
import { type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import { CODINGS } from '../kernel/errors.ts';
import { nextTurn } from '../kernel/lease-loop.ts';
import type { Log } from '../kernel/log.ts';
import { CONNECTIONS } from '../kernel/proxy.ts';
import { LONGEST_RETRY_AFTER_MS } from '../kernel/retries.ts';
import type { RateLimitObservation, RequestBudget } from './budget.ts';
import { exchange, type HttpRequest, type HttpResponse } from './exchange.ts';
import { errorOfStatus, PRIORITIES, parseBaseUrl, type RequestPriority, SessionServiceError } from './service.ts';

const MAX_BODY_BYTES = 32 * 1_048_576;
/** Of a page of a list. */
export const MAX_PAGE_BYTES = 10_000_000;
const CONNECT_WITHIN_MS = 3_000;

export interface CallReport extends Pick<Call<unknown>, 'operation' | 'priority'> {
	/** `ok`, `unchanged` (304), an error's code, or `cancelled`. */
	readonly outcome: string;
	/** Of the response's body; one that is too large is given up and counts as the largest. */
	readonly byteCount: number;
	readonly tookMs: number;
}

export interface KeptResponse<Value> {
	readonly value: Value;
	/** For the next request; null when it cannot be sent back. */
	readonly etag: string | null;
	readonly byteCount: number;
}

interface Call<Value> extends Pick<HttpRequest, 'operation' | 'path' | 'body' | 'maySend' | 'signal'> {
	/** Null for a list. */
	readonly sessionId: string | null;
	readonly priority: RequestPriority;
	/** Of an earlier call: if it is unchanged, the service need not send it again. */
	readonly kept?: KeptResponse<Value> | undefined;
	readonly maxBodyBytes?: number;
	/** Milliseconds for the whole call, if less than usual. */
	readonly timeoutMs?: number;
	/** Reads the JSON of the response; null for anything else than a response to this operation. */
	readonly read: (value: unknown, json: string) => Value | null | Promise<Value | null>;
}

export interface TransportOptions {
	readonly baseUrl: string;
	/** The key as it is now. */
	readonly apiKey: () => string;
	readonly clock: Clock;
	readonly log: Log;
	readonly budget: RequestBudget;
	/** A call is given up after this time. Default: 20 s. */
	readonly callTimeoutMs?: number;
	/** Sends the requests instead of a pool of its own; `close` ends it too. */
	readonly proxy?: Dispatcher | null;
	readonly onCall?: ((report: CallReport) => void) | undefined;
}

/** Sends requests to the service over one keep-alive pool, and tells the budget what the responses say. */
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
							// No compression: it saves little of the service's time, and decompression needs a limit of its own.
							'accept-encoding': 'identity',
							// With any other type the service's process can crash.
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
				// The service did nothing, because the key was revoked while its file changed.
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

/** Bodies over 1 MiB held at once, from their first megabyte until parsed: 32 MB need several times that memory. */
const LARGE_BODIES = 2;

/** The result makes the slot of a call, for a large body. Background leaves the last to people and deliveries. */
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
			/** Resolves when it is free. Rejects with the signal's reason when that is aborted first. */
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

/** The service's window, for a 429 that does not say how long to wait. */
const DEFAULT_PAUSE_SECONDS = 60;

/**
 * Reads `RateLimit-*` and, of a 429, `Retry-After`. The number of seconds in the service's body is wrong. `elapsedMs`:
 * since the request was sent. The service may respond that much later than it counted it.
 */
export function readRateLimit(
	{ status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
	now: number,
	elapsedMs: number,
): RateLimitObservation {
	const remaining = wholeNumber(headers.get('ratelimit-remaining'));
	const reset = wholeNumber(headers.get('ratelimit-reset'));
	const resetSeconds = reset === undefined ? undefined : Math.max(0, reset - elapsedMs / 1000);
	const after = retryAfter(headers.get('retry-after'), now) ?? reset ?? DEFAULT_PAUSE_SECONDS;
	const retryAfterSeconds = status === 429 ? Math.min(after, LONGEST_RETRY_AFTER_MS / 1000) : undefined;
	return { limit: limitPerMinute(headers), remaining, resetSeconds, retryAfterSeconds };
}

/** The strictest policy that these headers state (`250;w=60`: in seconds), else the limit for a minute; at least 1. */
export function limitPerMinute(headers: { get(name: string): string | null | undefined }): number | undefined {
	const stated = `${headers.get('ratelimit-limit') ?? ''},${headers.get('ratelimit-policy') ?? ''}`.slice(0, 1_000);
	const limit = /^\s*([1-9]\d{0,8})\b/.exec(stated)?.[1];
	if (limit === undefined) return undefined;
	const policies = Array.from(stated.matchAll(/\b([1-9]\d{0,8})\s*;[^,]*\bw=([1-9]\d{0,8})/g), ([, count, seconds]) =>
		Math.max(1, Math.floor((Number(count) * 60) / Number(seconds))),
	);
	return policies.length === 0 ? Number(limit) : Math.min(...policies);
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

/**
 * The most arrays, objects and elements of a body: some thousands of messages. JSON.parse cannot be interrupted, and
 * takes 2 s and 1.5 GB for a million different keys, but 60 ms for 32 MB of prose.
 */
const MAX_PARTS = 100_000;

export const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

const utf8 = new TextDecoder();

/**
 * What `read` finds in the JSON of a response; it returns null for a response to another operation.
 * @throws SessionServiceError `body_too_complex`, `not_a_list`, `coded_…` or `unreadable_answer` (a PUT may have saved)
 */
export async function readBody<T>(
	{ status, headers, body }: HttpResponse,
	operation: Call<T>['operation'],
	read: Call<T>['read'],
): Promise<T> {
	await nextTurn();
	const failed = (code: SessionServiceError['code'], what: string) => {
		const message = `The response of a ${operation} (status ${status}, ${body.length} bytes) ${what}`;
		return new SessionServiceError(code, message, { outcomeUnknown: operation === 'put' });
	};
	// We ask for `identity`. A compressed response is not decompressed: no danger of a decompression bomb.
	const coding = codingOf(headers);
	const coded = coding && failed(`coded_${coding}`, `has the content coding ${coding}`);
	if (coded !== null && coding !== 'other') throw coded;
	const text = utf8.decode(body);
	if (hasTooManyParts(text)) throw failed('body_too_complex', 'has too many parts');
	const result = await valueIn(text, read);
	if (result !== null) return result;
	// Some servers name a character set there, or a coding of their own that is none.
	if (coded !== null) throw coded;
	throw failed(operation === 'list' ? 'not_a_list' : 'unreadable_answer', 'is not what was asked for');
}

/** Null when the text is not JSON, or nested too deep to be sent back. */
async function valueIn<T>(text: string, read: Call<T>['read']): Promise<T | null> {
	try {
		return await read(JSON.parse(text), text);
	} catch {
		// The parser's message quotes the body, which may contain secrets: it is not kept, even as a cause.
		return null;
	}
}

function hasTooManyParts(text: string): boolean {
	let parts = 0;
	for (let at = 0; at < text.length && parts <= MAX_PARTS; at++) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfString(text, at);
		else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) parts++;
	}
	return parts > MAX_PARTS;
}

/** The index of the quote that ends the string that begins at `start`; the text's length when none does. */
export function endOfString(text: string, start: number): number {
	for (let from = start + 1; ; ) {
		const quote = text.indexOf('"', from);
		if (quote === -1) return text.length;
		let slash = quote - 1;
		while (text.charCodeAt(slash) === BACKSLASH) slash--;
		if ((quote - slash) % 2 === 1) return quote;
		from = quote + 1;
	}
}

/** Null: none. `other`: a name that is no coding known here, such as `UTF-8`: whether the body is readable shows. */
function codingOf(headers: HttpResponse['headers']): (typeof CODINGS)[number] | null {
	const codings = (headers.get('content-encoding') ?? '')
		.toLowerCase()
		.split(',')
		.map((one) => one.trim().replace(/^x-/, ''));
	const coding = codings.find((one) => !['', 'identity', 'none'].includes(one));
	return coding === undefined ? null : (CODINGS.find((known) => known === coding) ?? 'other');
}

function etagOf({ headers }: HttpResponse): string | null {
	const etag = headers.get('etag') ?? '';
	return /^[\x21-\x7e]{1,256}$/.test(etag) ? etag : null;
}
