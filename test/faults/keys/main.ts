import { count } from '../../support/options.ts';
import { verdictLines } from '../answers/report.ts';
import { faultRun, reportOf } from '../frame.ts';
import { type KeyRunResult, runKeys } from './run.ts';
import { SABOTAGES } from './sabotage.ts';

const options = {
	kills: count(20, 'kills while values are encrypted with the new key; 0 measures without any'),
	values: count(10_000, 'answers in the database, and as many drafts'),
};

await faultRun({ name: 'keys', options, sabotages: SABOTAGES }, async ({ values, stages, say }) => {
	let isClean = true;
	for (const stage of stages) {
		const { kills, values: count } = values;
		const given = { values: count, kills, random: stage.random(), onProgress: stage.progress };
		const result = await stage.withStore(({ entry, store }) => runKeys({ store, entry, ...given }), true);
		isClean &&= result.problems.length === 0;
		say(report(stage.name, result));
	}
	return { isClean };
});

/** The result of a run, as lines for the terminal. */
function report(name: string, result: KeyRunResult): string[] {
	const { verdict, values, killedAt, changeSeconds, acknowledgedMs, figures, opened } = result;
	const title = `${name}: ${values} values encrypted again in ${changeSeconds.toFixed(1)} s, ${killedAt.length} kills`;
	return reportOf(title, result, [
		`values left at the kills: ${killedAt.map((left) => left ?? 'not counted').join(', ') || 'none'}`,
		`people: ${verdict.rounds} answers`,
		...verdictLines(verdict),
		`acknowledged, p50 / p99 / worst: before ${quantiles(acknowledgedMs.before)}, during ${quantiles(acknowledgedMs.during)}`,
		`the event loop was blocked for at most ${Math.round(figures.longestBlockMs)} ms, at starts ${Math.round(figures.longestStartMs)} ms; the longest step of a wipe took ${figures.longestWipeBucket} s at most`,
		...(opened === null
			? []
			: [`ciphertexts in the files that the former key opens: ${opened.before} before, ${opened.after} after`]),
	]);
}

function quantiles(sample: readonly number[]): string {
	const sorted = sample.toSorted((one, other) => one - other);
	const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
	return `${[0.5, 0.99, 1].map((share) => Math.round(at(share))).join(' / ')} ms of ${sample.length}`;
}
