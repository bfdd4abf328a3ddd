import { type Dispatcher, EnvHttpProxyAgent, Pool, setGlobalDispatcher } from 'undici';

/** How connections to the session service are kept, with and without a proxy. */
export const CONNECTIONS = {
	// At least as many as the budget grants in a minute: no request waits for the slow response to another one.
	connections: 256,
	pipelining: 1,
	allowH2: false,
	// The service closes idle ones after 5 s; a PUT then has an unknown outcome. No `Keep-Alive` header extends this.
	keepAliveTimeout: 3_500,
	keepAliveMaxTimeout: 3_500,
	keepAliveTimeoutThreshold: 1_500,
} as const;

/** A proxy on another machine would take these for its own. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/** The proxy's answer to a CONNECT may take as long as a connection of undici's own. */
const CONNECT_WITHIN_MS = 10_000;

type Addresses = Pick<EnvHttpProxyAgent.Options, 'httpProxy' | 'httpsProxy' | 'noProxy'>;

/** Sends `fetch`, and what gets the dispatcher, through proxies. `NODE_USE_ENV_PROXY` covers no Pool or Socket Mode. */
export function applyProxy(settings: Required<Addresses> | null): Dispatcher | null {
	if (settings === null) return null;
	const dispatcher = new EnvHttpProxyAgent({
		...CONNECTIONS,
		httpProxy: settings.httpProxy,
		httpsProxy: settings.httpsProxy,
		noProxy: `${THIS_MACHINE},${settings.noProxy}`,
		// As without a proxy, for hosts that NO_PROXY names.
		connect: { timeout: 3_000 },
		// Plain http too: only through a tunnel are these the connections to the service, and is a WebSocket passed on.
		proxyTunnel: true,
		clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: CONNECT_WITHIN_MS }),
	});
	setGlobalDispatcher(dispatcher);
	return dispatcher;
}

/** Adds a way to close the socket of the last WebSocket, which undici hides. */
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
