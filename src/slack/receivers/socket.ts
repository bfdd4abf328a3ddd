import { type App, SocketModeReceiver } from '@slack/bolt';
import { type Clock, unlessAborted } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type applyProxy, withSocket } from '../../kernel/proxy.ts';
import { createSlackLogger, isTemporary, pauseAfter, slackFailure, tokenRefused } from '../clients.ts';

/** Slack closes each connection every few hours. With two, one serves while the other reconnects. */
const CONNECTIONS = 2;
/** From the request for an address to Slack's hello. */
const CONNECT_WITHIN_MS = 15_000;

/** Receives over Socket Mode with a reconnect loop of its own. `proxy`: null without one. */
export function createSocketReceiver(
	{ appToken, apiUrl, proxy }: { appToken: string; apiUrl: string; proxy: ReturnType<typeof applyProxy> },
	clock: Clock,
	log: Log,
) {
	// The library has no connection for 5 s or more at each routine refresh, and ends the process if Slack refuses one.
	const stopping = new AbortController();
	let serving = 0;
	let loops: Promise<void>[] = [];
	const receivers = Array.from({ length: CONNECTIONS }, () => {
		const through = proxy === null ? null : withSocket(proxy);
		const receiver = new SocketModeReceiver({
			appToken,
			logger: createSlackLogger(log),
			autoReconnectEnabled: false,
			...(through !== null && { dispatcher: through.dispatcher }),
			// One object for each, because the library writes into it.
			installerOptions: { clientOptions: { slackApiUrl: apiUrl, timeout: 10_000, retryConfig: { retries: 0 } } },
		});
		// The library gives up a stalled connection, but closes its socket only without our dispatcher.
		receiver.client.on('disconnected', () => through?.destroySocket());
		return receiver;
	});

	/** Resolves when the connection is closed. Rejects when it cannot connect. */
	async function serveOnce({ client }: SocketModeReceiver, onServing: () => void): Promise<void> {
		const gone = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
		const late = AbortSignal.any([stopping.signal, AbortSignal.timeout(CONNECT_WITHIN_MS)]);
		const connecting = client.start();
		await unlessAborted(connecting, late).catch((error: unknown) => {
			void client.disconnect();
			// The library cannot be stopped while it requests an address: a later connection is closed at once.
			connecting.then(() => client.disconnect()).catch(() => {});
			throw error;
		});
		onServing();
		serving++;
		await unlessAborted(gone, stopping.signal).catch(() => {});
		serving--;
	}

	async function keepServing(receiver: SocketModeReceiver, first: PromiseWithResolvers<void>): Promise<void> {
		let failures = 0;
		while (!stopping.signal.aborted) {
			try {
				await serveOnce(receiver, () => {
					failures = 0;
					first.resolve();
				});
				log.debug({}, 'a Socket Mode connection was closed; opening the next');
			} catch (error) {
				if (stopping.signal.aborted) break;
				const { code } = slackFailure(error);
				if (!isTemporary(code)) first.reject(tokenRefused('SLACK_APP_TOKEN', code));
				log.warn('socket_not_opened', { code, failures });
				failures++;
				await clock.sleep(pauseAfter(failures, !isTemporary(code)), stopping.signal).catch(() => {});
			}
		}
	}

	return {
		listener: null,
		isServing: () => serving > 0,
		init(app: App) {
			for (const receiver of receivers) receiver.init(app);
		},
		/** Resolves when the first connection is open; rejects when Slack refuses the token. */
		async start() {
			const first = Promise.withResolvers<void>();
			loops = receivers.map((receiver) => keepServing(receiver, first));
			await first.promise.catch((error: unknown) => {
				stopping.abort();
				throw error;
			});
		},
		async stop() {
			stopping.abort();
			const closed = receivers.map(({ client }) => client.disconnect().catch(() => {}));
			await Promise.race([Promise.all([...loops, ...closed]), clock.sleep(2_000)]);
		},
	};
}
