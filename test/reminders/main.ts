import { parseArgs } from 'node:util';
import { copySource } from '../faults/source-copy.ts';
import { startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { CHANGES } from './periods.ts';
import { SABOTAGES, type Sabotage } from './sabotage.ts';
import { runTurn } from './turn.ts';

const USAGE = `npm run test:reminders -- [options]
  --questions 10000  in all; a quarter around each of four changes of daylight-saving time
  --changes 4        take fewer
  --store sqlite     or postgres
  --seed 1
  --commit HEAD      takes the program from a commit instead of the working tree
  --sabotage X       breaks the program first, and fails when nobody notices:
                     ${Object.keys(SABOTAGES).join(', ')}`;

const RESTART_EVERY_MS = 5 * 60_000;
/** What is sabotaged may show only when a kill hits one moment. */
const RESTART_SABOTAGED_MS = 60_000;

const { values } = parseArgs({
	options: {
		questions: { type: 'string', default: '10000' },
		changes: { type: 'string', default: String(CHANGES.length) },
		store: { type: 'string', default: 'sqlite' },
		seed: { type: 'string', default: '1' },
		commit: { type: 'string' },
		sabotage: { type: 'string' },
		help: { type: 'boolean', default: false },
	},
});
const [questions, changeCount, seed] = [values.questions, values.changes, values.seed].map(Number) as [
	number,
	number,
	number,
];
const isComplete =
	[questions, changeCount, seed].every(Number.isInteger) && questions >= changeCount && changeCount > 0;
if (values.help || !isComplete || !['sqlite', 'postgres'].includes(values.store)) {
	console.error(USAGE);
	process.exit(values.help ? 0 : 2);
}
if (values.sabotage !== undefined && !Object.hasOwn(SABOTAGES, values.sabotage)) {
	console.error(USAGE);
	process.exit(2);
}
const sabotage = (values.sabotage ?? null) as Sabotage | null;

await using source = await copySource({
	replacements: sabotage === null ? [] : SABOTAGES[sabotage],
	commit: values.commit,
});
const postgres = values.store === 'postgres' ? await startPostgres() : null;
const random = createRandom(seed);
const problems: string[] = [];
try {
	for (const change of CHANGES.slice(0, changeCount)) {
		const { verdict, report } = await runTurn({
			entry: source.entry,
			postgres,
			change,
			questionCount: Math.round(questions / Math.min(changeCount, CHANGES.length)),
			restartEveryMs: sabotage === null ? RESTART_EVERY_MS : RESTART_SABOTAGED_MS,
			random: random.fork(),
			onProgress: (line) => process.stderr.write(`${line}\n`),
		});
		console.log(report.join('\n'));
		problems.push(...verdict.problems);
	}
} finally {
	await postgres?.close();
}
if (sabotage !== null)
	console.log(`\n${problems.length === 0 ? 'The sabotage went UNNOTICED.' : 'The run noticed the sabotage.'}`);
process.exitCode = (problems.length === 0) === (sabotage === null) ? 0 : 1;
