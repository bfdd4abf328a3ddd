import { count, readOptions, someOf, text } from '../../test/support/options.ts';
import { type OwnPostgres, startPostgres } from '../../test/support/postgres.ts';
import { machine } from '../machine.ts';
import { copyPrograms } from '../programs.ts';
import { measureAcks } from './acks.ts';
import type { BenchContext } from './context.ts';
import { measureMemory } from './memory.ts';
import { measurePresses } from './presses.ts';
import { type Figure, tableOf } from './report.ts';
import { startService } from './service.ts';
import { measureThroughput } from './throughput.ts';

const MEASUREMENTS: Readonly<Record<string, (context: BenchContext) => Promise<Figure[]>>> = {
	acks: measureAcks,
	presses: measurePresses,
	throughput: measureThroughput,
	memory: measureMemory,
};
const NAMES = Object.keys(MEASUREMENTS);

const values = readOptions('npm run bench -- figures', {
	only: someOf(NAMES, 'measures these'),
	rounds: count(5, 'interleaved rounds', { least: 1 }),
	former: text(null, 'measures the presses and forms of the program of this commit beside it'),
});

const startedAt = new Date();
const servers: Promise<OwnPostgres>[] = [];
const figures: Figure[] = [];
{
	await using service = await startService();
	await using copies = await copyPrograms(values.former);
	try {
		const context: BenchContext = {
			service,
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

console.log(`\n${tableOf(figures)}\n`);
console.log(
	`\`npm run bench -- figures${values.only === NAMES ? '' : ` --only ${values.only.join(',')}`}\` on ${startedAt.toISOString().slice(0, 10)}: ` +
		`${machine()}; medians of ${values.rounds} interleaved rounds. The fake Slack and the session service share the cores with the programs.`,
);
