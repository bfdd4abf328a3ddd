import { setTimeout as delay } from 'node:timers/promises';
import type { Core } from './core.ts';
import type { Json } from './json.ts';

/** The app has this long to acknowledge (docs.slack.dev, "Acknowledgment response"). */
const ACK_MS = 3000;

/** When an event without an ack is redelivered, in ms after the previous failure. */
const RETRY_DELAYS_MS = [0, 60_000, 300_000];

/**
 * When a test moves the clock, bytes under way still need real time: an ack counts when it arrives within this long
 * after the jump.
 */
const JUMP_GRACE_MS = 300;

/** A payload that Slack delivers to the app. */
export interface Delivery {
	kind: 'slash_commands' | 'interactive' | 'events_api';
	/** The type in the traffic log: the command's, the interaction's or the event's. */
	name: string;
	payload: Json;
	/** Whether the acknowledgement may carry a response. */
	acceptsPayload: boolean;
	/** Events only: the number and reason of a redelivery. */
	retry?: number;
	retryReason?: string;
}

type Failure = 'timeout' | 'no_connection' | 'http_error' | 'connection_failed';

/** The app's reaction. */
export type Ack = { ok: true; payload: unknown } | { ok: false; failure: Failure };

/** Sends one delivery to the app. Resolves with its ack, at the latest when the signal is aborted. */
export type Transport = (delivery: Delivery, signal: AbortSignal) => Promise<Ack & { status?: number }>;

export interface Deliverer {
	/** Delivers with Slack's limit of 3 s. Never rejects. */
	deliver(delivery: Delivery): Promise<Ack>;
	/** Delivers an event. Resolves after the first attempt, and repeats in the background until the app acknowledges. */
	deliverEvent(name: string, payload: Json): Promise<void>;
	close(): void;
}

/** Deliveries over the app's current transport. */
export function createDeliverer(core: Core, transport: () => { send: Transport; kind: 'http' | 'socket' }): Deliverer {
	const closing = new AbortController();

	async function deliver(delivery: Delivery): Promise<Ack> {
		const { send, kind } = transport();
		const entry = core.traffic.begin({
			direction: 'delivery',
			name: delivery.name,
			request: delivery.payload,
			transport: kind,
			retry: delivery.retry ?? 0,
		});
		const ended = new AbortController();
		const signal = AbortSignal.any([ended.signal, closing.signal]);
		const timer = core.clock
			.sleep(ACK_MS, signal)
			.then(() => (core.clock.sleepsInRealTime ? undefined : delay(JUMP_GRACE_MS, undefined, { signal })))
			.then(
				() => ended.abort(),
				() => undefined,
			);
		const ack = await send(delivery, signal);
		ended.abort();
		await timer;
		core.traffic.finish(entry, {
			acked: ack.ok,
			answer: ack.ok ? ack.payload : ack.failure,
			status: ack.status ?? null,
		});
		return ack;
	}

	function attempt(name: string, payload: Json, retry: number, reason?: Failure): Promise<Ack> {
		return deliver({
			kind: 'events_api',
			name,
			payload,
			acceptsPayload: false,
			retry,
			...(reason === undefined ? {} : { retryReason: reason }),
		});
	}

	/** Continues after a failed attempt. Ends with an ack, after the last attempt, or when the fake closes. */
	async function redeliver(name: string, payload: Json, first: Failure): Promise<void> {
		let reason = first;
		for (const [index, pause] of RETRY_DELAYS_MS.entries()) {
			try {
				if (pause > 0) await core.clock.sleep(pause, closing.signal);
			} catch {
				return;
			}
			const ack = await attempt(name, payload, index + 1, reason);
			if (ack.ok) return;
			reason = ack.failure;
		}
	}

	return {
		deliver,
		async deliverEvent(name, payload) {
			const ack = await attempt(name, payload, 0);
			if (!ack.ok) void redeliver(name, payload, ack.failure);
		},
		close() {
			closing.abort();
		},
	};
}
