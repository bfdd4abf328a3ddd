import { Console } from 'node:console';
import { proxySettings, readSettings } from './config.ts';
import { systemClock } from './kernel/clock.ts';
import { applyProxy } from './kernel/proxy.ts';
import { command, runCommand, stoppedBy } from './operator/command.ts';
import { runDoctor } from './operator/doctor/run.ts';

export const main = command(async (args, io) => {
	const proxy = applyProxy(proxySettings(readSettings(io.env).settings));
	const isLive = args[0] === 'live';
	const signal = isLive ? stoppedBy(io, 'SIGINT', 'SIGTERM', 'SIGHUP') : new AbortController().signal;
	return runDoctor({ args, env: io.env, clock: systemClock, proxy, signal, lines: new Console(io.stdout, io.stderr) });
});

await runCommand(import.meta, main);
