import type { Dispatcher } from 'undici';
import { ABORT_REASON, type Clock, unlessAborted } from '../kernel/clock.ts';
import { type Operation, SessionServiceError } from './service.ts';

export interface HttpRequest {
	readonly operation: Operation;
	readonly origin: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: Buffer;
	/** Called right before the request is written. If it returns false, nothing is sent. */
	readonly maySend?: (() => boolean) | undefined;
	readonly signal?: AbortSignal | undefined;
	/** Milliseconds for the whole call, including the queue and connecting. */
	readonly timeoutMs: number;
	readonly maxBodyBytes: number;
	/** Called once for a large body, whose rest is read after it resolves. The signal is aborted at the end. */
	readonly claimLargeBody: (signal: AbortSignal) => Promise<void>;
}

export interface HttpResponse {
	readonly status: number;
	/** By lower-case name; the first value of a repeated header. */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
	/** When the last byte arrived, clock milliseconds. */
	readonly arrivedAt: number;
}

/** Bodies up to this size are read without `claimLargeBody`. */
const SMALL_BODY_BYTES = 1_048_576;

/**
 * Makes one request and reads its whole response. It uses undici's `dispatch`, which tells when a request is written to
 * a connection: only after that can a failed PUT have had an effect.
 * @throws SessionServiceError when it ended without a whole response; the signal's reason when it was aborted
 */
export async function exchange(dispatcher: Dispatcher, clock: Clock, request: HttpRequest): Promise<HttpResponse> {
	const { operation, origin, path, signal, timeoutMs, maxBodyBytes } = request;
	signal?.throwIfAborted();
	const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
	const settled = new AbortController();
	const chunks: Buffer[] = [];
	let sent = false;
	let status: number | null = null;
	let headers: ReadonlyMap<string, string> = new Map();
	let received = 0;
	let hasClaimed = false;
	let abortRequest: ((reason: Error) => void) | null = null;

	function settle(): boolean {
		if (settled.signal.aborted) return false;
		settled.abort(ABORT_REASON);
		return true;
	}

	/** The outcome of a failed PUT is known only if nothing of it was sent. */
	function fail(code: 'timed_out' | 'body_too_large' | 'unavailable', what: string, cause?: unknown): void {
		const outcomeUnknown = operation === 'put' && sent;
		const details = { cause, outcomeUnknown, status: code === 'unavailable' ? status : null };
		end(new SessionServiceError(code, `The session service's response to a ${operation} ${what}`, details));
	}

	function end(error: unknown): void {
		if (!settle()) return;
		abortRequest?.(new Error('the HTTP exchange is over'));
		reject(error);
	}

	const timeOut = () => fail('timed_out', 'did not come in time');
	clock.sleep(timeoutMs, settled.signal).then(timeOut, () => undefined);

	dispatcher.dispatch(
		{
			method: operation === 'put' ? 'PUT' : 'GET',
			origin,
			path,
			headers: request.headers,
			body: request.body ?? null,
			headersTimeout: 0,
			bodyTimeout: 0,
		},
		{
			onRequestStart(controller) {
				abortRequest = (reason) => controller.abort(reason);
				// The call was given up while it waited for a connection, or it is too late (the process was suspended, or
				// connecting took long). undici writes nothing when it is aborted here.
				if (settled.signal.aborted) return controller.abort(new Error('given up before it was sent'));
				if (request.maySend?.() === false) return fail('timed_out', 'was not asked for: too late');
				sent = true;
			},
			onResponseStart(controller, statusCode, incoming) {
				// An informational response (1xx). The real one follows.
				if (statusCode < 200) return;
				status = statusCode;
				headers = new Map(
					Object.entries(incoming).map(([name, value]) => [name.toLowerCase(), [value].flat()[0] ?? '']),
				);
				const announced = Number(headers.get('content-length'));
				if (announced > maxBodyBytes) fail('body_too_large', 'is too large');
				else if (announced > SMALL_BODY_BYTES) claimFor(controller);
			},
			onResponseData(controller, chunk) {
				received += chunk.length;
				if (received > maxBodyBytes) return fail('body_too_large', 'is too large');
				chunks.push(chunk);
				if (received > SMALL_BODY_BYTES) claimFor(controller);
			},
			onResponseEnd() {
				if (status === null || !settle()) return;
				const response = { status, headers, body: Buffer.concat(chunks, received), arrivedAt: clock.now() };
				// undici frees the connection one turn of the event loop after the response's end. After two turns, the next
				// request (the PUT after its read) can reuse it.
				setImmediate(() => setImmediate(() => resolve(response)));
			},
			onResponseError(_controller, error) {
				if ('code' in error && error.code === 'UND_ERR_CONNECT_TIMEOUT')
					fail('timed_out', 'did not come in time', error);
				else fail('unavailable', `did not come: ${sent ? 'the connection broke' : 'no connection'}`, error);
			},
		},
	);

	function claimFor(controller: { pause(): void; resume(): void }): void {
		if (hasClaimed) return;
		hasClaimed = true;
		controller.pause();
		const goOn = () => controller.resume();
		request.claimLargeBody(settled.signal).then(goOn, () => undefined);
	}
	return unlessAborted(promise, signal, () => end(signal?.reason));
}
