import type { Socket } from 'node:net';
import { createTcpProxy } from './tcp-proxy.ts';

/** The last message of a PostgreSQL response outside of a transaction: "ready for query, idle". */
const READY_IDLE = Buffer.from('5a0000000549', 'hex');

/** What is sent to PostgreSQL at once: a statement's text with its parameters, as bytes in latin1. */
type Statement = string;

interface Loss {
	readonly matches: (statement: Statement) => boolean;
	left: number;
}

export type LossyProxy = Awaited<ReturnType<typeof createLossyProxy>>;

/**
 * A TCP proxy in front of PostgreSQL that loses replies on demand: the server has committed, and the client sees a
 * broken connection instead of the reply. It does not support TLS.
 */
export async function createLossyProxy(databaseUrl: string) {
	let losses: Loss[] = [];
	let lost = 0;

	function take(statement: Statement): boolean {
		const loss = losses.find((one) => one.matches(statement));
		if (loss === undefined) return false;
		loss.left--;
		losses = losses.filter((one) => one.left > 0);
		return true;
	}

	function join(client: Socket, server: Socket): void {
		const read = createStatementReader();
		let inTransaction = false;
		let isMarked = false;
		let losing = false;
		client.on('data', (bytes: Buffer) => {
			for (const statement of read(bytes)) {
				if (/^(begin|start transaction)\b/i.test(sqlOf(statement))) inTransaction = true;
				isMarked ||= take(statement);
				const ends = /^(commit|rollback)\b/i.test(sqlOf(statement));
				if (ends) inTransaction = false;
				// Outside of a transaction a statement commits by itself.
				if (isMarked && !inTransaction) losing = true;
			}
			server.write(bytes);
		});
		server.on('data', (bytes: Buffer) => {
			if (!losing) {
				client.write(bytes);
				return;
			}
			if (!bytes.subarray(-READY_IDLE.length).equals(READY_IDLE)) return;
			lost++;
			client.destroy();
		});
	}

	const proxy = await createTcpProxy(databaseUrl, (client, connectOn) => join(client, connectOn()));
	return {
		url: proxy.url,
		/** Loses the reply to the commit of each of the next `times` statements that match. */
		lose(matches: (statement: Statement) => boolean, times: number): void {
			losses.push({ matches, left: times });
		},
		/** Stops losing replies. */
		heal(): void {
			losses = [];
		},
		/** Replies lost so far. */
		get lost() {
			return lost;
		},
		[Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
	};
}

/** Whether one of the statement's parameters is exactly this (ASCII) text. */
export function hasParameter(statement: Statement, text: string): boolean {
	const length = Buffer.alloc(4);
	length.writeInt32BE(text.length);
	return statement.includes(length.toString('latin1') + text);
}

/** The statement's text, without the message header of the extended protocol. */
function sqlOf(statement: Statement): string {
	return statement.replace(/^[^a-z]*/i, '');
}

/**
 * Splits what a client sends into statements, by the messages of PostgreSQL's protocol (version 3): a simple query is
 * one statement, and so are all messages of the extended protocol up to a Sync.
 */
function createStatementReader(): (bytes: Buffer) => Statement[] {
	let unread: Buffer = Buffer.alloc(0);
	let isStarted = false;
	let parts = '';
	return (bytes) => {
		unread = Buffer.concat([unread, bytes]);
		const statements: Statement[] = [];
		for (;;) {
			// The very first message has no type.
			const head = isStarted ? 1 : 0;
			if (unread.length < head + 4) return statements;
			const end = head + unread.readInt32BE(head);
			if (unread.length < end) return statements;
			const type = isStarted ? unread.toString('latin1', 0, 1) : '';
			const payload = unread.toString('latin1', head + 4, end);
			unread = unread.subarray(end);
			isStarted = true;
			if (type === 'P' || type === 'B') parts += payload;
			if (type === 'Q') statements.push(payload);
			if (type !== 'S') continue;
			statements.push(parts);
			parts = '';
		}
	};
}
