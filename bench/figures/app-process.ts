import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { freePort } from '../../test/support/postgres.ts';

const STOP_WITHIN_MS = 11_000;
export const BARE_APP = fileURLToPath(new URL('bare-app.ts', import.meta.url));

const words = manifest.scripts.start.split(' ');
/** As `npm start` has them: flags of node, and variables that its C library reads. The bare app has none of them. */
const FLAGS = words.filter((word) => word.startsWith('--max-'));
const VARIABLES = Object.fromEntries(
	words.filter((word) => word.startsWith('MALLOC_')).map((word) => word.split('=') as [string, string]),
);

/** A measured program in its own process. Its log goes through a pipe into a file, as in production. */
export interface AppProcess {
	/** Its address, if it listens. */
	readonly url: string;
	/** Rejects with the program's output when it ends before `stop`. */
	readonly endedEarly: Promise<never>;
	/** Resident memory now, in MiB. */
	memory(): Promise<number>;
	/** The sum of a metric over all its labels. */
	metric(name: string): Promise<number>;
	stop(): Promise<void>;
}

export async function startAppProcess({
	entry,
	env,
	logDirectory,
}: {
	readonly entry: string;
	readonly env: Readonly<Record<string, string>>;
	readonly logDirectory: string;
}): Promise<AppProcess> {
	const port = await freePort();
	const isBare = entry === BARE_APP;
	const child = spawn(process.execPath, [...(isBare ? [] : FLAGS), entry], {
		env: { PATH: process.env.PATH ?? '', ...(!isBare && VARIABLES), ...env, PORT: String(port) },
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
	const url = `http://127.0.0.1:${port}`;
	return {
		url,
		endedEarly,
		async memory() {
			const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
			return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
		},
		async metric(name) {
			const text = await fetch(`${url}/metrics`).then((response) => response.text());
			const lines = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
			return Array.from(lines).reduce((sum, [, value]) => sum + Number(value), 0);
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
	const late = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
	await gone;
	clearTimeout(late);
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
