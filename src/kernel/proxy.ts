import { type Dispatcher, EnvHttpProxyAgent, Pool, setGlobalDispatcher } from 'undici';

/** Options for connections to the session service, with and without a proxy. */
export const CONNECTIONS = {
	// More than the usual budget grants in a minute, so that no request waits for another one's slow response.
	connections: 256,
	pipelining: 1,
	allowH2: false,
	// The service closes idle ones after 5 s, and a PUT at that moment has an unknown outcome. So we close them before,
	// whatever its `Keep-Alive` header says.
	keepAliveTimeout: 3_500,
	keepAliveMaxTimeout: 3_500,
	keepAliveTimeoutThreshold: 1_500,
} as const;

/** For a proxy on another machine, these names would mean itself. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/** The limit for the proxy's response to a CONNECT: undici's default for a connection. */
const CONNECT_WITHIN_MS = 10_000;

type Addresses = Pick<EnvHttpProxyAgent.Options, 'httpProxy' | 'httpsProxy' | 'noProxy'>;

/**
 * Sends `fetch` through the proxies, and whatever uses the returned dispatcher. `NODE_USE_ENV_PROXY` would cover
 * neither a Pool nor Socket Mode.
 */
export function applyProxy(settings: Required<Addresses> | null): Dispatcher | null {
	if (settings === null) return null;
	const dispatcher = new EnvHttpProxyAgent({
		...CONNECTIONS,
		httpProxy: settings.httpProxy,
		httpsProxy: settings.httpsProxy,
		noProxy: `${THIS_MACHINE},${settings.noProxy}`,
		// For hosts in NO_PROXY, as without a proxy.
		connect: { timeout: 3_000 },
		// A tunnel for plain http too. Without it, `CONNECTIONS` would not apply, and no WebSocket would pass.
		proxyTunnel: true,
		clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_WITHIN_MS }),
	});
	setGlobalDispatcher(dispatcher);
	return dispatcher;
}

/** Adds a way to destroy the socket of the last WebSocket. undici does not expose it. */
export function withSocket(dispatcher: Dispatcher): { dispatcher: Dispatcher; destroySocket(): void } {
	let destroySocket = () => {};
	return {
		dispatcher: dispatcher.compose((dispatch) => (options, handler) => {
			const { onRequestUpgrade } = handler;
			handler.onRequestUpgrade = (controller, status, headers, socket) => {
				destroySocket = () => void socket.destroy();
				onRequestUpgrade?.call(handler, controller, status, headers, socket);
			};
			return dispatch(options, handler);
		}),
		destroySocket: () => destroySocket(),
	};
}
