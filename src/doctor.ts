import { systemClock } from './clock.ts';
import { runDoctor } from './doctor/run.ts';

/** `npm run doctor` */
process.exitCode = await runDoctor({
	args: process.argv.slice(2),
	env: process.env,
	clock: systemClock,
	// Imported only for --views, because the builders slow down the start.
	shapes: async () => (await import('./slack/shapes/all.ts')).allShapes(),
	lines: console,
	terminal: process.stderr,
});
