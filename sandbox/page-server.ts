import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { WebSocketServer } from 'ws';
import type { Viewer } from '../fake-slack/index.ts';
import { ActionError, type Actions } from './actions.ts';
import type { PageFile } from './bundle.ts';
import { onPortOrFree } from './port.ts';
import type { Stream } from './stream.ts';
import { NOBODY } from './wire.ts';

/** Refuses inline script and style, and everything from elsewhere than the sandbox. */
const CONTENT_SECURITY_POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"font-src 'self'",
	"img-src 'self' data:",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

/** Names by which a browser on this machine reaches the loopback interface: a page elsewhere cannot pose as one. */
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

interface PageServerDeps {
	/** The wanted port; a free one when it is busy. */
	port: number;
	files: Promise<ReadonlyMap<string, PageFile>>;
	/** Called when the address is known, because the app gets it. */
	actions: () => Actions;
	stream: () => Stream;
	/** The person who looks, by name or id. @throws ActionError */
	viewer: (person: string | undefined, window: string | undefined) => Viewer;
}

function isLocal(host: string | undefined, origin: string | undefined): boolean {
	return LOOPBACK.test(host ?? '') && (origin === undefined || LOOPBACK.test(origin.replace(/^https?:\/\//, '')));
}

const wordOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function listen(server: Server, port: number): Promise<void> {
	return new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(port, '127.0.0.1', () => {
			server.off('error', reject);
			resolve();
		});
	});
}

/** Serves the page, its stream of changes and its actions, only to browsers on this machine. */
export async function createPageServer(deps: PageServerDeps) {
	const app = new Hono();
	app.use('*', async (c, next) => {
		if (!isLocal(c.req.header('host'), c.req.header('origin'))) return c.text('loopback only', 403);
		await next();
		c.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
		c.header('X-Content-Type-Options', 'nosniff');
		c.header('Referrer-Policy', 'no-referrer');
		c.header('Cache-Control', 'no-store');
		return undefined;
	});

	const file = async (c: Context, path: string) => {
		const found = (await deps.files).get(path);
		if (found === undefined) return c.notFound();
		return c.body(typeof found.content === 'string' ? found.content : new Uint8Array(found.content), 200, {
			'Content-Type': found.type,
		});
	};
	for (const path of ['/', '/dashboard/*', '/gallery', '/try']) app.get(path, (c) => file(c, '/'));

	app.get('/sandbox/look/:what', async (c) => {
		const seen = await deps.actions().look(c.req.param('what'), c.req.query());
		return seen === null ? c.json({ error: 'there is no such thing' }, 404) : c.json(seen);
	});
	app.get('/sandbox/image', async (c) => {
		const image = await deps.actions().image(c.req.query('url') ?? '');
		if (image === null) return c.text('This image is not on the sandbox.', 404);
		return c.body(image.content, 200, { 'Content-Type': image.type });
	});
	app.post('/sandbox/do/:action', async (c) => {
		if (!(c.req.header('content-type') ?? '').startsWith('application/json')) return c.json({ error: 'not JSON' }, 415);
		const { as, window, ...rest } = (await c.req.json()) as Record<string, unknown>;
		const viewer = deps.viewer(wordOf(as), wordOf(window));
		return c.json((await deps.actions().perform(c.req.param('action'), viewer, rest)) ?? {});
	});
	app.get('/:file', (c) => file(c, `/${c.req.param('file')}`));
	app.onError((error, c) => c.json({ error: error.message }, error instanceof ActionError ? 409 : 500));

	function viewerOf(query: URLSearchParams): Viewer | null {
		try {
			return deps.viewer(query.get('as') ?? undefined, query.get('window') ?? undefined);
		} catch {
			return null;
		}
	}
	const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
	const sockets = new WebSocketServer({ noServer: true });
	server.on('upgrade', (request, socket, head) => {
		const url = new URL(request.url ?? '/', 'http://127.0.0.1');
		const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
		if (!isLocal(request.headers.host, request.headers.origin)) return refuse('403 Forbidden');
		if (url.pathname !== '/sandbox/stream') return refuse('404 Not Found');
		try {
			const viewer = viewerOf(url.searchParams);
			return sockets.handleUpgrade(request, socket, head, (opened) => {
				if (viewer === null) opened.close(NOBODY);
				else deps.stream().add(opened, viewer);
			});
		} catch {
			return refuse('404 Not Found');
		}
	});
	await onPortOrFree(deps.port, (port) => listen(server, port));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			sockets.close();
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			server.closeAllConnections();
			await closed;
		},
	};
}
