import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

export type ConnectProxy = Awaited<ReturnType<typeof createConnectProxy>>;

/**
 * An HTTP proxy on the loopback interface that opens tunnels (CONNECT) for one user. Every host name leads to this
 * machine: what reaches a host that no DNS knows came through this proxy.
 */
export async function createConnectProxy() {
	const user = 'proxy-user';
	const password = 'canary-of-the-proxy';
	const credentials = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
	/** The client's end of each open tunnel, and the host that it leads to. */
	const tunnels = new Map<Duplex, string>();
	const stalled = new Set<Duplex>();
	const asked: string[] = [];
	const ports = new Map<string, number>();
	let refusal: { readonly status: number; readonly host: string | undefined } | null = null;
	const isRefused = (host: string) => refusal !== null && (refusal.host ?? host) === host;

	function refusalOf({ headers }: IncomingMessage, host: string): number | null {
		if (headers['proxy-authorization'] !== credentials) return 407;
		return refusal !== null && isRefused(host) ? refusal.status : null;
	}

	const server = createServer((_, response) => response.writeHead(405).end());
	server.on('connect', (request: IncomingMessage, client: Duplex) => {
		const [host = '', port] = (request.url ?? '').split(':');
		asked.push(host);
		const status = refusalOf(request, host);
		if (status !== null) {
			client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
			return;
		}
		const upstream = connect(ports.get(host) ?? Number(port), '127.0.0.1', () =>
			client.write('HTTP/1.1 200 Connected\r\n\r\n'),
		);
		const pass = (from: Duplex, to: Duplex) => {
			from.on('data', (bytes: Buffer) => {
				if (!stalled.has(client)) to.write(bytes);
			});
			for (const end of ['end', 'error', 'close']) from.on(end, () => to.destroy());
		};
		pass(client, upstream);
		pass(upstream, client);
		tunnels.set(client, host);
		client.on('close', () => {
			tunnels.delete(client);
			stalled.delete(client);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as { port: number };

	return {
		/** With user and password. */
		url: `http://${user}:${password}@127.0.0.1:${port}`,
		password,
		/** What asks for `host` comes to this port of this machine, whatever port it asks for. */
		lead(host: string, port: number): void {
			ports.set(host, port);
		},
		/** The hosts of all requests so far, also of refused ones. */
		hosts: (): ReadonlySet<string> => new Set(asked),
		/** Refuses new tunnels to `host`, by default to all, and ends the open ones. */
		refuse(status: number, host?: string): void {
			refusal = { status, host };
			for (const [tunnel, to] of tunnels) if (isRefused(to)) tunnel.destroy();
		},
		accept(): void {
			refusal = null;
		},
		/** Passes nothing more through the open tunnels, and keeps them open. New ones work. */
		stall(): void {
			for (const tunnel of tunnels.keys()) stalled.add(tunnel);
		},
		/** How many stalled tunnels the client has not closed. */
		stalledCount: () => stalled.size,
		async [Symbol.asyncDispose]() {
			for (const tunnel of tunnels.keys()) tunnel.destroy();
			server.closeAllConnections();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
}
