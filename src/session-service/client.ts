import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import { putBodyOf } from '../questions/put-body.ts';
import type { AnsweredItem } from '../questions/session.ts';
import { readPutAnswer } from './answer-bodies.ts';
import type { RequestBudget } from './budget.ts';
import type { RequestPriority } from './budget-state.ts';
import { RequestTooLargeError } from './errors.ts';
import type { CallTimeouts } from './exchange.ts';
import { retryRead } from './retries.ts';
import { createSessionCache } from './session-cache.ts';
import { createSessionReader, type SessionReading } from './session-reader.ts';
import { createSharedReads } from './shared-reads.ts';
import { type CallReport, createTransport, timeoutsFor } from './transport.ts';

/**
 * Leave for one read and one PUT right after it, already counted in the budget, so that nothing but the network stands
 * between the two.
 */
interface DeliveryPermit {
	/** Reads the session with leave taken beforehand; begins after this call, never shared with another reader. */
	read(sessionId: string): Promise<SessionReading>;
	/** Sends the answers at once, if `mayLeave` allows it then. Takes new leave if the one for the PUT is used up. */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		mayLeave?: () => boolean,
	): Promise<void>;
}

export interface SessionServiceClient {
	/**
	 * Reads one session, again after failures that may pass, as far as the priority's patience goes. `person`: whose turn it
	 * uses, for the priority of people.
	 * @throws SessionServiceError, or the signal's reason
	 */
	read(
		sessionId: string,
		options: { priority: RequestPriority; signal?: AbortSignal; retries?: number; person?: string },
	): Promise<SessionReading>;
	/**
	 * The session as it was last read by anybody, for showing another part of it without a request; null when that is more
	 * than 10 minutes ago or it is not kept any more.
	 */
	latest(sessionId: string): Pick<SessionReading, 'session' | 'readAt' | 'since'> | null;
	/** Waits for leave for a read and a PUT. @throws RateLimitedError, or the signal's reason */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	/**
	 * Replaces the whole array of answers of one message: all items, in order. Sent once, never repeated here.
	 * @throws SessionServiceError; its `outcomeUnknown` says whether the service may have saved it all the same
	 */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		options?: { signal?: AbortSignal },
	): Promise<void>;
	/** Milliseconds after which a call has been given up: a PUT cannot land later than that long after it left. */
	readonly callTimeoutMs: number;
	/** Lets running calls finish for up to `graceMs` (5 s), then cuts them. */
	close(graceMs?: number): Promise<void>;
}

export interface ClientLimits {
	/** Largest answer, default 32 MiB. */
	readonly bodyBytes: number;
	/** Largest PUT. The service takes 100 kB and fails every time above; the smaller reading of that unit is used. */
	readonly requestBytes: number;
	/** Bodies over 1 MiB held at once, default 2. */
	readonly largeBodies: number;
	/** Memory for sessions that were read, for conditional reads and open windows, default 64 MiB. */
	readonly cacheBytes: number;
}

const DEFAULT_LIMITS: ClientLimits = {
	bodyBytes: 32 * 1_048_576,
	requestBytes: 100_000,
	largeBodies: 2,
	cacheBytes: 64 * 1_048_576,
};

/** Milliseconds. Older readings are not shown again. */
const LATEST_MS = 10 * 60_000;

/** How a read waits, in milliseconds from its beginning. Each attempt may take as long as any call, on top of that. */
interface Patience {
	/** For the budget. */
	readonly leaveMs: number;
	/** No attempt is repeated later than this, nor more often than `retries`. */
	readonly repeatMs: number;
	readonly retries: number;
}

const PATIENCE: Readonly<Record<RequestPriority, Patience>> = {
	delivery: { leaveMs: 30_000, repeatMs: 10_000, retries: 4 },
	person: { leaveMs: 8_000, repeatMs: 8_000, retries: 3 },
	// Watching just polls again.
	background: { leaveMs: 60_000, repeatMs: 0, retries: 0 },
};

/**
 * The session service's two operations over HTTP.
 *
 * @param baseUrl the service's address; a path in it goes in front of `/v1`
 * @param budget every request takes its leave there first
 * @param onCall hears of every call that was sent
 * @throws TypeError for an unusable address or key
 */
export function createSessionServiceClient({
	baseUrl,
	apiKey,
	clock,
	log,
	budget,
	timeouts: someTimeouts = {},
	limits: someLimits = {},
	onCall,
}: {
	baseUrl: string;
	apiKey: string;
	clock: Clock;
	log: Log;
	budget: RequestBudget;
	timeouts?: Partial<CallTimeouts>;
	limits?: Partial<ClientLimits>;
	onCall?: (report: CallReport) => void;
}): SessionServiceClient {
	const timeouts = { ...timeoutsFor(someTimeouts.call), ...someTimeouts };
	const limits = { ...DEFAULT_LIMITS, ...someLimits };
	const transport = createTransport({
		baseUrl,
		apiKey,
		clock,
		log,
		budget,
		timeouts,
		limits,
		...(onCall === undefined ? {} : { onCall }),
	});
	const cache = createSessionCache({ maxBytes: limits.cacheBytes });
	const reader = createSessionReader({ transport, cache, clock });
	const shared = createSharedReads<SessionReading>(clock);

	/** `leave` gives the budget's number of a request that may be sent now, before the deadline. */
	function readPatiently(
		sessionId: string,
		priority: RequestPriority,
		retries: number,
		signal: AbortSignal | undefined,
		leave: (deadline: number) => Promise<number>,
	): Promise<SessionReading> {
		const { leaveMs, repeatMs } = PATIENCE[priority];
		const startedAt = clock.now();
		const leaveBy = startedAt + leaveMs;
		const deadline = leaveBy + timeouts.call;
		const attempt = () => reader.read(sessionId, { priority, deadline, signal, leave: () => leave(leaveBy) });
		return retryRead(attempt, { retries, deadline: startedAt + repeatMs, signal, clock, log });
	}

	async function put(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		signal: AbortSignal | undefined,
		leave: () => Promise<number>,
		mayLeave?: () => boolean,
	): Promise<void> {
		const path = `${transport.pathOf(sessionId)}/update-human-input`;
		const body = Buffer.from(putBodyOf(sessionId, messageIndex, items));
		if (body.length > limits.requestBytes) {
			throw new RequestTooLargeError(`The answers make a request of ${body.length} bytes`, {
				bytes: body.length,
				limitBytes: limits.requestBytes,
			});
		}
		// Any other type can end the service's process.
		const headers = { 'content-type': 'application/json' };
		const sequence = await leave();
		await transport.send(
			{
				operation: 'put',
				sessionId,
				priority: 'delivery',
				path,
				headers,
				body,
				sequence,
				signal,
				...(mayLeave === undefined ? {} : { mayLeave }),
			},
			readPutAnswer,
		);
	}

	async function leaveFor(
		priority: RequestPriority,
		count: number,
		{ deadline, signal, person }: { deadline: number; signal: AbortSignal | undefined; person?: string | undefined },
	): Promise<number> {
		return budget.acquire(priority, { count, deadline, signal, person });
	}

	const deliveryDeadline = () => clock.now() + PATIENCE.delivery.leaveMs;

	return {
		callTimeoutMs: timeouts.call,

		async read(sessionId, { priority, signal, retries = PATIENCE[priority].retries, person }) {
			transport.pathOf(sessionId);
			const start = (own: AbortSignal | undefined) =>
				readPatiently(sessionId, priority, retries, own, (deadline) =>
					leaveFor(priority, 1, { deadline, signal: own, person }),
				);
			if (priority === 'delivery') return start(signal);
			// Background takes what a person's read brings, never the other way round: it may wait long for the budget.
			const own = `${priority}:${sessionId}` as const;
			return shared.read(priority === 'person' ? [own] : [`person:${sessionId}`, own], signal, start);
		},

		latest(sessionId) {
			const kept = cache.get(sessionId);
			return kept === undefined || uptimeOf(clock) - kept.beganAt > LATEST_MS ? null : kept;
		},

		async reserveDelivery(signal) {
			let last: number | null = await leaveFor('delivery', 2, { deadline: deliveryDeadline(), signal });
			let readLeave: number | null = last - 1;
			return {
				read: (sessionId) =>
					readPatiently(sessionId, 'delivery', PATIENCE.delivery.retries, signal, async (leaveBy) => {
						const first = readLeave;
						readLeave = null;
						if (first !== null) return first;
						// A repeat takes a whole new pair: leave for the PUT that was given before a long wait counts in the past.
						last = await leaveFor('delivery', 2, { deadline: leaveBy, signal });
						return last - 1;
					}),
				// Without the signal: a PUT that has begun is worth ending, since cutting it leaves its outcome unknown.
				putAnswers: (sessionId, messageIndex, items, mayLeave) => {
					const leave = async () => {
						const given = last;
						last = null;
						return given ?? leaveFor('delivery', 1, { deadline: deliveryDeadline(), signal });
					};
					return put(sessionId, messageIndex, items, undefined, leave, mayLeave);
				},
			};
		},

		putAnswers: (sessionId, messageIndex, items, { signal } = {}) =>
			put(sessionId, messageIndex, items, signal, () =>
				leaveFor('delivery', 1, { deadline: deliveryDeadline(), signal }),
			),

		close: (graceMs = 5_000) => transport.close(graceMs),
	};
}
