import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './postgres.ts';
import { openTemporaryDirectory } from './postgres-binaries.ts';

/** No npm package has it, so only machines where it is installed run what needs it. */
export const PGBOUNCER = ['/usr/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
	.map((folder) => join(folder, 'pgbouncer'))
	.find((path) => existsSync(path));

/** PgBouncer in front of the server of `databaseUrl`, for its user, with these settings. `url`: the same through it. */
export async function startPgbouncer(databaseUrl: string, settings: readonly string[]) {
	const target = new URL(databaseUrl);
	const port = await freePort();
	const directory = await mkdtemp(join(openTemporaryDirectory(), 'handraise-pgbouncer-'));
	await chmod(directory, 0o755);
	const path = join(directory, 'pgbouncer.ini');
	await writeFile(join(directory, 'users.txt'), `"${target.username}" "${target.password}"\n`);
	await writeFile(
		path,
		[
			'[databases]',
			`* = host=${target.hostname} port=${target.port}`,
			'[pgbouncer]',
			'listen_addr = 127.0.0.1',
			`listen_port = ${port}`,
			'unix_socket_dir =',
			'auth_type = scram-sha-256',
			`auth_file = ${join(directory, 'users.txt')}`,
			...settings,
		].join('\n'),
	);
	// It refuses to run as root.
	const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
	const child = spawn(PGBOUNCER ?? 'pgbouncer', [...asOther, path], { stdio: ['ignore', 'ignore', 'pipe'] });
	let log = '';
	child.stderr.on('data', (text) => {
		log += text;
	});
	await listens(child, port).catch(() => {
		throw new Error(`pgbouncer did not start:\n${log}`);
	});
	const url = new URL(databaseUrl);
	[url.hostname, url.port] = ['127.0.0.1', String(port)];
	return {
		url: url.href,
		log: () => log,
		async [Symbol.asyncDispose]() {
			const exited = once(child, 'exit');
			child.kill('SIGKILL');
			await exited;
			await rm(directory, { recursive: true, force: true });
		},
	};
}

async function listens(child: ChildProcess, port: number): Promise<void> {
	while (child.exitCode === null) {
		const socket = connect(port, '127.0.0.1');
		const isOpen = await once(socket, 'connect').then(
			() => true,
			() => false,
		);
		socket.destroy();
		if (isOpen) return;
		await pause(20);
	}
	throw new Error('it ended');
}
