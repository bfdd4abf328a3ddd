import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds how many connections a server holds without ever locking anybody out: for a new one the one is closed that was
 * opened first, and whoever asks gets their answer within milliseconds. (`server.maxConnections` turns new ones away, so
 * that idle ones keep out health checks and Slack.)
 */
export function limitConnections(
	server: Server,
	{ max, onClosed }: { readonly max: number; readonly onClosed: () => void },
) {
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
		/** Leaves the connection alone from now on: it belongs to somebody who is known. */
		spare: ({ socket }: IncomingMessage): void => void waiting.delete(socket),
	};
}
