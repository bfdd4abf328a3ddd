import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers the requests for one session, in any way. */
export type Hostile = (request: IncomingMessage, response: ServerResponse) => void;

export interface Front {
	readonly url: string;
	/** The sessions that this proxy answers for. */
	readonly hostile: Map<string, Hostile>;
	/** How often each session was requested. */
	readonly asked: ReadonlyMap<string, number>;
	close(): Promise<void>;
}

/**
 * Passes requests on to the fake session service, except for hostile sessions, whose responses the fake cannot give.
 */
export async function createFront(serviceUrl: string): Promise<Front> {
	const hostile = new Map<string, Hostile>();
	const asked = new Map<string, number>();
	const server = createServer((request, response) => {
		const id = /^\/v1\/sessions\/([^/?]+)/.exec(request.url ?? '')?.[1] ?? '';
		asked.set(id, (asked.get(id) ?? 0) + 1);
		const respond = hostile.get(id);
		if (respond !== undefined) return respond(request, response);
		const { method, headers, url } = request;
		const passed = send(`${serviceUrl}${url}`, { method: method ?? 'GET', headers }, (inner) => {
			response.writeHead(inner.statusCode ?? 502, inner.headers);
			inner.pipe(response);
		});
		passed.once('error', () => response.destroy());
		request.pipe(passed);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		hostile,
		asked,
		async close() {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		},
	};
}

/** The same bytes for every request, in parts that several sessions may share. */
export function bytes(...parts: readonly Buffer[]): Hostile {
	const length = parts.reduce((sum, part) => sum + part.length, 0);
	return (_, response) => {
		response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
		for (const part of parts) response.write(part);
		response.end();
	};
}
