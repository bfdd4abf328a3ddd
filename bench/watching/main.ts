import { readFileSync } from 'node:fs';
import { LIMIT } from '../../test/features/watch/simulation/limited-service.ts';
import {
	POPULATIONS,
	type Population,
	populationSchema,
	type Script,
	writeScripts,
} from '../../test/features/watch/simulation/population.ts';
import { simulate } from '../../test/features/watch/simulation/simulate.ts';
import type { Policy, Result } from '../../test/features/watch/simulation/simulation.ts';
import { count, flag, oneOf, readOptions, text } from '../../test/support/options.ts';
import { createRandom } from '../../test/support/random.ts';
import { evenMeanMs } from './best.ts';
import { compare } from './compare.ts';
import { countRequests } from './requests.ts';
import { detectionOf, mean, quantile, seconds, table } from './table.ts';

const POLICIES: readonly Policy[] = ['adaptive', 'with a list', 'round robin', 'viewers at 1 Hz'];
/** Watched sessions, and simulated hours: enough for some hundred questions each. */
const SIZES: readonly (readonly [count: number, hours: number])[] = [
	[10, 48],
	[40, 24],
	[100, 12],
	[300, 6],
	[1000, 3],
];

/** As many as one person may watch, beside that many sessions of five others. */
const OF_ONE = 50;
const SHARED = [10, 20, 40, 100];
const SHARED_MS = 6 * 3_600_000;
/** Up to so many sessions a list adds nothing: they are read every few seconds. */
const FEW = 20;

const values = readOptions('npm run bench -- watching', {
	seed: count(1, 'of the random choices'),
	population: oneOf(Object.keys(POPULATIONS) as (keyof typeof POPULATIONS)[], 'default', 'how sessions behave'),
	file: text(null, 'another population, in JSON, as test/features/watch/simulation/population.ts has them'),
	requests: flag('counts requests and bytes an hour with the whole program'),
	compare: flag('compares ways to share the requests, over several seeds'),
	watches: count(300, 'watched sessions; with --compare', { least: 1 }),
	seeds: count(5, 'with --compare', { least: 1 }),
});
if (values.requests) {
	await countRequests();
} else if (values.compare) {
	const { watches, seeds } = values;
	compare({ count: watches, seeds, hours: SIZES.find(([size]) => size >= watches)?.[1] ?? 3 });
} else {
	report(values.file === null ? POPULATIONS[values.population] : readPopulation(values.file), values.seed);
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
	const bySession = simulate('adaptive', { ...options, scripts: [...theirs, ...own] }).detectionOf;
	return {
		count,
		usual: usual.detection,
		beside: bySession.slice(0, count).flat(),
		ofOne: bySession.slice(count).flat(),
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
	/** The lowest mean delay of a reader that knows each question rate and reads evenly. */
	readonly evenMs: number;
}

function report(population: Population, seed: number): void {
	const started = performance.now();
	console.log(`Watching under 250 requests a minute, simulated; population "${population.name}", seed ${seed}.`);
	console.log(describe(population));
	const runs = SIZES.map(([count, hours]) => run(population, count, hours * 3_600_000, seed));
	console.log('\nDetection of a question and what it costs:\n');
	printTable(runs);
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

function printCapacity(runs: readonly Run[]): void {
	const rows = runs.map(({ count, results, evenMs }) => {
		const { adaptive, 'with a list': listed, 'round robin': turns } = results;
		return [
			String(count),
			seconds((count / turns.backgroundPerSecond) * 1000),
			...detectionOf(adaptive.detection),
			...detectionOf(listed.detection),
			...detectionOf(turns.detection),
			seconds(evenMs),
			`${adaptive.requestsPerMinute.toFixed(0)} / ${listed.requestsPerMinute.toFixed(0)}`,
		];
	});
	table(
		[
			'watched sessions',
			'round',
			'question seen after: mean',
			'median',
			'p95',
			'with a list: mean',
			'median',
			'p95',
			'in turn: mean',
			'median',
			'p95',
			'best even reading: mean',
			'requests a minute / with a list',
		],
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
	for (const { count, results } of runs) {
		const { detection, requestsPerMinute } = results['with a list'];
		const [median, p95] = [quantile(detection, 0.5), quantile(detection, 0.95)];
		goal(
			count <= FEW || (median <= 2_000 && p95 <= 4_000),
			`with a list at ${count}: median ${seconds(median)} (2), p95 ${seconds(p95)} (4)`,
		);
		goal(requestsPerMinute <= LIMIT, `        ${requestsPerMinute.toFixed(0)} requests a minute (${LIMIT})`);
	}
	const refused = runs.reduce((sum, { results }) => sum + results.adaptive.refused + results['with a list'].refused, 0);
	goal(refused === 0, `429s: ${refused}`);
	const longest = Math.max(
		...runs.flatMap(({ results }) => [...results.adaptive.personWaits, ...results['with a list'].personWaits]),
	);
	goal(longest <= 300, `longest wait of a person for the budget: ${longest.toFixed(0)} ms (300)`);
}

function printSharedGoal(shared: readonly Shared[]): void {
	const worst = Math.max(...shared.map(({ usual, beside }) => quantile(beside, 0.5) / quantile(usual, 0.5)));
	const met = worst <= 2 ? 'met    ' : 'NOT MET';
	console.log(`${met} median beside one person who watches ${OF_ONE}: ${worst.toFixed(1)} times the usual at most (2)`);
}
