import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval as every } from 'node:timers/promises';

/**
 * A process that only measures how late the machine lets it run, as prom-client measures the program. On a busy machine
 * no program can do better than this. Prints the p99 in ms at each interval (first argument, ms).
 */
const histogram = monitorEventLoopDelay({ resolution: 10 });
histogram.enable();
for await (const _ of every(Number(process.argv[2] ?? 15_000))) {
	process.stdout.write(`${histogram.percentile(99) / 1e6}\n`);
	histogram.reset();
}
