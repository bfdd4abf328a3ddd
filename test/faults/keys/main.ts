import { count } from '../../support/options.ts';
import { faultRun, reportOf } from '../frame.ts';
import { type KeyRunResult, runKeys } from './run.ts';
import { SABOTAGES } from './sabotage.ts';

const options = {
	kills: count(20, 'kills of npm run rekey; 0 measures without any'),
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
	const { values, changes, phases, changeSeconds, openedBefore } = result;
	const { before, marked, after } = phases;
	return reportOf(
		`${name}: ${values} values, ${changes} changes of the key, ${before + marked + after} kills`,
		result,
		[
			`killed before the mark ${before}, marked ${marked}, after the commit ${after}`,
			`a change without a kill takes ${changeSeconds.toFixed(1)} s`,
			...(openedBefore === 0 ? [] : [`ciphertexts in the files that the first key opens: ${openedBefore} before`]),
		],
	);
}
