import { systemClock } from './clock.ts';
import { proxySettings, readSettings } from './config.ts';
import { runDoctor } from './doctor/run.ts';
import { applyProxy } from './proxy.ts';

/** `npm run doctor` */
applyProxy(proxySettings(readSettings(process.env).settings));
process.exitCode = await runDoctor({
	args: process.argv.slice(2),
	env: process.env,
	clock: systemClock,
	// Imported only for --views, because the builders slow down the start.
	shapes: async () => (await import('./slack/shapes/all.ts')).allShapes(),
	lines: console,
	terminal: process.stderr,
});
