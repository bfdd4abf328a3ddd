import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';

const programAt = (name: string) => new URL(`../../src/${name}.ts`, import.meta.url).pathname;
const SHIFTED_CLOCK = new URL('../../sandbox/shifted-clock.ts', import.meta.url).href;

/**
 * Runs `npm run person`, or `npm run audit`, with these settings alone. `typed`: its standard input. `by`: the command that starts it. A number that
 * is sent to the child of `onStart` moves its clock by so many milliseconds.
 */
export async function runPerson(
	args: readonly string[],
	env: Readonly<Record<string, string>>,
	{
		typed = '',
		by = [],
		onStart,
		program = 'person',
	}: {
		readonly program?: 'person' | 'audit';
		readonly typed?: string;
		readonly by?: readonly string[];
		readonly onStart?: (child: ChildProcess) => void;
	} = {},
) {
	const clock = onStart === undefined ? [] : ['--import', SHIFTED_CLOCK];
	const [command = '', ...others] = [...by, process.execPath, ...clock, programAt(program), ...args];
	const child = spawn(command, others, {
		env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, ...env },
		stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
	});
	onStart?.(child);
	const said = { stdout: '', stderr: '' };
	for (const name of ['stdout', 'stderr'] as const) {
		child[name]?.setEncoding('utf8').on('data', (text: string) => {
			said[name] += text;
		});
	}
	child.stdin?.on('error', () => undefined);
	child.stdin?.end(typed);
	const [code] = await once(child, 'close');
	return { code: code as number, ...said };
}
