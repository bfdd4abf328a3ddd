import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { documentedRoles } from '../../test/support/documented-roles.ts';
import { freePort } from '../../test/support/postgres.ts';
import { openTemporaryDirectory } from '../../test/support/postgres-binaries.ts';

const NEEDED = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'psql', 'pg_isready'];
/** Debian's user. PostgreSQL refuses to run as root. */
const SERVER_USER = 'postgres';

/** The folder of an installed PostgreSQL with its client programs, which no package of npm has; null without one. */
export function installedPostgres(): string | null {
	const folders = globSync('/usr/lib/postgresql/*/bin');
	return folders.find((folder) => NEEDED.every((program) => existsSync(join(folder, program)))) ?? null;
}

/** Starts the server of that folder with the roles and the empty database of the documents. */
export async function startInstalledPostgres(folder: string) {
	const directory = mkdtempSync(join(openTemporaryDirectory(), 'handraise-installed-postgres-'));
	const user = process.getuid?.() === 0 ? idsOf(SERVER_USER) : null;
	if (user !== null) chownSync(directory, user.uid, user.gid);
	chmodSync(directory, 0o700);
	const data = join(directory, 'data');
	const program = (name: string) => join(folder, name);
	execFileSync(program('initdb'), ['-D', data, '--no-sync', '--auth=trust', '--username=postgres', '--encoding=UTF8'], {
		...user,
		cwd: directory,
		stdio: 'pipe',
	});
	const port = await freePort();
	const server: ChildProcess = spawn(
		program('postgres'),
		['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory, '-c', 'fsync=off'],
		{ ...user, cwd: directory, stdio: 'ignore' },
	);
	const url = (role: string, database: string) => `postgres://${role}@127.0.0.1:${port}/${database}`;
	while (spawnSync(program('pg_isready'), ['-d', url('postgres', 'postgres')]).status !== 0) {
		if (server.exitCode !== null) throw new Error(`PostgreSQL in ${folder} ended with exit code ${server.exitCode}.`);
	}
	execFileSync(program('psql'), [url('postgres', 'postgres'), '--quiet', '--set=ON_ERROR_STOP=1'], {
		input: documentedRoles(),
	});
	return {
		url,
		async [Symbol.asyncDispose]() {
			server.kill('SIGINT');
			await once(server, 'exit');
			rmSync(directory, { recursive: true });
		},
	};
}

function idsOf(user: string) {
	const idOf = (option: string) => Number(execFileSync('id', [option, user], { encoding: 'utf8' }));
	return { uid: idOf('-u'), gid: idOf('-g') };
}
