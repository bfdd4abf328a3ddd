import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Lines of the log kept for the report of a failure. */
const LINES_KEPT = 50_000;
const READY_WITHIN_MS = 30_000;

/** The program as its own process, started as often as wanted. */
export interface Replica {
	/** Of the process that runs or ran last; 0 before the first. */
	readonly pid: number;
	readonly running: boolean;
	/** The newest lines of its log, over all of its lives. */
	readonly lines: readonly string[];
	/** Resolves when Slack's requests can come. @throws Error when it ends before that */
	start(): Promise<void>;
	/** SIGKILL, at once; the promise resolves when the process is gone. */
	kill(): Promise<void>;
	/** SIGSTOP and SIGCONT: stands still as if its machine had no time for it, or slept. */
	freeze(): void;
	thaw(): void;
	/** SIGTERM; what it exited with and after how many ms. */
	terminate(): Promise<{ readonly code: number | null; readonly signal: string | null; readonly ms: number }>;
}

export function createReplica({ entry, env }: { entry: string; env: Readonly<Record<string, string>> }): Replica {
	const lines: string[] = [];
	let child: ChildProcess | null = null;
	let pid = 0;

	function isReady(own: ChildProcess): Promise<void> {
		return new Promise((resolve, reject) => {
			const fail = (why: string) => reject(new Error(`The program ${why}:\n${lines.slice(-20).join('\n')}`));
			const timer = setTimeout(() => fail('did not get ready'), READY_WITHIN_MS);
			own.once('exit', (code, signal) => {
				clearTimeout(timer);
				fail(`ended with ${signal ?? code} before it was ready`);
			});
			for (const stream of [own.stdout, own.stderr]) {
				if (stream === null) continue;
				createInterface({ input: stream }).on('line', (line) => {
					lines.push(line);
					if (lines.length > LINES_KEPT * 2) lines.splice(0, LINES_KEPT);
					if (!line.includes('Handraise is ready')) return;
					clearTimeout(timer);
					resolve();
				});
			}
		});
	}

	function gone(own: ChildProcess): Promise<unknown> {
		return own.exitCode !== null || own.signalCode !== null ? Promise.resolve() : once(own, 'exit');
	}

	return {
		get pid() {
			return pid;
		},
		get running() {
			return child !== null && child.exitCode === null && child.signalCode === null;
		},
		lines,
		async start() {
			const own = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe'] });
			child = own;
			pid = own.pid ?? 0;
			await isReady(own);
		},
		async kill() {
			const own = child;
			if (own === null) return;
			own.kill('SIGKILL');
			await gone(own);
		},
		freeze: () => void child?.kill('SIGSTOP'),
		thaw: () => void child?.kill('SIGCONT'),
		async terminate() {
			const own = child;
			if (own === null) throw new Error('The program does not run.');
			const start = performance.now();
			own.kill('SIGTERM');
			await gone(own);
			return { code: own.exitCode, signal: own.signalCode, ms: performance.now() - start };
		},
	};
}
