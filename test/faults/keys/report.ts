import { verdictLines } from '../answers/report.ts';
import { reportOf } from '../frame.ts';
import type { KeyRunResult } from './run.ts';

/** The result of a run, as lines for the terminal. */
export function report(name: string, result: KeyRunResult): string[] {
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
