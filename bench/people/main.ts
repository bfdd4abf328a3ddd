import { setTimeout as pause } from 'node:timers/promises';
import { copySource } from '../../test/faults/source-copy.ts';
import { amount, count, readOptions, refuseOptions, someOf, text } from '../../test/support/options.ts';
import { createRandom } from '../../test/support/random.ts';
import { machine } from '../machine.ts';
import { runCrowd } from './crowd.ts';
import { install } from './installation.ts';
import { runStretch } from './stretch.ts';

const COMMAND = 'npm run bench -- people';
const OPTIONS = {
	store: someOf(['postgres', 'sqlite'], 'two replicas on PostgreSQL, one on SQLite'),
	people: count(2_000, 'people of the company', { least: 100 }),
	channels: count(50, 'channels, which share the watches', { least: 1 }),
	watches: count(1_000, 'watched sessions', { least: 1 }),
	open: count(200, 'of these that ask from the beginning on'),
	homes: count(220, 'people who open their Home within a minute', { least: 1 }),
	acts: count(20, 'presses, and as many commands, a minute meanwhile', { least: 1 }),
	crowd: amount(4, 'minutes of this'),
	questions: count(1_250, 'questions an hour before that', { least: 1 }),
	minutes: amount(20, 'of this'),
	quiet: amount(3, 'minutes before it in which nothing happens'),
	settle: amount(30, 'seconds after the start of the measured program'),
	only: someOf(['questions', 'crowd'], 'parts, in this order: open Homes cost something for an hour'),
	seed: count(1, 'of the random choices'),
	former: text(null, 'measures the program of this commit instead of the working tree'),
};
const { store: stores, only, former, seed, settle, ...values } = readOptions(COMMAND, OPTIONS);
if (values.open < values.acts * values.crowd) {
	refuseOptions(COMMAND, OPTIONS, 'There are fewer open questions than presses.');
}
if (values.open >= values.watches) refuseOptions(COMMAND, OPTIONS, 'Some sessions must have no open question.');

await using source = await copySource({ commit: former });
const titles = { postgres: 'Two replicas on PostgreSQL', sqlite: 'One process on SQLite' };
console.log(
	`${former ?? 'Working tree'}: ${values.people} people, ${values.channels} channels, ${values.watches} watches, ${values.open} open questions; ` +
		`Slack's tiers, a service with a list`,
);
for (const store of stores) {
	process.stderr.write(`${titles[store]}: ${values.watches} sessions are going to be watched\n`);
	await using installation = await install({ entry: source.entry, commit: former }, store, values);
	await pause(settle * 1_000);
	const random = createRandom(seed);
	const title = (what: string) => console.log(`\n| ${titles[store]}: ${what} | |\n|---|---|`);
	const { homes, acts, crowd, questions, minutes, quiet } = values;
	if (only.includes('questions')) {
		const stretch = await runStretch(installation, values, { minutes, questions, quiet }, random);
		title(`${questions} questions an hour`);
		console.log(stretch.join('\n'));
	}
	if (only.includes('crowd')) {
		const table = await runCrowd(installation, values, { homes, acts, minutes: crowd }, random);
		title(`${homes} people open Home within a minute; ${acts} presses and ${acts} commands a minute`);
		console.log(table.join('\n'));
	}
	const violations = installation.slack.violations();
	if (violations.length > 0)
		console.log(`| Slack refused as malformed | ${violations.length}: ${violations[0]?.where} |`);
}
console.log(`\n${machine()}`);
