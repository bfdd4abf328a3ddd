import type { IncomingMessage } from 'node:http';

/** What a piece costs in memory beside its bytes: a body that comes byte by byte must not hold more than it counts. */
const PIECE_OVERHEAD = 512;
/** Each costs time too. The largest body, cut as networks cut it, has 3,000. */
const MAX_PIECES = 8_000;

/** Why a body was not read to its end; `gone`: the sender went away. */
export type UnreadBody = 'too_large' | 'crowded' | 'gone';

interface Limits {
	/** Of one body, in bytes. */
	readonly maxBytes: number;
	/** Of all bodies that are arriving, together. */
	readonly maxTotalBytes: number;
}

/**
 * Reads bodies of senders that have proved nothing yet. When all that are arriving hold more than their share of memory,
 * the one that has been arriving longest gives way: Slack's arrive within milliseconds, so whoever holds bodies open
 * loses them first and Slack's get through.
 */
export function createBodies({ maxBytes, maxTotalBytes }: Limits) {
	/** Oldest first. */
	const arriving = new Set<{ held: number; giveWay(): void }>();
	let total = 0;

	/** Never rejects. What is left of a body that was not read to its end is thrown away as it comes. */
	function read(request: IncomingMessage): Promise<Buffer | UnreadBody> {
		if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
			request.resume();
			return Promise.resolve('too_large');
		}
		return new Promise((resolve) => {
			const pieces: Buffer[] = [];
			let bytes = 0;
			const body = {
				held: 0,
				giveWay(): void {
					end('crowded');
				},
			};
			arriving.add(body);

			function end(outcome: Buffer | UnreadBody): void {
				if (!arriving.delete(body)) return;
				total -= body.held;
				pieces.length = 0;
				request.off('data', take);
				request.resume();
				resolve(outcome);
			}
			function take(piece: Buffer): void {
				bytes += piece.length;
				if (bytes > maxBytes || pieces.length === MAX_PIECES) {
					end('too_large');
					return;
				}
				pieces.push(piece);
				body.held += piece.length + PIECE_OVERHEAD;
				total += piece.length + PIECE_OVERHEAD;
				while (total > maxTotalBytes) arriving.values().next().value?.giveWay();
			}
			request.on('data', take);
			request.once('end', () => end(Buffer.concat(pieces)));
			request.once('error', () => end('gone'));
			request.once('close', () => end('gone'));
		});
	}

	return { read };
}
