import { createTcpProxy } from './tcp-proxy.ts';

/** A line to PostgreSQL that can be cut and mended. */
export async function createCutter(databaseUrl: string) {
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
