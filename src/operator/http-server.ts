import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AnswerStore } from '../delivery/answer-store.ts';
import { MINUTE_MS } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { shareRunning } from '../kernel/memory.ts';
import type { RequestBudget } from '../service/budget.ts';
import type { createBoltApp } from '../slack/bolt-app.ts';
import type { Installation } from '../slack/clients.ts';
import type { SlackCore } from '../slack/slack-core.ts';
import type { StoreDatabase } from '../store/database.ts';

/** Slack gives up on a request after three seconds. */
const STOP_WITHIN_MS = 3_000;
const LIMITS = {
	/** Far more than Slack or a proxy opens; each costs about 17 kB while it waits. */
	connections: 2_000,
	/** For a whole request, its headers included. */
	requestMs: 10_000,
};
/** Longer than the usual 60 s of proxies, so that no idle connection is closed while a proxy reuses it. */
const KEEP_ALIVE_MS = 65_000;

interface Options {
	/** Null: every address of the machine. */
	readonly host?: string | null;
	readonly port: number;
	readonly notReady: () => Promise<readonly string[]>;
	readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
	/** In HTTP mode. Calls `verified` for a request that Slack signed: its connection is never closed to make room. */
	readonly slack: ((request: IncomingMessage, response: ServerResponse, verified: () => void) => void) | null;
	/** Called with `slow`, `malformed_http`, `too_many_connections` or `wrong_path`. */
	readonly onRefused: (reason: string) => void;
	/** For tests. */
	readonly limits?: typeof LIMITS;
}

/** `/healthz`, `/readyz` (200, or 503 with the reasons), `/metrics` (Prometheus), and Slack's requests in HTTP mode. */
export function createHttpServer({ host = null, port, notReady, metrics, slack, onRefused, limits = LIMITS }: Options) {
	// Frequent requests do not load the database.
	const sharedNotReady = shareRunning(notReady);
	const sharedMetrics = shareRunning(metrics);
	const server = createServer(
		{
			headersTimeout: limits.requestMs,
			requestTimeout: limits.requestMs,
			keepAliveTimeout: KEEP_ALIVE_MS,
			// By default Node.js checks for late requests only every 30 s.
			connectionsCheckingInterval: limits.requestMs / 10,
		},
		(request, response) => {
			const path = (request.url ?? '').split('?')[0];
			const isRead = request.method === 'GET' || request.method === 'HEAD';
			if (isRead && path === '/healthz') return text(response, 200, 'ok\n');
			if (isRead && path === '/readyz') return void respondReady(response, sharedNotReady);
			if (isRead && path === '/metrics') return void respondMetrics(response, sharedMetrics);
			if (slack !== null) return slack(request, response, () => spare(request));
			onRefused('wrong_path');
			return text(response, 404, 'Not found\n');
		},
	);
	// Closes connections that do not read their response. Longer than the request time-out, which sends a 408.
	server.timeout = 3 * limits.requestMs;
	const spare = limitConnections(server, limits.connections, () => onRefused('too_many_connections'));
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket, onRefused));
	return {
		/** Resolves to the port it listens on. @throws HandraiseError `port_unusable` */
		async start(): Promise<number> {
			await once(server.listen({ port, ...(host !== null && { host }) }), 'listening').catch(
				(cause: NodeJS.ErrnoException) => {
					const isHost = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(cause.code ?? '');
					const message = isHost
						? `HOST ${host} cannot be used (${cause.code}): set it to an address of this machine, or leave it empty`
						: `PORT ${port} cannot be used (${cause.code}): set another PORT, or stop the process that uses it`;
					throw new HandraiseError(message, { code: 'port_unusable', cause });
				},
			);
			// Without file descriptors Node.js accepts no connection, which must not end the program.
			server.on('error', () => onRefused('not_accepted'));
			return (server.address() as AddressInfo).port;
		},
		/** Lets running requests finish within the time that Slack waits for a response. */
		async stop(): Promise<void> {
			const late = setTimeout(() => server.closeAllConnections(), STOP_WITHIN_MS);
			const closed = once(server, 'close');
			server.close();
			server.closeIdleConnections();
			await closed;
			clearTimeout(late);
		},
	};
}

/** The server of the program. Slack's requests go to Bolt once it is known where the app is installed. */
export function createEndpoints(
	core: SlackCore<{ answers: AnswerStore; db: StoreDatabase }> & { installation: Installation },
	parts: Pick<Options, 'onRefused'> & { bolt: ReturnType<typeof createBoltApp>; budget: RequestBudget },
) {
	const { config, clock, metrics, store, clients, installation } = core;
	const { bolt, budget, onRefused } = parts;
	const { listener } = bolt;
	const isConnected = () => installation.known() !== null && bolt.isServing();
	return createHttpServer({
		host: config.HOST,
		port: config.PORT,
		slack:
			listener &&
			((request, response, verified) => {
				if (installation.known() !== null) listener(request, response, verified);
				else response.writeHead(503, { connection: 'close', 'retry-after': '1' }).end();
			}),
		onRefused,
		metrics: () =>
			metrics.expose({
				answers: store.answers.stats,
				now: clock.now,
				isConnected,
				budgetLeft: budget.left,
			}),
		async notReady() {
			const reasons: string[] = [];
			if (!isConnected()) reasons.push('no connection to Slack');
			const refusal = clients.tokenRefusal();
			if (refusal !== null) reasons.push(`Slack refuses SLACK_BOT_TOKEN (${refusal})`);
			await store.db.ping().catch(() => reasons.push('the database does not answer'));
			return reasons;
		},
	});
}

function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex, onRefused: (reason: string) => void): void {
	if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
	const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
	onRefused(status === 408 ? 'slow' : 'malformed_http');
	socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n\r\n`, () => socket.destroy());
}

async function respondReady(response: ServerResponse, notReady: Options['notReady']): Promise<void> {
	const reasons = await notReady().catch(() => ['the readiness check failed']);
	text(response, reasons.length === 0 ? 200 : 503, reasons.length === 0 ? 'ready\n' : `${reasons.join('\n')}\n`);
}

async function respondMetrics(response: ServerResponse, metrics: Options['metrics']): Promise<void> {
	try {
		const { contentType, text: body } = await metrics();
		response.writeHead(200, { 'content-type': contentType }).end(body);
	} catch {
		text(response, 503, 'The metrics could not be collected.\n');
	}
}

function text(response: ServerResponse, status: number, body: string): void {
	response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
}

/**
 * Closes the oldest connections beyond `max`: Node's `maxConnections` would refuse the newest, perhaps Slack's. Returns
 * a function that exempts the connection of a request.
 */
function limitConnections(server: Server, max: number, onClosed: () => void) {
	const closable = new Set<Socket>();
	let count = 0;

	server.on('connection', (socket: Socket) => {
		count++;
		closable.add(socket);
		socket.once('close', () => {
			count--;
			closable.delete(socket);
		});
		if (count <= max) return;
		const [oldest] = closable;
		if (oldest === undefined) return;
		closable.delete(oldest);
		oldest.destroy();
		onClosed();
	});

	return ({ socket }: IncomingMessage): void => void closable.delete(socket);
}

/** Counts refused requests by reason. Logs the first at once, the others once a minute, so a flood fills no log. */
export function createRefusedRequests({ clock, log, metrics }: SlackCore) {
	const stopping = new AbortController();
	const counts = new Map<string, number>();
	const report = shareRunning(async () => {
		while (counts.size > 0) {
			log.warn('requests_refused', { refused: Object.fromEntries(counts) });
			counts.clear();
			await clock.sleep(MINUTE_MS, stopping.signal).catch(() => {});
		}
	});

	return {
		add(reason: string): void {
			metrics.httpRefused({ reason });
			counts.set(reason, (counts.get(reason) ?? 0) + 1);
			void report();
		},
		/** Logs the remaining counts. */
		stop: (): void => stopping.abort(),
	};
}
