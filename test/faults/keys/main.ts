import { count } from '../../support/options.ts';
import { faultRun } from '../frame.ts';
import { report } from './report.ts';
import { runKeys } from './run.ts';
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
