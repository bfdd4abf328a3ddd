import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createHttpServer } from '../../src/operator/http-server.ts';
import { afterEach, describe, expect, it, startTimedApp } from '../kit.ts';

const sockets: Socket[] = [];
afterEach(() => {
	for (const socket of sockets.splice(0)) socket.destroy();
});

async function open(port: number): Promise<Socket> {
	const socket = connect(port, '127.0.0.1');
	sockets.push(socket);
	socket.on('error', () => {});
	await once(socket, 'connect');
	return socket;
}

async function serve(options: Partial<Parameters<typeof createHttpServer>[0]> = {}) {
	const refused: string[] = [];
	const server = createHttpServer({
		port: 0,
		notReady: async () => [],
		metrics: async () => ({ contentType: 'text/plain', text: '' }),
		slack: null,
		onRefused: (reason) => refused.push(reason),
		...options,
	});
	const port = await server.start();
	onTestFinished(() => {
		for (const socket of sockets.splice(0)) socket.destroy();
		return server.stop();
	});
	return { port, refused, get: (path: string) => fetch(`http://127.0.0.1:${port}${path}`) };
}

describe('connections', () => {
	const limits = { connections: 5, requestMs: 10_000 };

	it('closes the oldest waiting connections for new ones, so that health checks work', async () => {
		const { port, refused, get } = await serve({ limits });
		const closed: number[] = [];
		for (let count = 0; count < 8; count++) {
			const socket = await open(port);
			socket.resume().once('close', () => closed.push(count));
		}
		expect((await get('/healthz')).status).toBe(200);
		await expect.poll(() => closed).toHaveLength(4);
		expect(closed.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3]);
		expect(refused).toEqual(Array(4).fill('too_many_connections'));
	});

	it('keeps connections with verified requests open, waiting or idle', async () => {
		const { promise: asked, resolve: hasAsked } = Promise.withResolvers<() => void>();
		const { port } = await serve({
			limits,
			slack(_, response, verified) {
				verified();
				hasAsked(() => response.end('done'));
			},
		});
		const crowd = async () => {
			for (let count = 0; count < 20; count++) await open(port);
		};
		const verifiedSocket = await open(port);
		let received = '';
		verifiedSocket.on('data', (data) => {
			received += data;
		});
		verifiedSocket.write('GET /known HTTP/1.1\r\nhost: x\r\n\r\n');
		const finish = await asked;
		await crowd();
		finish();
		await expect.poll(() => received).toContain('done');
		await crowd();
		verifiedSocket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
		await expect.poll(() => received).toContain('ok\n');
	});
});

describe('a request that does not come to its end', () => {
	it.each([
		['in its headers', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
		['in its body', 'POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc'],
	])('ends a request that stops %s', async (_, text) => {
		const { port, refused } = await serve({
			limits: { connections: 5, requestMs: 200 },
			slack: (request) => request.resume(),
		});
		const socket = await open(port);
		socket.write(text);
		const [response] = await once(socket, 'data');
		expect(String(response)).toMatch(/^HTTP\/1\.1 408 /);
		await once(socket, 'close');
		expect(refused).toEqual(['slow']);
	});

	it('closes a connection on which nothing arrives', async () => {
		const { port, refused } = await serve({ limits: { connections: 5, requestMs: 200 } });
		await once((await open(port)).resume(), 'close');
		expect(refused).toEqual(['slow']);
	});
});

it('responds with 400 to input that is not HTTP', async () => {
	const { port, refused } = await serve();
	const socket = await open(port);
	socket.write('hello\r\n\r\n');
	const [response] = await once(socket, 'data');
	expect(String(response)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nconnection: close\r\n/);
	expect(refused).toEqual(['malformed_http']);
});

it('runs one readiness check for many simultaneous requests', async () => {
	let checks = 0;
	const { promise: held, resolve: letGo } = Promise.withResolvers<readonly string[]>();
	const { port } = await serve({
		notReady: () => {
			checks++;
			return held;
		},
	});
	const socket = await open(port);
	let received = '';
	socket.on('data', (data) => {
		received += data;
	});
	socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20));
	await expect.poll(() => checks).toBeGreaterThan(0);
	expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
	letGo([]);
	await expect.poll(() => received.split('200 OK').length).toBeGreaterThan(20);
	expect(checks).toBe(1);
});

it('logs one line a minute with the counts of refused requests and none of their content', async () => {
	await using timed = await startTimedApp({ transport: 'http' });
	const { app, clock } = timed;
	const lines = () => app.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'HTTP requests were refused');
	const knock = async (path: string) => {
		await fetch(`${app.url}${path}`, { method: 'POST', body: 'content=of-somebody', headers: { 'x-of': 'somebody' } });
	};
	for (let count = 0; count < 30; count++) await knock('/slack/events?of=somebody');
	await knock('/admin/of-somebody');
	expect(lines()).toHaveLength(1);
	await clock.advance(60_000);
	expect(lines().map(({ level, refused }) => [level, refused])).toEqual([
		['warn', { wrong_content_type: 1 }],
		['warn', { wrong_content_type: 29, wrong_path: 1 }],
	]);
	await clock.advance(120_000);
	expect(lines()).toHaveLength(2);
	await knock('/admin/of-somebody');
	expect(lines()).toHaveLength(3);
	await knock('/admin/of-somebody');
	await timed.stop();
	expect(lines()).toHaveLength(4);
	expect(app.log.join()).not.toContain('somebody');
});
