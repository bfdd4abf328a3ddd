import { mkdir } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { count, readOptions, someOf, text } from '../../test/support/options.ts';
import { type OwnPostgres, startPostgres } from '../../test/support/postgres.ts';
import { copyPrograms } from '../programs.ts';
import { measureAcks } from './acks.ts';
import { measureContent } from './content.ts';
import type { BenchContext } from './context.ts';
import { measureDisk } from './disk.ts';
import { measureMemory } from './memory.ts';
import { measurePresses } from './presses.ts';
import { measureRendering } from './rendering.ts';
import { type Figure, tableOf } from './report.ts';
import { startService } from './service.ts';
import { ms, quantile } from './stats.ts';
import { measureSubmissions } from './submissions.ts';
import { measureThroughput } from './throughput.ts';

const MEASUREMENTS: Readonly<Record<string, (context: BenchContext) => Promise<Figure[]>>> = {
	rendering: measureRendering,
	acks: measureAcks,
	content: measureContent,
	submissions: measureSubmissions,
	presses: measurePresses,
	throughput: measureThroughput,
	memory: measureMemory,
};
const NAMES = Object.keys(MEASUREMENTS);

const values = readOptions('npm run bench -- figures', {
	only: someOf(NAMES, 'measures these'),
	rounds: count(5, 'interleaved rounds', { least: 1 }),
	directory: text(tmpdir(), 'the disk that is measured'),
	former: text(null, 'measures submissions and presses of the program of this commit beside it'),
});

const startedAt = new Date();
const loads = () =>
	loadavg()
		.map((one) => one.toFixed(2))
		.join(' ');
const loadsBefore = loads();
await mkdir(values.directory, { recursive: true });
const disk = await measureDisk(values.directory);
const servers: Promise<OwnPostgres>[] = [];
const figures: Figure[] = [];
{
	await using service = await startService();
	await using copies = await copyPrograms(values.former);
	try {
		const context: BenchContext = {
			service,
			directory: values.directory,
			postgres: () => {
				servers[0] ??= startPostgres({ durable: true });
				return servers[0];
			},
			rounds: values.rounds,
			programs: copies.programs,
		};
		for (const name of values.only) {
			const start = performance.now();
			figures.push(...((await MEASUREMENTS[name]?.(context)) ?? []));
			process.stderr.write(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
		}
	} finally {
		for (const server of servers) await (await server).close();
	}
}
disk.push(...(await measureDisk(values.directory)));

console.log(`\n${tableOf(figures)}\n`);
console.log(
	[
		`\`npm run bench -- figures${values.only === NAMES ? '' : ` --only ${values.only.join(',')}`}\` on ${startedAt.toISOString().slice(0, 10)}:`,
		`${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version},`,
		`load average ${loadsBefore} before and ${loads()} after; medians of ${values.rounds} interleaved rounds, each row with the load at its end.`,
		`The disk's own write of 4 kB with fdatasync: p50 ${ms(quantile(disk, 0.5))} ms, p99 ${ms(quantile(disk, 0.99))} ms.`,
		'Slack is a fake in the process that measures, the session service one in a process of its own; they share the',
		'cores with the program, which runs in a process of its own as in production, and so does the bare app.',
	].join('\n'),
);
