import { type Clock, uptimeOf } from '../clock.ts';
import type { Log } from '../log.ts';
import { putBodyOf } from '../questions/compare.ts';
import type { AnsweredItem } from '../questions/session.ts';
import type { RequestBudget } from './budget.ts';
import type { RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import type { CallTimeouts } from './exchange.ts';
import { readPutResponse } from './response-bodies.ts';
import { createSessionCache } from './session-cache.ts';
import { createSessionReader, createSharedReads, PATIENCE, type SessionReading } from './session-reader.ts';
import { type CallReport, createTransport } from './transport.ts';

/**
 * The permit for one read and one PUT right after it, already counted in the budget, so that nothing but the network
 * stands between the two.
 */
interface DeliveryPermit {
	/** Reads the session; begins after this call, never shared with another reader. A repeat takes a new permit. */
	read(sessionId: string): Promise<SessionReading>;
	/**
	 * Replaces the whole array of answers of one message: all items, in order. Sent at once, if `maySend` allows it then,
	 * and never repeated here: a permit is good for one PUT.
	 * @throws SessionServiceError; its `outcomeUnknown` says whether the service may have saved it all the same
	 */
	putAnswers(
		sessionId: string,
		messageIndex: number,
		items: readonly AnsweredItem[],
		maySend?: () => boolean,
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
		options: { priority: RequestPriority; signal?: AbortSignal; person?: string },
	): Promise<SessionReading>;
	/**
	 * The session as it was last read by anybody, for showing another part of it without a request; null when that is more
	 * than 10 minutes ago or it is not kept any more.
	 */
	latest(sessionId: string): Pick<SessionReading, 'session' | 'readAt' | 'since'> | null;
	/** Waits for the permit of a read and a PUT. @throws SessionServiceError `rate_limited`, or the signal's reason */
	reserveDelivery(signal?: AbortSignal): Promise<DeliveryPermit>;
	/** Milliseconds after which a call has been given up: a PUT cannot land later than that long after it left. */
	readonly callTimeoutMs: number;
	/** Cuts the calls that still run. */
	close(): Promise<void>;
}

/** Bytes of the largest PUT. The service takes 100 kB and fails every time above; the smaller reading of that unit is used. */
const MAX_REQUEST_BYTES = 100_000;

/** Milliseconds. Older readings are not shown again. */
const LATEST_MS = 10 * 60_000;

/**
 * The session service's two operations over HTTP.
 *
 * @param baseUrl the service's address; a path in it goes in front of `/v1`
 * @param budget every request takes its permit there first
 * @param timeouts the headers may take as long as the whole call: the service checks keys before it sends any, which can
 * take most of it
 * @param largeBodies bodies over 1 MiB held at once
 * @param cacheBytes memory for sessions that were read, for conditional reads and open windows
 * @param onCall hears of every call that was sent
 * @throws TypeError for an unusable address or key
 */
export function createSessionServiceClient({
	baseUrl,
	apiKey,
	clock,
	log,
	budget,
	timeouts: chosen = {},
	largeBodies = 2,
	cacheBytes = 64 * 1_048_576,
	onCall,
}: {
	baseUrl: string;
	apiKey: string;
	clock: Clock;
	log: Log;
	budget: RequestBudget;
	timeouts?: Partial<CallTimeouts>;
	largeBodies?: number;
	cacheBytes?: number;
	onCall?: (report: CallReport) => void;
}): SessionServiceClient {
	const call = chosen.call ?? 20_000;
	const timeouts = { connect: 3_000, headers: call, body: 10_000, ...chosen, call };
	const transport = createTransport({ baseUrl, apiKey, clock, log, budget, timeouts, largeBodies, onCall });
	const cache = createSessionCache(cacheBytes);
	const reader = createSessionReader({ transport, cache, callMs: call, clock, log });
	const share = createSharedReads(clock);

	return {
		callTimeoutMs: timeouts.call,

		async read(sessionId, { priority, signal, person }) {
			transport.pathOf(sessionId);
			const start = (own: AbortSignal | undefined) =>
				reader.read(sessionId, {
					priority,
					signal: own,
					permit: (deadline) => budget.acquire(priority, { deadline, signal: own, person }),
				});
			if (priority === 'delivery') return start(signal);
			// Background takes what a person's read brings, never the other way round: it may wait long for the budget.
			const own = `${priority}:${sessionId}` as const;
			return share(priority === 'person' ? [own] : [`person:${sessionId}`, own], signal, start);
		},

		latest(sessionId) {
			const kept = cache.get(sessionId);
			return kept === undefined || uptimeOf(clock) - kept.beganAt > LATEST_MS ? null : kept;
		},

		async reserveDelivery(signal) {
			const takePair = (deadline: number) => budget.acquire('delivery', { count: 2, deadline, signal });
			let putSequence = await takePair(clock.now() + PATIENCE.delivery.permitMs);
			let isFirst = true;
			return {
				read: (sessionId) =>
					reader.read(sessionId, {
						priority: 'delivery',
						signal,
						async permit(deadline) {
							// A repeat takes a whole new pair: a permit for the PUT from before a long wait counts in the past.
							if (!isFirst) putSequence = await takePair(deadline);
							isFirst = false;
							return putSequence - 1;
						},
					}),
				async putAnswers(sessionId, messageIndex, items, maySend) {
					const path = `${transport.pathOf(sessionId)}/update-human-input`;
					const json = Buffer.from(putBodyOf(sessionId, messageIndex, items));
					if (json.length > MAX_REQUEST_BYTES) {
						const message = `The answers make a request of ${json.length} bytes, more than ${MAX_REQUEST_BYTES}`;
						throw new SessionServiceError('request_too_large', message);
					}
					await transport.send(
						{
							operation: 'put',
							sessionId,
							priority: 'delivery',
							path,
							// Any other type can end the service's process.
							headers: { 'content-type': 'application/json' },
							body: json,
							sequence: putSequence,
							maySend,
							// No signal: a PUT that has begun is worth ending, since cutting it leaves its outcome unknown.
						},
						readPutResponse,
					);
				},
			};
		},

		close: () => transport.close(),
	};
}
