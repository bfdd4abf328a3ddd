import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Slack gives up on a request after three seconds. */
const STOP_WITHIN_MS = 3_000;
const LIMITS = {
	/** Far more than Slack or a proxy opens; each costs about 17 kB while it waits. */
	connections: 2_000,
	/** In which a whole request has to come, its headers included. */
	requestMs: 10_000,
};
/** Longer than the 60 s of usual proxies, so that no idle connection is closed while a proxy reuses it. */
const KEEP_ALIVE_MS = 65_000;

interface Options {
	readonly port: number;
	/** Why the process cannot serve people, in words; empty when it is ready. */
	readonly notReady: () => Promise<readonly string[]>;
	readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
	/**
	 * Everything but health and metrics: Slack's requests, in HTTP mode. `verified` is called when a request is Slack's: its
	 * connection is then never closed to make room for others.
	 */
	readonly slack: ((request: IncomingMessage, response: ServerResponse, verified: () => void) => void) | null;
	/** Why the server refused something: `slow`, `malformed_http`, `too_many_connections`, `wrong_path`. */
	readonly onRefused: (reason: string) => void;
	/** For tests. */
	readonly limits?: typeof LIMITS;
}

/**
 * The process' one HTTP server: `/healthz` (the process runs), `/readyz` (it can do its work: 200, else 503 with the
 * reasons), `/metrics` (Prometheus text), and Slack's requests in HTTP mode.
 */
export function createHttpServer({ port, notReady, metrics, slack, onRefused, limits = LIMITS }: Options) {
	const ready = together(notReady);
	const figures = together(metrics);
	const server = createServer(
		{
			headersTimeout: limits.requestMs,
			requestTimeout: limits.requestMs,
			keepAliveTimeout: KEEP_ALIVE_MS,
			// Node.js looks for late requests only every 30 s by default.
			connectionsCheckingInterval: limits.requestMs / 10,
		},
		(request, response) => {
			const path = (request.url ?? '').split('?')[0];
			const isRead = request.method === 'GET' || request.method === 'HEAD';
			if (isRead && path === '/healthz') return text(response, 200, 'ok\n');
			if (isRead && path === '/readyz') return void answerReady(response, ready);
			if (isRead && path === '/metrics') return void answerMetrics(response, figures);
			if (slack !== null) return slack(request, response, () => connections.spare(request));
			onRefused('wrong_path');
			return text(response, 404, 'Not found\n');
		},
	);
	// Ends connections that do not take a response. Longer than the time-out of requests, which replies.
	server.timeout = 3 * limits.requestMs;
	const connections = limitConnections(server, {
		max: limits.connections,
		onClosed: () => onRefused('too_many_connections'),
	});
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket, onRefused));
	return {
		/** Resolves to the port it listens on. @throws HandraiseError `port_unusable` */
		async start(): Promise<number> {
			await new Promise<void>((resolve, reject) => {
				server.once('error', (cause: NodeJS.ErrnoException) => {
					const advice = 'give another one, or end the process that has it';
					const message = `PORT ${port} cannot be used (${cause.code}): ${advice}`;
					reject(new HandraiseError(message, { code: 'port_unusable', cause }));
				});
				server.listen(port, resolve);
			});
			return (server.address() as AddressInfo).port;
		},
		/** Lets running requests finish for as long as Slack waits for a response. */
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

/** Calls during a run share its result, so that frequent requests cost the database nothing. */
function together<T>(run: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | null = null;
	return () => {
		running ??= run().finally(() => {
			running = null;
		});
		return running;
	};
}

/** Responds to malformed and slow requests. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex, onRefused: (reason: string) => void): void {
	if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
	const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
	onRefused(status === 408 ? 'slow' : 'malformed_http');
	socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n\r\n`, () => socket.destroy());
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

/**
 * Bounds the connections of a server by closing the oldest one for each new one. (`server.maxConnections` refuses new
 * ones instead, so that idle connections would keep out health checks and Slack.)
 */
function limitConnections(server: Server, { max, onClosed }: { readonly max: number; readonly onClosed: () => void }) {
	/** Those that may be closed, the oldest first. */
	const waiting = new Set<Socket>();
	let count = 0;

	server.on('connection', (socket: Socket) => {
		count++;
		waiting.add(socket);
		socket.once('close', () => {
			count--;
			waiting.delete(socket);
		});
		if (count <= max) return;
		const [oldest] = waiting;
		if (oldest === undefined) return;
		waiting.delete(oldest);
		oldest.destroy();
		onClosed();
	});

	return {
		/** Never closes this connection: its owner is known. */
		spare: ({ socket }: IncomingMessage): void => void waiting.delete(socket),
	};
}

const REPORT_EVERY_MS = 60_000;

/**
 * Counts refused requests by reason. Logs the first at once and then totals once a minute, so that a flood does not fill
 * the log; nothing that was sent is logged.
 */
export function createRefusedRequests({
	clock,
	log,
	metrics,
}: {
	readonly clock: Pick<Clock, 'sleep'>;
	readonly log: Log;
	readonly metrics: { httpRefused(reason: string): void };
}) {
	const stopping = new AbortController();
	const counts = new Map<string, number>();
	let isReporting = false;

	async function report(): Promise<void> {
		isReporting = true;
		while (counts.size > 0) {
			log.warn({ refused: Object.fromEntries(counts) }, 'HTTP requests were refused');
			counts.clear();
			await clock.sleep(REPORT_EVERY_MS, stopping.signal).catch(() => {});
		}
		isReporting = false;
	}

	return {
		add(reason: string): void {
			metrics.httpRefused(reason);
			counts.set(reason, (counts.get(reason) ?? 0) + 1);
			if (!isReporting) void report();
		},
		/** Logs the remaining counts. */
		stop: (): void => stopping.abort(),
	};
}
