import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { signedHeaders } from '../../fake-slack/index.ts';

/** An attacker's connection: written byte by byte, never read properly. */
export interface RawConnection {
	readonly socket: Socket;
	/** The status of the first response; null without one. */
	status(): number | null;
}

/** Connects. A connection that is refused or reset counts as closed. */
async function connectTo(url: string): Promise<RawConnection> {
	const { hostname, port } = new URL(url);
	const socket = connect(Number(port), hostname);
	let head = '';
	socket.on('data', (data) => {
		if (head.length < 20) head += data.toString('latin1');
	});
	socket.on('error', () => {});
	await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
	return { socket, status: () => (head === '' ? null : Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])) };
}

/** The head of a request to the path that Slack uses. */
export function headOf(headers: Readonly<Record<string, string | number>>): string {
	const all = { host: 'x', 'content-type': 'application/x-www-form-urlencoded', ...headers };
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
	return `POST /slack/events HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Headers like Slack's, signed with another secret. */
export const forged = (): Record<string, string> => signedHeaders('not-the-secret', 'x', Date.now());

export async function connectAll(url: string, count: number): Promise<RawConnection[]> {
	return Promise.all(Array.from({ length: count }, () => connectTo(url)));
}

export const isOpen = ({ socket }: RawConnection): boolean => !socket.destroyed && !socket.readableEnded;

export function hangUp(connections: readonly RawConnection[]): void {
	for (const { socket } of connections) socket.destroy();
}

/** How many requests got each status, or nothing. */
export function tally(statuses: readonly (number | null)[]): string {
	const counts = new Map<string, number>();
	for (const status of statuses) {
		const name = status === null ? 'none' : String(status);
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}
