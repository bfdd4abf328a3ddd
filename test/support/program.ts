import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';

const SHIFTED_CLOCK = new URL('../../sandbox/shifted-clock.ts', import.meta.url).href;
const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

/**
 * Starts the program like `npm start`, or by it or another command, with only these settings in its environment. With
 * `isClockSet`, a number that is sent to its process moves its clock by so many milliseconds.
 */
export function startProgram(
	env: Record<string, string>,
	main = MAIN,
	{
		byNpm = false,
		by = [],
		isClockSet = false,
		cwd,
		nodeOptions = [],
		args = [],
	}: {
		byNpm?: boolean;
		by?: readonly string[];
		isClockSet?: boolean;
		cwd?: string;
		nodeOptions?: readonly string[];
		args?: readonly string[];
	} = {},
) {
	const clock = isClockSet ? ['--import', SHIFTED_CLOCK] : [];
	const node = [...by, process.execPath, ...clock, ...nodeOptions, main, ...args];
	const [command = '', ...all] = byNpm ? ['npm', 'start'] : node;
	const child = spawn(command, all, {
		// The same streams.
		stdio: (isClockSet ? ['pipe', 'pipe', 'pipe', 'ipc'] : 'pipe') as 'pipe',
		...(cwd !== undefined && { cwd }),
		env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...env },
		// A group of its own, so that nothing of it survives a test.
		detached: byNpm,
	});
	let stdout = '';
	let stderr = '';
	child.stdout.on('data', (data) => {
		stdout += data;
	});
	child.stderr.on('data', (data) => {
		stderr += data;
	});
	const closed = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
	return {
		child,
		closed,
		output: () => stdout,
		/** Resolves when the log contains these words. */
		async says(words: string): Promise<void> {
			while (!stdout.includes(words)) {
				const ended = await Promise.race([once(child.stdout, 'data').then(() => null), closed]);
				if (ended !== null) throw new Error(`It ended without saying "${words}": ${stdout}${stderr}`);
			}
		},
	};
}
