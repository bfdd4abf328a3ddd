import { parseArgs } from 'node:util';
import { createHarness } from '../faults/harness.ts';
import { copySource } from '../faults/source-copy.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind } from '../faults/stores.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { runWatchFaults, type WatchFaultResult } from './run.ts';

const USAGE =
	'npm run test:watch-faults -- [--sessions 50] [--kills 6] [--questions 20] [--store sqlite|postgres|both] [--history readable|unreadable|both] [--seed 1] [--commit HEAD]';

const { values } = parseArgs({
	options: {
		sessions: { type: 'string', default: '50' },
		kills: { type: 'string', default: '6' },
		questions: { type: 'string', default: '20' },
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

async function run(kind: StoreKind, historyReadable: boolean): Promise<WatchFaultResult> {
	await using source = await copySource({ commit: values.commit });
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
			// The answers' texts tell whether they were posted, so none of them may be hidden as a possible code.
			env: { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '2000', SHOW_ANSWERS: 'always' },
		});
		return await runWatchFaults({
			harness,
			sessions: Number(values.sessions),
			perChannel: 5,
			kills: Number(values.kills),
			questions: Number(values.questions),
			random: createRandom(Number(values.seed)),
			historyReadable,
			onProgress: (line) => process.stderr.write(`${kind}: ${line}\n`),
		});
	} finally {
		await postgres?.close();
	}
}

function percentile(sorted: readonly number[], share: number): string {
	const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
	return value === undefined ? '' : `${(value / 1000).toFixed(1)} s`;
}

const stores = STORES[values.store];
const histories = HISTORIES[values.history];
if (stores === undefined || histories === undefined) {
	console.error(USAGE);
	process.exit(2);
}
const rows: string[] = [];
const problems: string[] = [];
let clean = true;
for (const kind of stores) {
	for (const readable of histories) {
		const result = await run(kind, readable);
		const { delays } = result;
		const tooLate = delays.filter((ms) => ms > TAKEN_OVER_WITHIN_MS).length;
		rows.push(
			`| ${kind === 'sqlite' ? 'SQLite, one process' : 'PostgreSQL, two replicas'} | ${readable ? 'yes' : 'no'} | ${result.kills} | ${result.expected} | ${result.missed} | ${result.unmarkedRepeats} | ${result.markedRepeats} | ${percentile(delays, 0.5)} / ${percentile(delays, 1)} | ${result.refusedCalls} |`,
		);
		const name = `${kind}, history ${readable ? 'readable' : 'unreadable'}`;
		problems.push(...result.problems.map((problem) => `${name}: ${problem}`));
		if (tooLate > 0) problems.push(`${name}: ${tooLate} questions were told later than 30 s after the kill`);
		clean &&= result.problems.length === 0 && tooLate === 0;
	}
}
console.log(
	[
		`${values.sessions} watched sessions, SIGKILL of one process at a time, seed ${values.seed}`,
		'',
		'| store | history readable | kills | questions and answers | missed | repeated | repeated and marked | told after the kill, median / longest | calls refused as too many |',
		'|---|---|---|---|---|---|---|---|---|',
		...rows,
		...problems.slice(0, 20),
	].join('\n'),
);
process.exit(clean ? 0 : 1);
