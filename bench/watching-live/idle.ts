import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval as every } from 'node:timers/promises';

/**
 * A process that does nothing but measure how late the machine lets it run, as prom-client measures the program: on a busy
 * machine this is what no program can be better than. Prints the p99 in ms for every so many ms as asked for.
 */
const histogram = monitorEventLoopDelay({ resolution: 10 });
histogram.enable();
for await (const _ of every(Number(process.argv[2] ?? 15_000))) {
	process.stdout.write(`${histogram.percentile(99) / 1e6}\n`);
	histogram.reset();
}
