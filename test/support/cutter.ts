import { connect, createServer, type Socket } from 'node:net';

/** A line to PostgreSQL that can be cut and mended. */
export async function createCutter(databaseUrl: string) {
	const target = new URL(databaseUrl);
	const sockets = new Set<Socket>();
	let isCut = false;
	const server = createServer((from) => {
		if (isCut) {
			from.destroy();
			return;
		}
		const to = connect(Number(target.port), target.hostname);
		for (const [one, other] of [
			[from, to],
			[to, from],
		] as const) {
			sockets.add(one);
			one.pipe(other);
			one.on('error', () => other.destroy());
			one.on('close', () => {
				sockets.delete(one);
				other.destroy();
			});
		}
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = new URL(databaseUrl);
	url.hostname = '127.0.0.1';
	url.port = String((server.address() as { port: number }).port);
	return {
		url: url.href,
		cut(): void {
			isCut = true;
			for (const socket of sockets) socket.destroy();
		},
		mend(): void {
			isCut = false;
		},
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
}
