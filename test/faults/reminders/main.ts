import { count, oneOf } from '../../support/options.ts';
import { faultRun } from '../frame.ts';
import { CHANGES } from './periods.ts';
import { SABOTAGES } from './sabotage.ts';
import { runTurn } from './turn.ts';

const options = {
	questions: count(10_000, 'in all; a quarter around each of four changes of daylight-saving time', { least: 1 }),
	changes: count(CHANGES.length, 'take fewer', { least: 1, most: CHANGES.length }),
	store: oneOf(['sqlite', 'postgres', 'both'], 'sqlite', 'the databases'),
};

const RESTART_EVERY_MS = 5 * 60_000;
/** What is sabotaged may show only when a kill hits one moment. */
const RESTART_SABOTAGED_MS = 60_000;

await faultRun({ name: 'reminders', options, sabotages: SABOTAGES }, async ({ values, stages, say, refuse }) => {
	const changes = CHANGES.slice(0, values.changes);
	if (values.questions < changes.length) refuse('There are fewer questions than changes.');
	const problems: string[] = [];
	let reminderCount = 0;
	for (const { withCopy, random: startRandom, progress } of stages) {
		const random = startRandom();
		await withCopy(async (entry, postgres) => {
			for (const change of changes) {
				const { verdict, report } = await runTurn({
					entry,
					postgres,
					change,
					questionCount: Math.round(values.questions / changes.length),
					restartEveryMs: values.sabotage === null ? RESTART_EVERY_MS : RESTART_SABOTAGED_MS,
					random: random.fork(),
					onProgress: progress,
				});
				say(report);
				problems.push(...verdict.problems);
				reminderCount += verdict.reminders;
			}
		});
	}
	if (reminderCount === 0) say(['', 'No reminder came, so nothing was judged.']);
	return { isClean: problems.length === 0 && reminderCount > 0 };
});
