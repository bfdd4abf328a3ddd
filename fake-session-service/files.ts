import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Clock } from '../src/kernel/clock.ts';
import { checkLink } from './links.ts';
import type { RequestLog } from './log.ts';
import { drawScreenshot } from './png.ts';
import type { State } from './state.ts';

/** An object store's response to an invalid link. */
const denied = (reason: string) =>
	`<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;

/**
 * Files and screenshots behind signed links. The real ones are in an object store: they need no key and do not count
 * against the service's rate limit.
 */
export function registerFiles(
	app: Hono<{ Bindings: HttpBindings }>,
	{ state, clock, log }: { readonly state: State; readonly clock: Clock; readonly log: RequestLog },
): void {
	app.get('/files/:id/:name', (c) => {
		const { id, name } = c.req.param();
		const entry = log.begin({
			at: clock.now(),
			kind: 'file',
			method: 'GET',
			path: c.req.path,
			sessionId: id,
			address: c.env.incoming.socket.remoteAddress ?? '',
			hasKey: c.req.header('x-api-key') !== undefined,
			contentType: null,
			ifNoneMatch: null,
		});
		const respond = (status: 200 | 403 | 404, type: string, body: string | Buffer) => {
			entry.status = status;
			entry.answeredAt = clock.now();
			return c.body(new Uint8Array(Buffer.from(body)), status, { 'Content-Type': type });
		};
		const url = new URL(c.req.url);
		const verdict = checkLink(url.pathname, url.searchParams, clock.now());
		if (verdict === 'expired') return respond(403, 'application/xml', denied('Request has expired'));
		if (verdict === 'forged') return respond(403, 'application/xml', denied('The signature does not match'));
		const screenshot = /^screenshot-(\d+)\.png$/.exec(name);
		if (screenshot !== null) return respond(200, 'image/png', drawScreenshot(Number(screenshot[1])));
		const blob = state.records.get(id)?.blobs.get(name);
		if (blob === undefined) return respond(404, 'application/xml', denied('The specified key does not exist'));
		return respond(200, blob.type, blob.content);
	});
}
