import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Core } from './core.ts';
import type { Transport } from './delivery.ts';
import { isRecord, parseJson } from './json.ts';

/** The most sockets that an app may have at once (docs.slack.dev, "Using Socket Mode"). */
const MAX_SOCKETS = 10;
/** Slack pings. The SDK closes a connection without a ping for 30 s. */
const PING_MS = 10_000;
/** After a warning or a refresh Slack closes the connection itself (docs: about ten seconds). */
const DISCONNECT_GRACE_MS = 10_000;

type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled';

export interface Sockets {
	/** An address for apps.connections.open that works once. */
	ticket(): string;
	upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
	send: Transport;
	/** Open connections that take payloads. */
	count(): number;
	/** Sends a `disconnect` frame to the oldest connection or to all. */
	disconnect(reason: DisconnectReason, which?: 'oldest' | 'all'): void;
	/** Cuts connections without a frame, as a network does. */
	drop(which?: 'oldest' | 'all'): void;
	close(): void;
}

interface Connection {
	readonly socket: WebSocket;
	/** Got a `disconnect` frame: gets no new payloads. */
	leaving: boolean;
}

/** Slack's side of Socket Mode: every payload goes to exactly one connection, in turn. */
export function createSockets(core: Core): Sockets {
	const server = new WebSocketServer({ noServer: true });
	const tickets = new Set<string>();
	let connections: Connection[] = [];
	let turn = 0;
	const waiting = new Map<string, (payload: unknown) => void>();
	const closing = new AbortController();

	function remove(connection: Connection): void {
		connections = connections.filter((one) => one !== connection);
		core.changes.emit({ kind: 'socket', id: 'closed' });
	}

	function onMessage(data: string): void {
		const frame = parseJson(data);
		if (!isRecord(frame) || typeof frame.envelope_id !== 'string') {
			core.traffic.violate({
				where: 'socket',
				messages: ['A frame that is no JSON text or has no envelope_id'],
				payload: data,
			});
			core.changes.emit({ kind: 'socket', id: 'violation' });
			return;
		}
		const resolve = waiting.get(frame.envelope_id);
		waiting.delete(frame.envelope_id);
		resolve?.(frame.payload);
	}

	function accept(socket: WebSocket): void {
		if (connections.length >= MAX_SOCKETS) {
			socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }));
			socket.close();
			return;
		}
		const connection: Connection = { socket, leaving: false };
		connections.push(connection);
		const pings = setInterval(() => socket.ping(), PING_MS);
		pings.unref();
		socket.on('message', (data: Buffer) => onMessage(data.toString('utf8')));
		socket.on('close', () => {
			clearInterval(pings);
			remove(connection);
		});
		socket.on('error', () => socket.terminate());
		socket.send(
			JSON.stringify({
				type: 'hello',
				num_connections: connections.length,
				debug_info: { host: 'applink-fake', build_number: 1, approximate_connection_time: 18_060 },
				connection_info: { app_id: core.state.app.id },
			}),
		);
		core.changes.emit({ kind: 'socket', id: 'open' });
	}

	function ready(): Connection[] {
		return connections.filter((one) => !one.leaving && one.socket.readyState === WebSocket.OPEN);
	}

	function pick(which: 'oldest' | 'all'): Connection[] {
		const open = ready();
		return which === 'all' ? open : open.slice(0, 1);
	}

	return {
		ticket() {
			const ticket = randomUUID();
			tickets.add(ticket);
			return `${core.origin.replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=${core.state.app.id}`;
		},
		upgrade(request, socket, head) {
			socket.on('error', () => socket.destroy());
			const url = new URL(request.url ?? '/', core.origin);
			if (url.pathname !== '/link/' || !tickets.delete(url.searchParams.get('ticket') ?? '')) {
				socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
				return;
			}
			server.handleUpgrade(request, socket, head, accept);
		},
		send(delivery, signal) {
			const open = ready();
			const envelope = JSON.stringify({
				envelope_id: randomUUID(),
				type: delivery.kind,
				payload: delivery.payload,
				accepts_response_payload: delivery.acceptsPayload,
				...(delivery.kind === 'events_api'
					? { retry_attempt: delivery.retry ?? 0, retry_reason: delivery.retryReason ?? '' }
					: {}),
			});
			const { envelope_id: id } = JSON.parse(envelope) as { envelope_id: string };
			const times = core.faults.takeDuplicate(delivery.name) ? 2 : 1;
			const target = () => open[turn++ % open.length];
			return new Promise((resolve) => {
				if (open.length === 0) {
					resolve({ ok: false, failure: 'no_connection' });
					return;
				}
				const end = () => {
					waiting.delete(id);
					resolve({ ok: false, failure: 'timeout' });
				};
				if (signal.aborted) {
					end();
					return;
				}
				signal.addEventListener('abort', end, { once: true });
				waiting.set(id, (payload) => {
					signal.removeEventListener('abort', end);
					resolve({ ok: true, payload });
				});
				for (let time = 0; time < times; time++) target()?.socket.send(envelope);
			});
		},
		count: () => ready().length,
		disconnect(reason, which = 'oldest') {
			for (const connection of pick(which)) {
				connection.leaving = true;
				connection.socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'applink-fake' } }));
				core.clock.sleep(DISCONNECT_GRACE_MS, closing.signal).then(
					() => connection.socket.close(),
					() => undefined,
				);
			}
		},
		drop(which = 'oldest') {
			for (const connection of pick(which)) connection.socket.terminate();
		},
		close() {
			closing.abort();
			for (const connection of connections) connection.socket.terminate();
			server.close();
		},
	};
}
