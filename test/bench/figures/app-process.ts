import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const STOP_WITHIN_MS = 11_000;

/** A program under measurement, in a process of its own; its log goes into a file through a pipe, as in production. */
export interface AppProcess {
	/** Where it listens, if it does. */
	readonly url: string;
	/** Resident memory now, in MiB. */
	memory(): Promise<number>;
	stop(): Promise<void>;
}

export async function startAppProcess({
	entry,
	env,
	logDirectory,
	execArgv = [],
}: {
	readonly entry: string;
	readonly env: Readonly<Record<string, string>>;
	readonly logDirectory: string;
	readonly execArgv?: readonly string[];
}): Promise<AppProcess> {
	const port = await freePort();
	const child = spawn(process.execPath, [...execArgv, entry], {
		env: { PATH: process.env.PATH ?? '', ...env, PORT: String(port) },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const log = join(logDirectory, `${child.pid}.log`);
	const file = createWriteStream(log);
	child.stdout.pipe(file, { end: false });
	child.stderr.pipe(file, { end: false });
	child.once('exit', () => file.end());
	return {
		url: `http://127.0.0.1:${port}`,
		async memory() {
			if (child.exitCode !== null) throw new Error(`The program has ended:\n${await readFile(log, 'utf8')}`);
			const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
			return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
		},
		stop: () => stop(child),
	};
}

async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = once(child, 'exit');
	child.kill('SIGTERM');
	const late = new AbortController();
	void pause(STOP_WITHIN_MS, undefined, { signal: late.signal }).then(
		() => child.kill('SIGKILL'),
		() => {},
	);
	await gone;
	late.abort();
}

/** Resolves when the program takes requests over HTTP. */
export async function takesRequests({ url }: AppProcess): Promise<void> {
	for (let tries = 0; tries < 300; tries++) {
		const status = await fetch(`${url}/readyz`).then(
			(answer) => answer.status,
			() => null,
		);
		// The bare app knows no such address and says so.
		if (status === 200 || status === 404) return;
		await pause(50);
	}
	throw new Error(`Nothing takes requests at ${url}.`);
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	server.close();
	await once(server, 'close');
	if (address === null || typeof address === 'string') throw new Error('no port was given');
	return address.port;
}
