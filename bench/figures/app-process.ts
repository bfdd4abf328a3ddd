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
	/** Rejects with what it wrote when it ends before it is told to. */
	readonly endedEarly: Promise<never>;
	/** Resident memory now, in MiB. */
	memory(): Promise<number>;
	/** Milliseconds its main thread has run on a core since it started: hardly moved by what else the machine does. */
	ran(): Promise<number>;
	stop(): Promise<void>;
}

export async function startAppProcess({
	flags = [],
	entry,
	env,
	logDirectory,
}: {
	/** Of node. */
	readonly flags?: readonly string[];
	readonly entry: string;
	readonly env: Readonly<Record<string, string>>;
	readonly logDirectory: string;
}): Promise<AppProcess> {
	const port = await freePort();
	const child = spawn(process.execPath, [...flags, entry], {
		env: { PATH: process.env.PATH ?? '', ...env, PORT: String(port) },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const log = join(logDirectory, `${child.pid}.log`);
	const file = createWriteStream(log);
	child.stdout.pipe(file, { end: false });
	child.stderr.pipe(file, { end: false });
	let isStopping = false;
	const endedEarly = new Promise<never>((_, reject) => {
		child.once('close', () => {
			file.end(() => {
				if (isStopping) return;
				readFile(log, 'utf8').then(
					(text) => reject(new Error(`The program has ended:\n${text.slice(-2_000)}`)),
					reject,
				);
			});
		});
	});
	// Heard by whoever waits for the program; once nobody does, what they wait for instead says that it has ended.
	endedEarly.catch(() => {});
	return {
		url: `http://127.0.0.1:${port}`,
		endedEarly,
		async memory() {
			const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
			return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
		},
		async ran() {
			return Number((await readFile(`/proc/${child.pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
		},
		stop() {
			isStopping = true;
			return stop(child);
		},
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
