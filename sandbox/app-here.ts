import { createHandraise } from '../src/app.ts';
import { parseConfig } from '../src/config.ts';
import type { Clock } from '../src/kernel/clock.ts';
import { createLog } from '../src/kernel/log.ts';
import type { AppProcess, createAppProcess } from './app-process.ts';

type Deps = Parameters<typeof createAppProcess>[0];

/**
 * The app within the tests' process instead of one of its own, so that it shares their clock. It cannot be killed:
 * tests of that start a process.
 */
export function createAppHere(clock: Clock, { env, onChange, onLine }: Deps): AppProcess {
	let status: 'stopped' | 'starting' | 'running' = 'stopped';
	let stop = async () => {};
	function change(next: typeof status): void {
		status = next;
		onChange();
	}
	async function run(): Promise<void> {
		const log = createLog('info', { write: (line) => onLine(line, /"level":"(error|fatal)"/.test(line)) });
		const app = await createHandraise({ config: parseConfig(env), log, clock });
		stop = app.stop;
		await app.start(new AbortController().signal);
	}
	return {
		status: () => ({ status, pid: null, ended: null, problems: [] }),
		start() {
			change('starting');
			run().catch((error: Error) => onLine(String(error.stack), true));
		},
		kill: () => Promise.reject(new Error('The app runs within the tests here and cannot be killed.')),
		async stop() {
			await stop();
			change('stopped');
		},
		setClock: async () => {},
		connected: () => change('running'),
		abandon() {},
	};
}
