import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createHarness, type Harness } from '../faults/harness.ts';
import { copySource, type Replacement } from '../faults/source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind } from '../faults/stores.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { REMINDER_TARGETS } from './reminders/moments.ts';
import { type ReminderFaultResult, runReminderFaults } from './reminders/run.ts';
import { isReminderSabotage, REMINDER_SABOTAGES } from './reminders/sabotage.ts';
import { FREEZE_MS, REMINDER_ENV, reminderTimes } from './reminders/times.ts';
import { runWatchFaults, type WatchFaultResult } from './run.ts';
import { isPostSabotage, POST_SABOTAGES } from './sabotage.ts';

const USAGE = `npm run test:watch-faults -- [options]
  --sessions 50   watched sessions; with --reminders 30
  --kills 6       kills of one process at a time; with --reminders 12 kills and freezes
  --questions 20  questions asked around each kill; not with --reminders
  --reminders     reminds and escalates within seconds, and aims kills and freezes at the moments around reminders: a
                  ladder becomes due, its session is read, the reminder is stored, Slack is called, Slack has said "ok"
  --target X      with --reminders: aims at one of these moments alone:
                  ${REMINDER_TARGETS.join(', ')}
  --store both    sqlite, postgres or both
  --history both  whether the channels' history is readable: readable, unreadable or both
  --seed 1
  --commit HEAD   takes the program from a commit instead of the working tree
  --sabotage X    breaks the program first, and fails when nobody notices: ${Object.keys(POST_SABOTAGES).join(', ')};
                  with --reminders: ${Object.keys(REMINDER_SABOTAGES).join(', ')}`;

const { values } = parseArgs({
	options: {
		sessions: { type: 'string' },
		kills: { type: 'string' },
		questions: { type: 'string', default: '20' },
		reminders: { type: 'boolean', default: false },
		target: { type: 'string' },
		sabotage: { type: 'string' },
		store: { type: 'string', default: 'both' },
		history: { type: 'string', default: 'both' },
		seed: { type: 'string', default: '1' },
		commit: { type: 'string' },
	},
});
const STORES: Readonly<Record<string, readonly StoreKind[]>> = {
	sqlite: ['sqlite'],
	postgres: ['postgres'],
	both: ['postgres', 'sqlite'],
};
const HISTORIES: Readonly<Record<string, readonly boolean[]>> = {
	readable: [true],
	unreadable: [false],
	both: [true, false],
};
/** Within this time another replica reads a dead one's sessions, and posts a question that was held back. */
const TAKEN_OVER_WITHIN_MS = 30_000;

const SESSIONS_PER_CHANNEL = 5;
const ASKS_WITHIN_MS = 12_000;
/** Few, so that some reminders come alone. */
const SESSIONS_PER_CHANNEL_OF_REMINDERS = 3;
const sessions = Number(values.sessions ?? (values.reminders ? 30 : 50));
const kills = Number(values.kills ?? (values.reminders ? 12 : 6));
const { sabotage } = values;
const targets = REMINDER_TARGETS.filter((target) => values.target === undefined || values.target === target);

/** Runs `use` with the program on a new store of this kind. */
async function withProgram<T>(
	kind: StoreKind,
	{ env, replacements }: { env: Readonly<Record<string, string>>; replacements: readonly Replacement[] },
	use: (harness: Harness) => Promise<T>,
): Promise<T> {
	await using source = await copySource({ replacements, commit: values.commit });
	let postgres: OwnPostgres | null = null;
	try {
		if (kind === 'postgres') postgres = await startPostgres();
		await using store =
			postgres === null
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await postgres.createDatabase());
		await using harness = await createHarness({
			store,
			entry: source.entry,
			replicas: kind === 'sqlite' ? 1 : 2,
			people: 1,
			callTimeoutMs: 2_000,
			env,
		});
		return await use(harness);
	} finally {
		await postgres?.close();
	}
}

const progress = (kind: StoreKind) => (line: string) => void process.stderr.write(`${kind}: ${line}\n`);

function runWatching(kind: StoreKind, historyReadable: boolean): Promise<WatchFaultResult> {
	// The answers' texts tell whether they were posted, so none of them may be hidden as a possible code.
	const env = { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '2000', SHOW_ANSWERS: 'always' };
	const replacements = sabotage !== undefined && isPostSabotage(sabotage) ? POST_SABOTAGES[sabotage] : [];
	return withProgram(kind, { env, replacements }, async (harness) => {
		const result = await runWatchFaults({
			harness,
			sessions,
			perChannel: SESSIONS_PER_CHANNEL,
			kills,
			questions: Number(values.questions),
			random: createRandom(Number(values.seed)),
			historyReadable,
			onProgress: progress(kind),
		});
		if (result.problems.length > 0) await keepLogs(kind, harness);
		return result;
	});
}

function runReminders(kind: StoreKind, historyReadable: boolean): Promise<ReminderFaultResult> {
	const replacements = sabotage !== undefined && isReminderSabotage(sabotage) ? REMINDER_SABOTAGES[sabotage] : [];
	return withProgram(kind, { env: REMINDER_ENV, replacements }, async (harness) => {
		const result = await runReminderFaults({
			harness,
			sessions,
			perChannel: SESSIONS_PER_CHANNEL_OF_REMINDERS,
			strikes: kills,
			targets,
			asksWithinMs: ASKS_WITHIN_MS,
			random: createRandom(Number(values.seed)),
			times: reminderTimes(kind),
			freezeMs: FREEZE_MS,
			historyReadable,
			onProgress: progress(kind),
		});
		for (const problem of result.problems) progress(kind)(problem);
		if (result.problems.length > 0) await keepLogs(kind, harness);
		return result;
	});
}

/** Keeps the program's log, to find what led to a problem. */
async function keepLogs(kind: StoreKind, { replicas }: Harness): Promise<void> {
	const path = join(tmpdir(), `watch-fault-run-${kind}-${process.pid}.log`);
	await writeFile(path, replicas.map((replica) => replica.lines.join('\n')).join('\n--- the other replica ---\n'));
	process.stderr.write(`The program's log is in ${path}\n`);
}

function percentile(sorted: readonly number[], share: number): string {
	const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
	return value === undefined ? '' : `${(value / 1000).toFixed(1)} s`;
}

const stores = STORES[values.store];
const histories = HISTORIES[values.history];
if (
	stores === undefined ||
	histories === undefined ||
	targets.length === 0 ||
	(sabotage !== undefined && !(values.reminders ? isReminderSabotage : isPostSabotage)(sabotage))
) {
	console.error(USAGE);
	process.exit(2);
}
const rows: string[] = [];
const problems: string[] = [];
for (const kind of stores) {
	for (const readable of histories) {
		const place = `| ${kind === 'sqlite' ? 'SQLite, one process' : 'PostgreSQL, two replicas'} | ${readable ? 'yes' : 'no'} |`;
		const name = `${kind}, history ${readable ? 'readable' : 'unreadable'}`;
		const result = values.reminders ? await runReminders(kind, readable) : await runWatching(kind, readable);
		const { delays } = result;
		const times = `${percentile(delays, 0.5)} / ${percentile(delays, 1)} | ${result.refusedCalls} |`;
		const repeats = `${result.unmarkedRepeats} | ${result.markedRepeats}`;
		problems.push(...result.problems.map((problem) => `${name}: ${problem}`));
		if ('freezes' in result) {
			const { kills, freezes, questions, reminders, together, struck, missed, afterAnswer } = result;
			rows.push(
				`${place} ${kills} / ${freezes} | ${questions} | ${reminders} / ${together} | ${struck} | ${missed} | ${repeats} | ${afterAnswer} | ${times}`,
			);
			continue;
		}
		rows.push(`${place} ${result.kills} | ${result.expected} | ${result.missed} | ${repeats} | ${times}`);
		const tooLate = delays.filter((ms) => ms > TAKEN_OVER_WITHIN_MS).length;
		if (tooLate > 0) problems.push(`${name}: ${tooLate} questions were told later than 30 s after the kill`);
	}
}
const HEADS = values.reminders
	? [
			`${sessions} watched sessions, reminded after ${REMINDER_ENV.REMIND_AFTER} and escalated after ${REMINDER_ENV.ESCALATE_AFTER}; kills and freezes around reminders, seed ${values.seed}`,
			'',
			'| store | history readable | kills / freezes | questions | reminders / of them together with others | met by a kill or a freeze | missed | repeated | repeated and marked | after the answer | after their time, median / longest | calls refused as too many |',
			'|---|---|---|---|---|---|---|---|---|---|---|---|',
		]
	: [
			`${sessions} watched sessions, SIGKILL of one process at a time, seed ${values.seed}`,
			'',
			'| store | history readable | kills | questions and answers | missed | repeated | repeated and marked | told after the kill, median / longest | calls refused as too many |',
			'|---|---|---|---|---|---|---|---|---|',
		];
console.log([...HEADS, ...rows, ...problems.slice(0, 20)].join('\n'));
const isClean = problems.length === 0;
if (sabotage !== undefined) {
	console.log(isClean ? 'The sabotage went UNNOTICED.' : 'The run noticed the sabotage.');
}
process.exit(isClean === (sabotage === undefined) ? 0 : 1);
