import { putBodyOf } from '../questions/compare.ts';
import type { HumanInputItem } from '../questions/session.ts';
import type { RequestPriority } from './budget-state.ts';
import { SessionServiceError } from './errors.ts';
import type { CallTimeouts } from './exchange.ts';
import { readBody } from './json.ts';
import { isPutSuccess } from './schema.ts';
import { createSessionList } from './session-list.ts';
import { createSessionReader, createSharedReads, PATIENCE, type SessionReading } from './session-reader.ts';
import { createTransport, type TransportOptions } from './transport.ts';

/** The largest PUT. The service takes 100 kB (the smaller meaning of the unit is used) and fails above that. */
const MAX_REQUEST_BYTES = 100_000;

/**
 * The session service's two operations, and the list that some services have. `cacheBytes`: for sessions that were read.
 * @throws TypeError for an invalid address or key
 */
export function createSessionServiceClient({
	timeouts: chosen = {},
	cacheBytes = 64 * 1_048_576,
	...options
}: Omit<TransportOptions, 'timeouts'> & { readonly timeouts?: Partial<CallTimeouts>; readonly cacheBytes?: number }) {
	const { clock, log, budget } = options;
	const timeouts = { connect: 3_000, body: 10_000, call: 20_000, ...chosen };
	const transport = createTransport({ ...options, timeouts });
	const reader = createSessionReader(transport, cacheBytes, clock, log);
	const share = createSharedReads(clock);

	return {
		/** Milliseconds after which a call is given up: a PUT cannot arrive later than that after it was sent. */
		callTimeoutMs: timeouts.call,
		listWaiting: createSessionList(transport, budget, clock),

		/**
		 * Reads a session, and repeats after temporary failures within the priority's patience. `person`: whose turn it uses.
		 * @throws SessionServiceError, or the signal's reason
		 */
		async read(
			sessionId: string,
			options: { priority: RequestPriority; signal?: AbortSignal; person?: string; ahead?: boolean },
		): Promise<SessionReading> {
			const { priority, signal, person = '', ahead = false } = options;
			const start = (readSignal: AbortSignal | undefined) =>
				reader.read(sessionId, {
					priority,
					signal: readSignal,
					permit: (deadline) => budget.acquire(priority, { deadline, signal: readSignal, person, ahead }),
				});
			if (priority === 'delivery') return start(signal);
			// Background may join a person's read. A person never joins a background read, which may wait long for its permit.
			const personKey = `person:${sessionId}`;
			return share(priority === 'person' ? [personKey] : [personKey, `background:${sessionId}`], signal, start);
		},

		latest: reader.latest,

		/**
		 * Waits for the permit of one read and one PUT right after it: the PUT waits for nothing.
		 * @throws SessionServiceError `rate_limited`, or the signal's reason
		 */
		async reserveDelivery(signal?: AbortSignal) {
			const takePair = (deadline: number) => budget.acquire('delivery', { count: 2, deadline, signal });
			let putSequence = await takePair(clock.now() + PATIENCE.delivery.permitMs);
			let isFirst = true;
			return {
				/** Reads the session with a request of its own, which begins after this call. */
				read: (sessionId: string) =>
					reader.read(sessionId, {
						priority: 'delivery',
						signal,
						async permit(deadline) {
							// A repeat takes a new pair: after a long wait, the old permit of the PUT counts in a past window.
							if (!isFirst) putSequence = await takePair(deadline);
							isFirst = false;
							return putSequence - 1;
						},
					}),
				/**
				 * Replaces all items of one message, in order. Sent at once if `maySend` allows it, and never repeated.
				 * @throws SessionServiceError; its `outcomeUnknown` says whether the service may have saved the answer
				 */
				async putAnswers(
					sessionId: string,
					messageIndex: number,
					items: readonly HumanInputItem[],
					maySend?: () => boolean,
				): Promise<void> {
					const path = `${transport.pathOf(sessionId)}/update-human-input`;
					const json = Buffer.from(putBodyOf(sessionId, messageIndex, items));
					if (json.length > MAX_REQUEST_BYTES) {
						const message = `The PUT has ${json.length} bytes, more than ${MAX_REQUEST_BYTES}`;
						throw new SessionServiceError('request_too_large', message);
					}
					await transport.send(
						{
							operation: 'put',
							sessionId,
							priority: 'delivery',
							path,
							// With any other type the service's process can crash.
							headers: { 'content-type': 'application/json' },
							body: json,
							sequence: putSequence,
							maySend,
							// No signal: a PUT that has begun is completed, because aborting it makes its outcome unknown.
						},
						(response) => void readBody(response, 'put', (value) => isPutSuccess(value) || null),
					);
				},
			};
		},

		close: transport.close,
	};
}

export type SessionServiceClient = ReturnType<typeof createSessionServiceClient>;
