import { proxySettings, readSettings } from './config.ts';
import { systemClock } from './kernel/basics.ts';
import { applyProxy } from './kernel/proxy.ts';
import { runDoctor } from './operator/doctor/run.ts';

const proxy = applyProxy(proxySettings(readSettings(process.env).settings));
const interrupted = new AbortController();
if (process.argv[2] === 'live') {
	// The second Ctrl-C ends the process at once.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => interrupted.abort());
}
process.exitCode = await runDoctor({
	args: process.argv.slice(2),
	env: process.env,
	clock: systemClock,
	proxy,
	signal: interrupted.signal,
	lines: console,
});
