import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HandraiseError } from '../errors.ts';

/** Slack gives up on a request after three seconds. */
const STOP_WITHIN_MS = 3_000;

/** The port cannot be listened on. */
class PortUnusableError extends HandraiseError {
	readonly code = 'port_unusable';
	readonly retryable = false;

	constructor(port: number, cause: NodeJS.ErrnoException) {
		super(`PORT ${port} cannot be used (${cause.code}): give another one, or end the process that has it`, { cause });
	}
}

interface Options {
	readonly port: number;
	/** What keeps the process from serving people, in words; empty when it is ready. */
	readonly notReady: () => Promise<readonly string[]>;
	readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
	/** Everything that is not health or metrics: Slack's requests, in HTTP mode. */
	readonly slack: RequestListener | null;
}

/**
 * The process' one HTTP server: `/healthz` (the process runs), `/readyz` (it can do its work: 200, else 503 with the
 * reasons), `/metrics` (Prometheus text), and Slack's requests in HTTP mode.
 */
export function createHttpServer({ port, notReady, metrics, slack }: Options) {
	const server = createServer((request, response) => {
		const path = (request.url ?? '').split('?')[0];
		const isRead = request.method === 'GET' || request.method === 'HEAD';
		if (isRead && path === '/healthz') return text(response, 200, 'ok\n');
		if (isRead && path === '/readyz') return void answerReady(response, notReady);
		if (isRead && path === '/metrics') return void answerMetrics(response, metrics);
		if (slack !== null) return slack(request, response);
		return text(response, 404, 'Not found\n');
	});
	return {
		/** Resolves to the port it listens on. @throws PortUnusableError when the port is taken */
		async start(): Promise<number> {
			await new Promise<void>((resolve, reject) => {
				server.once('error', (error) => reject(new PortUnusableError(port, error)));
				server.listen(port, resolve);
			});
			return (server.address() as AddressInfo).port;
		},
		/** Lets running requests finish, as long as Slack waits for an answer. */
		async stop(): Promise<void> {
			const late = setTimeout(() => server.closeAllConnections(), STOP_WITHIN_MS);
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeIdleConnections();
			});
			clearTimeout(late);
		},
	};
}

async function answerReady(response: ServerResponse, notReady: Options['notReady']): Promise<void> {
	const reasons = await notReady().catch(() => ['the check itself failed']);
	text(response, reasons.length === 0 ? 200 : 503, reasons.length === 0 ? 'ready\n' : `${reasons.join('\n')}\n`);
}

async function answerMetrics(response: ServerResponse, metrics: Options['metrics']): Promise<void> {
	try {
		const { contentType, text: body } = await metrics();
		response.writeHead(200, { 'content-type': contentType }).end(body);
	} catch {
		text(response, 503, 'The metrics could not be put together.\n');
	}
}

function text(response: ServerResponse, status: number, body: string): void {
	response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
}
