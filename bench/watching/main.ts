import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { defaultSchedule } from '../../src/watches/schedule.ts';
import {
	defaultPopulation,
	type Population,
	populationSchema,
	type Script,
	writeScripts,
} from '../../test/watches/simulation/population.ts';
import { createRandom } from '../../test/watches/simulation/random.ts';
import { simulate } from '../../test/watches/simulation/simulate.ts';
import type { Policy, Result } from '../../test/watches/simulation/simulation.ts';
import { bestMedianMs, evenMeanMs } from './best.ts';

const POLICIES: readonly Policy[] = ['adaptive', 'round robin', 'viewers at 1 Hz'];
/** Watched sessions, and the hours that are simulated: enough for some hundred questions each. */
const SIZES: readonly (readonly [count: number, hours: number])[] = [
	[10, 48],
	[40, 24],
	[100, 12],
	[300, 6],
	[1000, 3],
];

/** As many as one person may watch (`MAX_WATCHES_PER_PERSON`), beside so many sessions of five others. */
const OF_ONE = 50;
const SHARED = [10, 20, 40, 100];
const SHARED_MS = 6 * 3_600_000;

const { values } = parseArgs({
	options: { seed: { type: 'string', default: '1' }, rhythms: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
	console.log('npm run bench:watching -- [--seed NUMBER] [--rhythms FILE.json]');
	console.log(JSON.stringify(defaultPopulation, null, '\t'));
} else {
	report(values.rhythms === undefined ? defaultPopulation : readPopulation(values.rhythms), Number(values.seed));
}

function readPopulation(file: string): Population {
	return populationSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

interface Shared {
	readonly count: number;
	readonly usual: readonly number[];
	readonly beside: readonly number[];
	readonly ofOne: readonly number[];
}

function besideOne(population: Population, count: number, seed: number): Shared {
	const [busiest] = population.kinds.toSorted(
		(one, other) => Number(one.bursts !== null) - Number(other.bursts !== null),
	);
	const kinds = busiest === undefined ? [] : [{ ...busiest, bursts: null }];
	const theirs = writeScripts(population, count, SHARED_MS, createRandom(seed * 1_000 + count));
	const own = writeScripts({ name: 'at work', kinds, together: null }, OF_ONE, SHARED_MS, createRandom(seed));
	const creators = [...theirs.map((_, index) => `person ${index % 5}`), ...own.map(() => 'the one')];
	const options = { lengthMs: SHARED_MS, seed, creators };
	const usual = simulate('adaptive', { ...options, scripts: theirs });
	const { detectionOf } = simulate('adaptive', { ...options, scripts: [...theirs, ...own] });
	return {
		count,
		usual: usual.detection,
		beside: detectionOf.slice(0, count).flat(),
		ofOne: detectionOf.slice(count).flat(),
	};
}

function printShared(shared: readonly Shared[]): void {
	const rows = shared.map(({ count, usual, beside, ofOne }) => [
		String(count),
		seconds(quantile(usual, 0.5)),
		seconds(quantile(beside, 0.5)),
		`${(quantile(beside, 0.5) / quantile(usual, 0.5)).toFixed(1)} ×`,
		seconds(quantile(usual, 0.95)),
		seconds(quantile(beside, 0.95)),
		seconds(quantile(ofOne, 0.5)),
	]);
	table(
		[
			'watched by others',
			'usual median',
			'beside the one',
			'ratio',
			'usual p95',
			'p95 beside the one',
			'median of the one',
		],
		rows,
	);
}

interface Run {
	readonly count: number;
	readonly results: Readonly<Record<Policy, Result>>;
	readonly bestMs: number;
	readonly bestKeptMs: number;
	readonly evenMs: number;
}

function report(population: Population, seed: number): void {
	const started = performance.now();
	console.log(`Watching under 250 requests a minute, simulated; population "${population.name}", seed ${seed}.`);
	console.log(describe(population));
	const runs = SIZES.map(([count, hours]) => run(population, count, hours * 3_600_000, seed));
	console.log('\nDetection of a question and what it costs:\n');
	printTable(runs);
	console.log('\nWhat is theoretically possible with as many reads as round robin has:\n');
	printBest(runs);
	console.log('\nCapacity:\n');
	printCapacity(runs);
	console.log(`\nBeside one person who watches ${OF_ONE} sessions that are all at work:\n`);
	const shared = SHARED.map((count) => besideOne(population, count, seed));
	printShared(shared);
	console.log('\nGoals:\n');
	printGoals(runs);
	printSharedGoal(shared);
	console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);
}

function run(population: Population, count: number, lengthMs: number, seed: number): Run {
	const scripts: Script[] = writeScripts(population, count, lengthMs, createRandom(seed * 1_000 + count));
	const options = { scripts, lengthMs, seed };
	const results = Object.fromEntries(POLICIES.map((policy) => [policy, simulate(policy, options)])) as Run['results'];
	const reads = results['round robin'].backgroundPerSecond;
	return {
		count,
		results,
		bestMs: bestMedianMs(scripts, lengthMs, reads, 0),
		bestKeptMs: bestMedianMs(scripts, lengthMs, reads, reads / (defaultSchedule.ceilingRounds * count)),
		evenMs: evenMeanMs(scripts, lengthMs, reads),
	};
}

function describe({ kinds, together }: Population): string {
	const lines = kinds.map((kind) => {
		const gaps = `a step every ${kind.gapSeconds[0]} to ${kind.gapSeconds[1]} s`;
		const asks = `one in ${(1 / kind.questionPerStep).toFixed(0)} asks, answered after ${kind.answerSeconds} s`;
		const bursts =
			kind.bursts === null
				? 'works all the time'
				: `works for ${kind.bursts.steps} steps after ${(kind.bursts.quietSeconds / 60).toFixed(0)} min of quiet`;
		return `- ${(kind.share * 100).toFixed(0)} % ${kind.name}: ${gaps}, ${asks}; ${bursts}`;
	});
	if (together !== null) {
		const share = (together.share * 100).toFixed(0);
		lines.push(`- every ${together.everySeconds / 60} min ${share} % of the quiet ones wake up within 10 s`);
	}
	return lines.join('\n');
}

function quantile(sample: readonly number[], share: number): number {
	const sorted = Float64Array.from(sample).sort();
	return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

function seconds(ms: number): string {
	if (Number.isNaN(ms)) return '–';
	if (ms === Number.POSITIVE_INFINITY) return 'never';
	return `${(ms / 1000).toFixed(ms < 9_950 ? 1 : 0)} s`;
}

function mean(sample: readonly number[]): number {
	return sample.reduce((sum, value) => sum + value, 0) / sample.length;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
	const line = (cells: readonly string[]) =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	console.log(line(head));
	console.log(line(widths.map((width) => '-'.repeat(width))));
	for (const row of rows) console.log(line(row));
}

function printTable(runs: readonly Run[]): void {
	const rows = runs.flatMap(({ count, results }) =>
		POLICIES.map((policy) => {
			const result = results[policy];
			const { updates } = result;
			return [
				String(count),
				policy,
				`${result.detection.filter(Number.isFinite).length} / ${result.detection.length}`,
				seconds(quantile(result.detection, 0.5)),
				seconds(quantile(result.detection, 0.95)),
				seconds(mean(result.detection)),
				result.requestsPerMinute.toFixed(0),
				String(result.refused),
				`${quantile(result.personWaits, 0.5).toFixed(0)} / ${Math.max(...result.personWaits).toFixed(0)} ms`,
				updates === null ? '–' : `${updates.wanted} / ${updates.sent} / ${updates.dropped}`,
				`${seconds(quantile(result.staleness, 0.5))} / ${seconds(quantile(result.staleness, 0.95))}`,
			];
		}),
	);
	table(
		[
			'watched',
			'reader',
			'questions found / asked',
			'median',
			'p95',
			'mean',
			'requests/min',
			'429s',
			'person waits p50 / max',
			'updates wanted / sent / dropped',
			'card stale p50 / p95',
		],
		rows,
	);
}

function printBest(runs: readonly Run[]): void {
	const rows = runs.map(({ count, results, bestMs, bestKeptMs, evenMs }) => {
		const median = quantile(results.adaptive.detection, 0.5);
		return [
			String(count),
			seconds(median),
			seconds(bestMs),
			`${(median / bestMs).toFixed(1)} ×`,
			seconds(bestKeptMs),
			`${(median / bestKeptMs).toFixed(1)} ×`,
			seconds(mean(results.adaptive.detection)),
			seconds(evenMs),
		];
	});
	table(
		['watched', 'median', 'no reader below', 'ratio', 'nor, leaving nobody out', 'ratio', 'mean', 'best even reading'],
		rows,
	);
	console.log(
		[
			'',
			'"No reader below": a reader that knows at every moment when each session stepped last and how its gaps are',
			'distributed, and may starve whom it likes; a read finds at most the steps that may be expected in the time t',
			'before it, so t cannot be less (best.ts). "Leaving nobody out": the same, every session first given the reads that',
			'the longest interval promises it. "Best even reading": the least mean of readers that know each question rate and read',
			'evenly (rates by the square-root law).',
		].join('\n'),
	);
}

function printCapacity(runs: readonly Run[]): void {
	const rows = runs.map(({ count, results }) => {
		const { adaptive, 'round robin': turns } = results;
		return [
			String(count),
			seconds((count / turns.backgroundPerSecond) * 1000),
			seconds(quantile(adaptive.detection, 0.5)),
			seconds(quantile(adaptive.detection, 0.95)),
			seconds(quantile(turns.detection, 0.5)),
			seconds(quantile(turns.detection, 0.95)),
			adaptive.requestsPerMinute.toFixed(0),
		];
	});
	table(
		['watched sessions', 'round', 'question seen after', 'p95', 'all in turn', 'p95 in turn', 'requests a minute'],
		rows,
	);
}

function printGoals(runs: readonly Run[]): void {
	const goal = (met: boolean, text: string) => console.log(`${met ? 'met    ' : 'NOT MET'} ${text}`);
	const gain = ({ results }: Run) =>
		quantile(results['round robin'].detection, 0.5) / quantile(results.adaptive.detection, 0.5);
	for (const one of runs) {
		if (one.count === 300)
			goal(gain(one) >= 4, `median at 300: ${gain(one).toFixed(1)} times better than in turn (4; aim 6)`);
	}
	const worst = Math.min(...runs.map(gain));
	goal(worst >= 1, `median never worse than in turn: ${worst.toFixed(1)} times better at least`);
	const p95 = runs.map(({ count, results }) => {
		const ratio = quantile(results['round robin'].detection, 0.95) / quantile(results.adaptive.detection, 0.95);
		return `${count}: ${ratio.toFixed(1)}`;
	});
	console.log(`        p95, times better than in turn: ${p95.join(', ')}`);
	const refused = runs.reduce((sum, { results }) => sum + results.adaptive.refused, 0);
	goal(refused === 0, `429s: ${refused}`);
	const longest = Math.max(...runs.flatMap(({ results }) => results.adaptive.personWaits));
	goal(longest <= 300, `longest wait of a person for the budget: ${longest.toFixed(0)} ms (300)`);
}

function printSharedGoal(shared: readonly Shared[]): void {
	const worst = Math.max(...shared.map(({ usual, beside }) => quantile(beside, 0.5) / quantile(usual, 0.5)));
	const met = worst <= 2 ? 'met    ' : 'NOT MET';
	console.log(`${met} median beside one person who watches ${OF_ONE}: ${worst.toFixed(1)} times the usual at most (2)`);
}
