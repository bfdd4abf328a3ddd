import type { Dispatcher } from 'undici';
import { type Clock, uptimeOf } from '../clock.ts';
import { errorOfFailure, type FailureKind, type Operation } from './errors.ts';

/** Milliseconds. */
export interface CallTimeouts {
	/** Until the connection is open. */
	readonly connect: number;
	/** From the request's start, with queueing and connecting, to the response's headers. */
	readonly headers: number;
	/** Between two parts of the body. */
	readonly body: number;
	/** The whole call. */
	readonly call: number;
}

export interface ExchangeRequest {
	readonly operation: Operation;
	readonly origin: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: Buffer | undefined;
	/** Asked right before the request is written to its connection; when false, nothing is sent. */
	readonly maySend?: (() => boolean) | undefined;
}

export interface HttpResponse {
	readonly status: number;
	/** By lower-case name; the first value of a repeated header. */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
	/** When the last byte arrived, clock milliseconds. */
	readonly arrivedAt: number;
}

/** Bodies up to this size need no slot. */
const SMALL_BODY_BYTES = 1_048_576;

/**
 * One request and its whole response, on a connection of the dispatcher.
 *
 * It uses undici's `dispatch` because its handler is told when a request is written to a connection: only then is it
 * known whether a failed PUT can have had any effect. All time-outs but that of connecting use the injected clock's
 * uptime.
 *
 * @param claimLargeBody called once for a large body; the rest of the body is not read until it resolves
 * @throws SessionServiceError when it ended without a whole response; the signal's reason when it was aborted
 */
export function exchange(
	{
		dispatcher,
		clock,
		timeouts,
		maxBodyBytes,
	}: { dispatcher: Dispatcher; clock: Clock; timeouts: CallTimeouts; maxBodyBytes: number },
	request: ExchangeRequest,
	{
		signal,
		claimLargeBody,
	}: { signal: AbortSignal | undefined; claimLargeBody: (signal: AbortSignal) => Promise<void> },
): Promise<HttpResponse> {
	return new Promise((resolve, reject) => {
		const startedAt = uptimeOf(clock);
		const settled = new AbortController();
		const chunks: Buffer[] = [];
		let sent = false;
		let status: number | null = null;
		let headers: ReadonlyMap<string, string> = new Map();
		let received = 0;
		let lastProgress = startedAt;
		let claiming = false;
		let claimed = false;
		let sleeping = new AbortController();
		let abortRequest: ((reason: Error) => void) | null = null;

		function settle(): boolean {
			if (settled.signal.aborted) return false;
			settled.abort();
			sleeping.abort();
			signal?.removeEventListener('abort', onAbort);
			return true;
		}

		function fail(kind: FailureKind, cause: unknown): void {
			if (!settle()) return;
			abortRequest?.(new Error(`HTTP exchange: ${kind}`));
			reject(errorOfFailure({ kind, sent, status, cause }, request.operation));
		}

		function onAbort(): void {
			fail('aborted', signal?.reason);
		}

		/** One sleep for all time-outs: it ends at the next one, or when the next one changes. */
		async function watch(): Promise<void> {
			while (!settled.signal.aborted) {
				const whole = startedAt + timeouts.call;
				const step = status === null ? startedAt + timeouts.headers : lastProgress + timeouts.body;
				// While the body waits for a slot, it is not read, so only the time-out of the whole call applies.
				const next = claiming ? whole : Math.min(whole, step);
				const leftMs = next - uptimeOf(clock);
				if (leftMs <= 0) return fail('timeout', undefined);
				sleeping = new AbortController();
				await clock.sleep(leftMs, sleeping.signal).catch(() => undefined);
			}
		}

		if (signal?.aborted) {
			onAbort();
			return;
		}
		signal?.addEventListener('abort', onAbort, { once: true });
		void watch();

		dispatcher.dispatch(
			{
				method: request.operation === 'put' ? 'PUT' : 'GET',
				origin: request.origin,
				path: request.path,
				headers: request.headers,
				body: request.body ?? null,
				headersTimeout: 0,
				bodyTimeout: 0,
			},
			{
				onRequestStart(controller) {
					abortRequest = (reason) => controller.abort(reason);
					// Given up while it waited for a connection, or too late (the process was suspended, connecting took long):
					// undici writes nothing when it is aborted here.
					if (settled.signal.aborted) {
						controller.abort(new Error('given up before it was sent'));
						return;
					}
					if (request.maySend?.() === false) {
						fail('timeout', new Error('too late to be sent'));
						return;
					}
					sent = true;
				},
				onResponseStart(controller, statusCode, incoming) {
					// An informational response: the real one follows.
					if (statusCode < 200) return;
					status = statusCode;
					lastProgress = uptimeOf(clock);
					headers = firstValues(incoming);
					sleeping.abort();
					const announced = Number(headers.get('content-length'));
					if (announced > maxBodyBytes) fail('too_large', undefined);
					else if (announced > SMALL_BODY_BYTES) claim(controller);
				},
				onResponseData(controller, chunk) {
					received += chunk.length;
					lastProgress = uptimeOf(clock);
					if (received > maxBodyBytes) return fail('too_large', undefined);
					chunks.push(chunk);
					if (received > SMALL_BODY_BYTES) claim(controller);
				},
				onResponseEnd() {
					if (status === null || !settle()) return;
					const response = { status, headers, body: Buffer.concat(chunks, received), arrivedAt: clock.now() };
					// undici frees the connection one turn of the event loop after the response's end. Two turns later the next
					// request (the PUT after its read) reuses it instead of opening another one.
					setImmediate(() => setImmediate(() => resolve(response)));
				},
				onResponseError(_controller, error) {
					const connectTimeout = 'code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT';
					fail(connectTimeout ? 'timeout' : 'network', error);
				},
			},
		);

		function claim(controller: { pause(): void; resume(): void }): void {
			if (claimed) return;
			claimed = true;
			claiming = true;
			controller.pause();
			claimLargeBody(settled.signal).then(
				() => {
					claiming = false;
					lastProgress = uptimeOf(clock);
					sleeping.abort();
					controller.resume();
				},
				(error: unknown) => fail('aborted', error),
			);
		}
	});
}

function firstValues(incoming: Readonly<Record<string, string | string[] | undefined>>): ReadonlyMap<string, string> {
	const headers = new Map<string, string>();
	for (const [name, value] of Object.entries(incoming)) {
		const first = Array.isArray(value) ? value[0] : value;
		if (first !== undefined) headers.set(name.toLowerCase(), first);
	}
	return headers;
}
