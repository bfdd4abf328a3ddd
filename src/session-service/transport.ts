import { Pool } from 'undici';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { parseBaseUrl, sessionPath } from './address.ts';
import { createBodySlots } from './body-slots.ts';
import type { RequestBudget } from './budget.ts';
import type { RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import { type CallTimeouts, type ExchangeAnswer, ExchangeFailure, type ExchangeRequest, exchange } from './exchange.ts';
import { errorOfFailure, errorOfStatus, type Operation } from './failures.ts';
import { readRateLimit } from './rate-limit-headers.ts';

/** The headers may take as long as the whole call: the service checks keys before it sends any, which can take most of it. */
export const timeoutsFor = (callMs = 20_000): CallTimeouts => ({
	connect: 3_000,
	headers: callMs,
	body: 10_000,
	call: callMs,
});

export interface TransportLimits {
	/** Bytes of an answer's body. */
	readonly bodyBytes: number;
	/** Bodies over 1 MiB held at once, from their first megabyte until they are parsed. */
	readonly largeBodies: number;
}

/** What a call came to, for metrics: no text of a session in it. */
export interface CallReport {
	readonly operation: Operation;
	readonly priority: RequestPriority;
	/** `ok`, `unchanged` (304), an error's code, or `cancelled`. */
	readonly outcome: string;
	/** From sending (waiting for the budget excluded) to the parsed answer. */
	readonly ms: number;
}

interface Call {
	readonly operation: Operation;
	readonly sessionId: string;
	readonly priority: RequestPriority;
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: Buffer;
	/** See `ExchangeRequest`. */
	readonly mayLeave?: () => boolean;
	/** The request's number in the budget. */
	readonly sequence: number;
	/** Milliseconds left for the whole call, when less than the usual. */
	readonly timeoutMs?: number;
	readonly signal?: AbortSignal | undefined;
}

/** Sends requests to the one service over one keep-alive pool, and tells the budget what the answers say. */
export interface Transport {
	/** The path of a session. @throws InvalidSessionIdError */
	pathOf(sessionId: string): string;
	/**
	 * One request, no redirect followed. `use` gets the answer while its large body's slot is still held.
	 * @throws SessionServiceError; the signal's reason when a read is aborted
	 */
	send<T>(call: Call, use: (answer: ExchangeAnswer) => T): Promise<T>;
	/** The path of a redirect's target, or null when it is on another origin or unreadable. */
	redirectTarget(answer: ExchangeAnswer, from: string): string | null;
	close(graceMs: number): Promise<void>;
}

export function createTransport({
	baseUrl,
	apiKey,
	clock,
	log,
	budget,
	timeouts,
	limits,
	onCall,
}: {
	baseUrl: string;
	apiKey: string;
	clock: Clock;
	log: Log;
	budget: RequestBudget;
	timeouts: CallTimeouts;
	limits: TransportLimits;
	onCall?: (report: CallReport) => void;
}): Transport {
	const address = parseBaseUrl(baseUrl);
	if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('The API key must be printable ASCII without spaces');
	const pool = new Pool(address.origin, {
		// As many as the budget hands out in a minute: no request ever waits for another one's slow answer.
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
	const slots = createBodySlots(limits.largeBodies);

	let closed: Promise<void> | null = null;

	async function closePool(graceMs: number): Promise<void> {
		const waiting = new AbortController();
		const grace = clock.sleep(graceMs, waiting.signal).catch(() => undefined);
		// It rejects when the pool is destroyed under it, which is what happens when the grace is over.
		const finished = pool.close().catch(() => undefined);
		await Promise.race([finished, grace]);
		waiting.abort();
		if (!pool.destroyed) await pool.destroy();
	}

	function observe(answer: ExchangeAnswer, sequence: number, startedAt: number): { now: number; afterSeconds: number } {
		const now = clock.now();
		const said = readRateLimit(answer.status, answer.headers, now, now - startedAt);
		budget.observe(said, sequence);
		return { now, afterSeconds: said.retryAfterSeconds ?? 0 };
	}

	function report({ operation, priority, sessionId }: Call, outcome: string, startedAt: number): void {
		const ms = clock.now() - startedAt;
		log.debug({ operation, priority, sessionId, outcome, ms }, 'session service call');
		onCall?.({ operation, priority, outcome, ms });
	}

	/** The error to throw for whatever ended a call. */
	function errorOf(error: unknown, call: Call): unknown {
		if (!(error instanceof ExchangeFailure)) return error;
		if (error.kind === 'aborted' && call.operation === 'read') return call.signal?.reason;
		return errorOfFailure(error, call.operation, limits.bodyBytes);
	}

	return {
		pathOf: (sessionId) => sessionPath(address, sessionId),

		async send(call, use) {
			const request: ExchangeRequest = {
				method: call.operation === 'read' ? 'GET' : 'PUT',
				path: call.path,
				// Compression is not asked for: it would save little beside the service's own time, and a limit on what comes
				// out of a small body would be needed.
				headers: { 'x-api-key': apiKey, accept: 'application/json', 'accept-encoding': 'identity', ...call.headers },
				...(call.body === undefined ? {} : { body: call.body }),
				...(call.mayLeave === undefined ? {} : { mayLeave: call.mayLeave }),
			};
			const allowed = { ...timeouts, call: Math.min(timeouts.call, call.timeoutMs ?? timeouts.call) };
			const startedAt = clock.now();
			let giveBack = () => {};
			try {
				const answer = await exchange({ pool, clock, timeouts: allowed, maxBodyBytes: limits.bodyBytes }, request, {
					...(call.signal === undefined ? {} : { signal: call.signal }),
					claimLargeBody: async (signal) => {
						giveBack = await slots.acquire(call.priority, signal);
					},
				});
				const retry = observe(answer, call.sequence, startedAt);
				// Redirects of a read are the caller's to follow.
				const followable = call.operation === 'read' && answer.headers.has('location');
				const error = errorOfStatus(answer, call.operation, retry);
				if (error !== null && !(error.code === 'redirected' && followable)) throw error;
				const result = use(answer);
				report(call, outcomeOf(answer), startedAt);
				return result;
			} catch (failure) {
				const error = errorOf(failure, call);
				report(call, error instanceof SessionServiceError ? error.code : 'cancelled', startedAt);
				throw error;
			} finally {
				giveBack();
			}
		},

		redirectTarget(answer, from) {
			const target = URL.parse(answer.headers.get('location') ?? '', `${address.origin}${from}`);
			return target?.origin === address.origin ? `${target.pathname}${target.search}` : null;
		},

		close(graceMs) {
			closed ??= closePool(graceMs);
			return closed;
		},
	};
}

function outcomeOf({ status }: ExchangeAnswer): string {
	if (status === 304) return 'unchanged';
	return status < 300 ? 'ok' : 'redirected';
}
