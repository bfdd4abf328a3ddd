import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';

/** Lines of the log kept for the report of a failure. */
const LINES_KEPT = 50_000;
/** While Slack cannot be reached, the program tries again at least every 30 s. */
export const READY_WITHIN_MS = 60_000;
const SHIFTED_CLOCK = new URL('../../sandbox/shifted-clock.ts', import.meta.url).href;

/** The program as a process of its own that can be started repeatedly. */
export function createReplica({ entry, env }: { entry: string; env: Readonly<Record<string, string>> }) {
	const lines: string[] = [];
	let child: ChildProcess | null = null;
	let pid = 0;
	let clockOffsetMs = 0;

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
		return isRunning(own) ? once(own, 'exit') : Promise.resolve();
	}

	function isRunning(own: ChildProcess | null): own is ChildProcess {
		return own !== null && own.exitCode === null && own.signalCode === null;
	}

	function launch(): { ready: Promise<void> } {
		const own = spawn(process.execPath, ['--import', SHIFTED_CLOCK, entry], {
			env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...env, CLOCK_OFFSET_MS: String(clockOffsetMs) },
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
		});
		child = own;
		pid = own.pid ?? 0;
		const ready = isReady(own);
		// The caller may wait for other things first.
		ready.catch(() => undefined);
		return { ready };
	}

	return {
		/** The process that runs or ran last; 0 before the first. */
		get pid(): number {
			return pid;
		},
		get running(): boolean {
			return isRunning(child);
		},
		/** The newest lines of its log, over all starts. */
		lines: lines as readonly string[],
		/** Resolves when it can take Slack's requests. @throws Error when it ends before that */
		start: () => launch().ready,
		/** Starts it without waiting. The returned promise is that of `start`. */
		launch,
		/** Sends SIGKILL at once. The promise resolves when the process is gone. */
		async kill(): Promise<void> {
			const own = child;
			if (own === null) return;
			own.kill('SIGKILL');
			await gone(own);
		},
		/** SIGSTOP and SIGCONT: it stands still as on a machine that is overloaded or asleep. */
		freeze: () => void child?.kill('SIGSTOP'),
		thaw: () => void child?.kill('SIGCONT'),
		/** Sends SIGTERM. Resolves with the exit code and the time until the exit, in ms. */
		async terminate() {
			const own = child;
			if (own === null) throw new Error('The program does not run.');
			const start = performance.now();
			own.kill('SIGTERM');
			await gone(own);
			return { code: own.exitCode, signal: own.signalCode, ms: performance.now() - start };
		},
		/** Moves its clock by that many milliseconds, forward or back: at once for the running process, and for all later ones. */
		async shiftClock(byMs: number): Promise<void> {
			clockOffsetMs += byMs;
			const own = child;
			if (!isRunning(own)) return;
			const taken = Promise.race([once(own, 'message'), once(own, 'exit')]);
			own.send(clockOffsetMs);
			await taken;
		},
	};
}

export type Replica = ReturnType<typeof createReplica>;
