import { oneOf } from '../../support/options.ts';
import { type Frame, keepLogs, STORE_NAMES, type Stage } from '../frame.ts';
import type { Harness } from '../harness.ts';

const HISTORIES = { both: [true, false], readable: [true], unreadable: [false] } as const;

export const history = oneOf(
	Object.keys(HISTORIES) as (keyof typeof HISTORIES)[],
	'both',
	"whether the channels' history is readable",
);

interface Result {
	readonly delays: readonly number[];
	readonly markedRepeats: number;
	readonly unmarkedRepeats: number;
	readonly refusedCalls: number;
	readonly problems: readonly string[];
}

/**
 * Runs on each kind of store with each kind of history, and says a table with a row for each: `cells` are the first ones of its
 * run, `last` those behind the repeats.
 */
export async function inEachHistory<R extends Result>(
	{ stages, values, say }: Frame<{ readonly history: keyof typeof HISTORIES; readonly seed: number }>,
	title: string,
	{
		run,
		env,
		heads,
		cells,
	}: {
		run(stage: Stage, historyReadable: boolean, harness: Harness): Promise<R>;
		readonly env: Readonly<Record<string, string>>;
		heads: { readonly first: readonly string[]; readonly last: readonly string[] };
		cells(result: R): { readonly first: readonly unknown[]; readonly last: readonly unknown[] };
	},
): Promise<{ readonly isClean: boolean }> {
	const rows: (readonly unknown[])[] = [];
	const problems: string[] = [];
	for (const stage of stages) {
		for (const readable of HISTORIES[values.history]) {
			const result = await stage.withProgram({ people: 1, callTimeoutMs: 2_000, env }, async (harness) => {
				const result = await run(stage, readable, harness);
				if (result.problems.length > 0) await keepLogs(stage, harness);
				return result;
			});
			const { delays, unmarkedRepeats, markedRepeats, refusedCalls } = result;
			const { first, last } = cells(result);
			const times = `${percentile(delays, 0.5)} / ${percentile(delays, 1)}`;
			const repeats = [unmarkedRepeats, markedRepeats];
			rows.push([STORE_NAMES[stage.kind], readable ? 'yes' : 'no', ...first, ...repeats, ...last, times, refusedCalls]);
			const place = `${stage.name}, history ${readable ? 'readable' : 'unreadable'}`;
			problems.push(...result.problems.map((problem) => `${place}: ${problem}`));
		}
	}
	const repeated = ['repeated', 'repeated and marked'];
	const names = ['store', 'history readable', ...heads.first, ...repeated, ...heads.last, 'calls refused as too many'];
	say([
		`${title}, seed ${values.seed}`,
		'',
		...[names, names.map(() => '---'), ...rows].map(row),
		...problems.slice(0, 20),
	]);
	return { isClean: problems.length === 0 };
}

const row = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;

function percentile(sorted: readonly number[], share: number): string {
	const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
	return value === undefined ? '' : `${(value / 1000).toFixed(1)} s`;
}
