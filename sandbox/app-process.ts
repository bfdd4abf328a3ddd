import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compile-cache.ts';
import type { BotStatus, WireBot } from './wire.ts';

const PROBLEMS_KEPT = 30;
/** Log records above this pino level count as problems (50 is error). */
const ERROR_LEVEL = 50;
/** How long the app may take after SIGTERM to finish what it is sending. */
const STOP_MS = 11_000;

const LEASH = new URL('leash.ts', import.meta.url).href;
const SHIFTED_CLOCK = new URL('shifted-clock.ts', import.meta.url).href;

export interface AppProcess {
	status(): WireBot;
	start(): void;
	/** SIGKILL, like a crash or a power cut. Resolves when it is gone. */
	kill(): Promise<void>;
	/** SIGTERM, then SIGKILL when it takes too long. */
	stop(): Promise<void>;
	/** Sets how far its clock is ahead of the machine's, now and at later starts. Resolves when the app has that time. */
	setClock(offsetMs: number): Promise<void>;
	connected(): void;
	/** Ends it without waiting, for the moment when the sandbox itself dies. */
	abandon(): void;
}

/** Whether it is the record of an error, or no log record: probably Node's own message about a crash. */
function isProblem(line: string): boolean {
	try {
		const { level } = JSON.parse(line) as { level?: unknown };
		if (level !== undefined) return level === 'error' || level === 'fatal' || Number(level) >= ERROR_LEVEL;
	} catch {
		// Not a log record.
	}
	return line.trim() !== '';
}

/** The app as a child process, so that it can be killed and started as in production. */
export function createAppProcess(deps: {
	/** The app's whole environment. */
	env: Record<string, string>;
	/** How far its clock is ahead of the machine's at the first start. */
	clockOffsetMs: number;
	entry?: string;
	onChange: () => void;
	/** Gets every line of its log; `isProblem` marks errors and lines that are not log records. */
	onLine: (line: string, isProblem: boolean) => void;
}): AppProcess {
	const entry = deps.entry ?? fileURLToPath(new URL('../src/main.ts', import.meta.url));
	let child: ChildProcess | null = null;
	let status: BotStatus = 'stopped';
	let ended: string | null = null;
	let problems: string[] = [];
	let wanted = false;
	let { clockOffsetMs } = deps;

	function change(next: BotStatus): void {
		status = next;
		deps.onChange();
	}

	function hear(line: string): void {
		const isOne = isProblem(line);
		if (isOne) problems = [...problems, line].slice(-PROBLEMS_KEPT);
		deps.onLine(line, isOne);
		if (isOne) deps.onChange();
	}

	function start(): void {
		if (child !== null) return;
		wanted = true;
		ended = null;
		const own = spawn(process.execPath, ['--import', LEASH, '--import', SHIFTED_CLOCK, entry], {
			env: { ...COMPILE_CACHE, ...deps.env, CLOCK_OFFSET_MS: String(clockOffsetMs), CLOCK_PASSES: '1' },
			stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
		});
		child = own;
		for (const stream of [own.stdout, own.stderr]) {
			if (stream !== null) createInterface({ input: stream }).on('line', hear);
		}
		own.once('error', (error) => hear(`The app cannot be started: ${error.message}`));
		own.once('close', (code, signal) => {
			if (child === own) child = null;
			if (wanted) {
				ended = signal === null ? `It ended by itself with exit code ${code}.` : `It ended by itself (${signal}).`;
				hear(ended);
			}
			change(wanted ? 'ended' : 'stopped');
		});
		change('starting');
	}

	async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
		const own = child;
		wanted = false;
		if (own === null) return;
		const closed = once(own, 'close');
		own.kill(signal);
		const timer = setTimeout(() => own.kill('SIGKILL'), STOP_MS);
		await closed;
		clearTimeout(timer);
	}

	return {
		status: () => ({ status, pid: child?.pid ?? null, ended, problems }),
		start,
		kill: () => end('SIGKILL'),
		stop: () => end('SIGTERM'),
		async setClock(offsetMs) {
			clockOffsetMs = offsetMs;
			const own = child;
			if (own === null || !own.connected) return;
			const over = new AbortController();
			const { signal } = over;
			const taken = Promise.race([once(own, 'message', { signal }), once(own, 'close', { signal })]);
			// It may end meanwhile, which is told by itself.
			own.send(offsetMs, () => undefined);
			await taken;
			over.abort();
		},
		connected() {
			if (status === 'starting') change('running');
		},
		abandon() {
			wanted = false;
			child?.kill('SIGKILL');
		},
	};
}
