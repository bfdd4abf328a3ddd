import { connect, createServer, type Socket } from 'node:net';

/** A loopback server in front of the one that `address` names. */
export interface TcpProxy extends AsyncDisposable {
	/** `address` with the proxy's host and port. */
	readonly url: string;
	/** Ends every connection. */
	endAll(): void;
	/** Ends every connection; new ones lead to the server that this address names. */
	lead(address: string): void;
}

/** `join` gets each new connection. It refuses it, or connects to the server and passes bytes between the two ends. */
export async function createTcpProxy(
	address: string,
	join: (client: Socket, connectOn: () => Socket) => void,
): Promise<TcpProxy> {
	let target = new URL(address);
	const sockets = new Set<Socket>();
	const keep = (socket: Socket, other: Socket) => {
		sockets.add(socket);
		socket.on('error', () => other.destroy());
		socket.on('close', () => {
			sockets.delete(socket);
			other.destroy();
		});
	};
	const server = createServer((client) => {
		join(client, () => {
			const upstream = connect(Number(target.port), target.hostname);
			keep(client, upstream);
			keep(upstream, client);
			return upstream;
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = new URL(address);
	url.hostname = '127.0.0.1';
	url.port = String((server.address() as { port: number }).port);
	const endAll = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		url: url.href,
		endAll,
		lead(to) {
			target = new URL(to);
			endAll();
		},
		async [Symbol.asyncDispose]() {
			endAll();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
}

/** A TCP proxy in front of PostgreSQL that can be cut and restored. */
export async function createCuttableProxy(databaseUrl: string) {
	let isCut = false;
	const proxy = await createTcpProxy(databaseUrl, (client, connectOn) => {
		if (isCut) {
			client.destroy();
			return;
		}
		const server = connectOn();
		client.pipe(server);
		server.pipe(client);
	});
	return {
		url: proxy.url,
		cut(): void {
			isCut = true;
			proxy.endAll();
		},
		mend(): void {
			isCut = false;
		},
		[Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
	};
}
