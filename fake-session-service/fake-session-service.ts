import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Clock, systemClock } from '../src/kernel/clock.ts';
import type { Scenario } from './agents.ts';
import { createFaults } from './faults.ts';
import { defaultListSettings, type ListSettings } from './list.ts';
import { createRequestLog } from './log.ts';
import { createRateLimiter, type RateLimitSettings } from './rate-limit.ts';
import { SCENARIOS } from './scenarios/index.ts';
import { createApp, type Hooks } from './server.ts';
import { createSessions } from './sessions.ts';
import { createState } from './state.ts';

export interface FakeSessionServiceOptions {
	/** A free one by default; kept over stop and start. */
	readonly port?: number;
	readonly apiKey?: string;
	readonly clock?: Clock;
	/** 250 requests in 60 s by default, as the real service; false counts nothing and sends no headers. */
	readonly rateLimit?: RateLimitSettings | false;
	/**
	 * How long the check of a key takes, on the clock; 0.3 s with five keys on the real service, 0 here by default. Calls wait
	 * for each other's checks.
	 */
	readonly keyCheckMs?: number;
	/**
	 * How long after an answer the session with this id becomes active again, on the clock; null for never. Default 800.
	 */
	readonly resumeAfterMs?: number | null | ((sessionId: string) => number);
	/** Whether the reply to a PUT carries `updatedMessage`; usually it does not. */
	readonly echoMessage?: boolean;
	/** How long an idle connection is kept; 5 s on the real service. */
	readonly keepAliveMs?: number;
	/** Multiplies the waits of the scenarios' scripts. */
	readonly pace?: number;
	/** All scenarios by default. */
	readonly scenarios?: readonly Scenario[];
	/** Starts a scenario when its id is first read (default); otherwise only on request. */
	readonly startOnRead?: boolean;
	/** Finds ids without regard to letter case; default false. */
	readonly ignoreCase?: boolean;
	/** How it lists sessions; by default it does not, as the interface document shows none. */
	readonly list?: Partial<ListSettings>;
	readonly hooks?: Hooks;
}

/**
 * A session service over real HTTP on the loopback interface that behaves as the real one was observed to: its two
 * operations under `/v1`, lists where `list` says so, files behind signed links, scripted agents, faults, a log of everything, and `/control`.
 */
export function createFakeSessionService(options: FakeSessionServiceOptions = {}) {
	const clock = options.clock ?? systemClock;
	let apiKey = options.apiKey ?? 'sandbox-key';
	let port = options.port ?? 0;
	let server: Server | null = null;
	let lifetime = new AbortController();
	const scriptErrors: unknown[] = [];
	const url = () => `http://127.0.0.1:${port}`;

	const ids = { ignoreCase: options.ignoreCase ?? false };
	const state = createState({
		clock,
		ids,
		baseUrl: url,
		resumeAfterMs: options.resumeAfterMs === undefined ? 800 : options.resumeAfterMs,
	});
	const log = createRequestLog();
	const faults = createFaults();
	const hooks: Hooks = options.hooks ?? {};
	const list = { ...defaultListSettings(), ...options.list };
	const limiter =
		options.rateLimit === false
			? null
			: createRateLimiter({ clock, ...(options.rateLimit ?? { limit: 250, windowMs: 60_000 }) });
	const sessions = createSessions({
		state,
		clock,
		log,
		scenarios: options.scenarios ?? SCENARIOS,
		pace: options.pace ?? 1,
		onScriptError: (error) => scriptErrors.push(error),
	});
	const app = createApp({
		state,
		clock,
		log,
		faults,
		limiter,
		sessions,
		list,
		baseUrl: url,
		hooks,
		get apiKey() {
			return apiKey;
		},
		keyCheckMs: options.keyCheckMs ?? 0,
		echoMessage: options.echoMessage ?? false,
		startOnRead: options.startOnRead ?? true,
		lifetime: () => lifetime.signal,
	});

	/** Starts to listen, also again after `goDown`, on the same port. */
	async function comeBack(): Promise<void> {
		if (server !== null) return;
		const listening = createAdaptorServer({
			overrideGlobalObjects: false,
			fetch: app.fetch,
			// A body that was not read to its end must not end the connection before the fault does.
			autoCleanupIncoming: false,
		}) as Server;
		listening.keepAliveTimeout = options.keepAliveMs ?? 5000;
		listening.keepAliveTimeoutBuffer = 0;
		await new Promise<void>((resolve, reject) => {
			listening.once('error', reject);
			listening.listen(port, '127.0.0.1', resolve);
		});
		port = (listening.address() as AddressInfo).port;
		server = listening;
	}

	/** Refuses connections and drops existing ones. Sessions and agents continue. */
	async function goDown(): Promise<void> {
		const closing = server;
		if (closing === null) return;
		server = null;
		const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
		closing.closeAllConnections();
		await closed;
		// The real service counts in the memory of its process.
		limiter?.reset();
	}

	return {
		/** The base address without `/v1`; known once started. */
		get url() {
			return url();
		},
		get apiKey() {
			return apiKey;
		},
		/** From now on only this key is accepted. */
		changeApiKey(key: string): void {
			apiKey = key;
		},
		async start(): Promise<void> {
			if (lifetime.signal.aborted) lifetime = new AbortController();
			await comeBack();
		},
		/** Ends the agents' scripts and closes everything. Sessions stay readable. */
		async stop(): Promise<void> {
			lifetime.abort(new Error('the session service stops'));
			for (const record of state.records.values()) record.abort.abort(new Error('the session service stops'));
			await goDown();
		},
		goDown,
		comeBack,
		/** Other programs behind the app's address, or viewers of the web page, use up some of the budget. */
		useBudget: (requests: number, address = '127.0.0.1'): void => limiter?.use(address, requests),
		sessions,
		faults,
		log,
		hooks,
		/** May be changed at any time. */
		list,
		/** May be changed at any time. */
		ids,
		/** Errors of scripts: empty unless a scenario is broken. */
		scriptErrors: scriptErrors as readonly unknown[],
	};
}

export type FakeSessionService = ReturnType<typeof createFakeSessionService>;
