import { POPULATIONS, writeScripts } from '../../test/features/watch/simulation/population.ts';
import { simulate } from '../../test/features/watch/simulation/simulate.ts';
import { createRandom } from '../../test/support/random.ts';
import { mean, quantile, seconds, table } from './table.ts';

/** Prints the delays of the schedule and of reading in turn for each population: means over the seeds from 1. */
export function compare({ count, seeds, hours }: { count: number; seeds: number; hours: number }): void {
	console.log(`${count} watched sessions, ${hours} hours, means over seeds 1 to ${seeds}; mean / median / p95:\n`);
	const lengthMs = hours * 3_600_000;
	const rows = Object.values(POPULATIONS).map((population) => {
		const runs = Array.from({ length: seeds }, (_, index) => {
			const seed = index + 1;
			const scripts = writeScripts(population, count, lengthMs, createRandom(seed * 1_000 + count));
			const figuresOf = (policy: 'adaptive' | 'round robin') => {
				const { detection } = simulate(policy, { scripts, lengthMs, seed });
				return [mean(detection), quantile(detection, 0.5), quantile(detection, 0.95)];
			};
			return { schedule: figuresOf('adaptive'), inTurn: figuresOf('round robin') };
		});
		const cell = (reader: 'schedule' | 'inTurn') =>
			[0, 1, 2].map((figure) => seconds(mean(runs.map((run) => run[reader][figure] ?? Number.NaN)))).join(' / ');
		return [population.name, cell('schedule'), cell('inTurn')];
	});
	table(['population', 'schedule', 'in turn'], rows);
}
