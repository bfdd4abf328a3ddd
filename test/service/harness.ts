import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import {
	createFakeSessionService,
	type FakeSessionServiceOptions,
} from '../../fake-session-service/fake-session-service.ts';
import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import type { Log } from '../../src/kernel/log.ts';
import { createRequestBudget, type RequestBudget } from '../../src/service/budget.ts';
import { createSessionServiceClient } from '../../src/service/client.ts';
import { type SessionServiceClient, SessionServiceError } from '../../src/service/service.ts';
import type { CallReport } from '../../src/service/transport.ts';
import { sentItems } from '../support/sessions.ts';

const nothing = () => undefined;
const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => quietLog };

type ClientOptions = Parameters<typeof createSessionServiceClient>[0];

/** A client with a manual clock that records its calls; closed at the end of the test. */
export function clientFor(
	baseUrl: string,
	options: Partial<ClientOptions> & { clock?: ManualClock; budget?: RequestBudget } = {},
) {
	const clock = options.clock ?? createManualClock();
	const budget = options.budget ?? createRequestBudget({ clock });
	const calls: CallReport[] = [];
	const client = createSessionServiceClient({
		baseUrl,
		apiKey: () => 'sandbox-key',
		log: quietLog,
		onCall: (call) => calls.push(call),
		...options,
		clock,
		budget,
	});
	onTestFinished(async () => {
		await client.close();
	});
	return { client, clock, budget, calls };
}

/** The fake session service with one session `s1` that asks two questions, and a client for it. */
export async function createHarness(
	options: { service?: FakeSessionServiceOptions; client?: Parameters<typeof clientFor>[1]; path?: string } = {},
) {
	const service = createFakeSessionService({ rateLimit: false, ...options.service });
	await service.start();
	onTestFinished(() => service.stop());
	service.sessions.put('s1', orderSession());
	return { service, ...clientFor(`${service.url}${options.path ?? ''}`, options.client) };
}

export function orderSession() {
	return {
		status: 'humanInput',
		name: 'Order cards',
		messages: [
			{ role: 'user', content: 'Order the cards' },
			{
				role: 'assistant',
				content: 'Two things.',
				human_input: [
					{ title: 'Colour', description: 'Which one?' },
					{ title: 'Colour', description: 'And the second?' },
				],
			},
		],
	};
}

export const ANSWERS = sentItems([
	{ title: 'Colour', description: 'Which one?', value: 'red' },
	{ title: 'Colour', description: 'And the second?', value: 'blue' },
]);

/** Sends answers as a delivery does, but without the read before. */
export async function send(client: SessionServiceClient, ...answers: [string, number, typeof ANSWERS]): Promise<void> {
	using permit = await client.reserveDelivery();
	await permit.putAnswers(...answers);
}

/** The error of a call; fails the test if the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<SessionServiceError> {
	const error: unknown = await call.then(
		() => new Error('the call succeeded'),
		(reason: unknown) => reason,
	);
	if (error instanceof SessionServiceError) return error;
	throw error;
}

/** Waits for a condition that depends on real sockets. */
export function until(condition: () => boolean): Promise<void> {
	return vi.waitFor(
		() => {
			if (!condition()) throw new Error(`still false: ${String(condition)}`);
		},
		{ timeout: 10_000, interval: 5 },
	);
}

/** The address of a server with its own `handle`, for what the fake service does not do. */
export async function serve(handle: RequestListener): Promise<string> {
	const server = createServer(handle);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
