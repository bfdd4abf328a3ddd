import { count, oneOf } from '../../support/options.ts';
import { faultRun } from '../frame.ts';
import { type CutResult, cutPower } from './cut.ts';
import { whyNoLoopDisks } from './loop-disk.ts';
import { SABOTAGES } from './sabotage.ts';

const options = {
	cuts: count(20, 'power cuts', { least: 1 }),
	people: count(16, 'people who answer at once', { least: 1 }),
	store: oneOf(['sqlite'], 'sqlite', 'the database'),
};

await faultRun({ name: 'powercut', options, sabotages: SABOTAGES }, async ({ values, stages, say }) => {
	const why = await whyNoLoopDisks();
	if (why !== null) {
		say([
			`NOT SHOWN on this machine: ${why}.`,
			'Nothing was tested. Run it as root on Linux, with mkfs.ext4 and loop devices.',
		]);
		process.exit(2);
	}
	const results: CutResult[] = [];
	for (const { withCopy, random: startRandom, progress } of stages) {
		const random = startRandom();
		await withCopy(async (entry) => {
			for (let cut = 0; cut < values.cuts; cut++) {
				results.push(await cutPower(entry, values.people, random));
				progress(`cut ${cut + 1} of ${values.cuts}: ${JSON.stringify(results.at(-1))}`);
			}
		});
	}
	const acknowledged = results.reduce((sum, result) => sum + result.acknowledged, 0);
	const lost = results.reduce((sum, result) => sum + result.lost, 0);
	say([`${results.length} power cuts, ${acknowledged} acknowledged answers, ${lost} lost`]);
	return { isClean: lost === 0 };
});
