import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { freePort } from '../../test/support/postgres.ts';

const STOP_WITHIN_MS = 11_000;

/** How a program is started: flags of node, and variables that its C library reads. */
export interface StartLine {
	readonly flags: readonly string[];
	readonly variables: Readonly<Record<string, string>>;
}

const words = manifest.scripts.start.split(' ');
/** As `npm start` does it. */
export const START_LINE: StartLine = {
	flags: words.filter((word) => word.startsWith('--max-')),
	variables: Object.fromEntries(words.filter((word) => word.startsWith('MALLOC_')).map((word) => word.split('='))),
};

/** A measured program in its own process. Its log goes through a pipe into a file, as in production. */
export interface AppProcess {
	/** Its address, if it listens. */
	readonly url: string;
	/** Rejects with the program's output when it ends before `stop`. */
	readonly endedEarly: Promise<never>;
	/** Resident memory now, in MiB. */
	memory(): Promise<number>;
	/** CPU time of its main thread since its start, in ms: hardly affected by other work on the machine. */
	ran(): Promise<number>;
	/** Bytes that it read and wrote since its start: network, database, log. */
	moved(): Promise<number>;
	stop(): Promise<void>;
}

export async function startAppProcess({
	flags = [],
	variables = {},
	entry,
	env,
	logDirectory,
}: Partial<StartLine> & {
	readonly entry: string;
	readonly env: Readonly<Record<string, string>>;
	readonly logDirectory: string;
}): Promise<AppProcess> {
	const port = await freePort();
	const child = spawn(process.execPath, [...flags, entry], {
		env: { PATH: process.env.PATH ?? '', ...variables, ...env, PORT: String(port) },
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
				readFile(log, 'utf8').then((text) => reject(new Error(`The program ended:\n${text.slice(-2_000)}`)), reject);
			});
		});
	});
	// Whoever waits for the program gets this error. When nobody waits any more, it must not be an unhandled rejection.
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
		async moved() {
			const io = await readFile(`/proc/${child.pid}/io`, 'utf8');
			return Number(/^rchar: (\d+)$/m.exec(io)?.[1]) + Number(/^wchar: (\d+)$/m.exec(io)?.[1]);
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
			(response) => response.status,
			() => null,
		);
		// The bare app does not know this path and responds 404.
		if (status === 200 || status === 404) return;
		await pause(50);
	}
	throw new Error(`The program at ${url} does not respond.`);
}
