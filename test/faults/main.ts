import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { runDuels } from './duels.ts';
import { runFailovers } from './failovers.ts';
import { createHarness, type Harness, type HarnessOptions } from './harness.ts';
import { FAULT_KINDS } from './kinds/index.ts';
import { runPressDuels } from './presses/duels.ts';
import { PEOPLE, runPresses } from './presses/presses.ts';
import { openDesk, PRESS_ENV, type QuestionDesk, UNDO_MS } from './presses/questions.ts';
import { runUndos } from './presses/undos.ts';
import {
	duelsReport,
	failoversReport,
	isClean,
	killsReport,
	pressDuelsReport,
	pressesReport,
	stopsReport,
	undosReport,
} from './report.ts';
import { type Aim, aimsFor, runFaults } from './run.ts';
import {
	aimAgainst,
	isPressSabotage,
	PRESS_SABOTAGES,
	type PressRun,
	pressRunAgainst,
	SABOTAGES,
	type Sabotage,
} from './sabotage.ts';
import { copySource } from './source-copy.ts';
import { runStops } from './stops.ts';
import { createPostgresUnderTest, createSqliteUnderTest, type StoreKind } from './stores.ts';

const USAGE = `npm run test:faults -- [options]
  --rounds 1000   answers that meet kills and other faults, for each store; 0 leaves it out
  --duels 500     questions that two people answer at the same moment, for each store
  --stops 20      stops by SIGTERM while answers are on their way, for each store
  --presses 1000  answers in one press that meet kills and other faults, for each store
  --press-duels 500
                  questions that two people answer at about the same moment, at least one of them in one press
  --failovers 10  times that PostgreSQL's primary is killed and its standby promoted, among forms and among presses
  --undos 200     one-press answers that are taken back around the end of the time for it, with kills
  --store both    sqlite, postgres or both
  --batch 16      answers under way at once
  --seed 1
  --target X      aims at one thing alone: failover, kills in one phase ('before ack' for example), or another fault:
                  ${Object.keys(FAULT_KINDS).join(', ')}
  --commit HEAD   takes the program from a commit instead of the working tree
  --sabotage X    breaks the program first, aims at what shows it, and fails when nobody notices:
                  ${[...Object.keys(SABOTAGES), ...Object.keys(PRESS_SABOTAGES)].join(', ')}`;

/** Short, so that unknown outcomes are resolved soon; the service's delays stay below it. */
const CALL_TIMEOUT_MS = 600;
/** Longer than a stop may take: a PUT without a response must not delay it. */
const CALL_TIMEOUT_STOPS_MS = 12_000;
/** Longer than a lease (20 s), and than the 7.6 s after which a PUT with an unknown outcome is repeated. */
const FREEZE_MS = 25_000;
const NAMES: Record<StoreKind, string> = { sqlite: 'SQLite, one process', postgres: 'PostgreSQL, two replicas' };

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '1000' },
		duels: { type: 'string', default: '500' },
		stops: { type: 'string', default: '20' },
		presses: { type: 'string', default: '1000' },
		'press-duels': { type: 'string', default: '500' },
		undos: { type: 'string', default: '200' },
		failovers: { type: 'string', default: '10' },
		store: { type: 'string', default: 'both' },
		seed: { type: 'string', default: '1' },
		batch: { type: 'string', default: '16' },
		sabotage: { type: 'string' },
		commit: { type: 'string' },
		target: { type: 'string' },
	},
});
const [rounds, duels, stops, seed, batch] = [values.rounds, values.duels, values.stops, values.seed, values.batch].map(
	Number,
) as [number, number, number, number, number];
const [presses, pressDuels, undos, failovers] = [
	values.presses,
	values['press-duels'],
	values.undos,
	values.failovers,
].map(Number) as [number, number, number, number];
const sabotage = values.sabotage === undefined ? null : sabotageNamed(values.sabotage);
/** For `--target`. */
const FAILOVER = 'failover';
const only = values.target ?? (sabotage === null || isPressSabotage(sabotage) ? undefined : aimAgainst(sabotage));
const kinds = (['sqlite', 'postgres'] as const).filter(
	(kind) =>
		(values.store === 'both' || values.store === kind) &&
		(aimsOn(kind).length > 0 || (only === FAILOVER && kind === 'postgres')),
);

/** The requested aims that exist on this store. */
function aimsOn(kind: StoreKind): readonly Aim[] {
	return aimsFor(kind).filter((aim) => only === undefined || only === aim);
}

function sabotageNamed(name: string): Sabotage {
	if (Object.hasOwn({ ...SABOTAGES, ...PRESS_SABOTAGES }, name)) return name as Sabotage;
	return usage();
}

function usage(): never {
	console.error(USAGE);
	process.exit(2);
}

function say(lines: readonly string[]): void {
	console.log(lines.join('\n'));
}

/** Runs `use` with the program on a new store of this kind. */
async function withProgram<T>(
	kind: StoreKind,
	callTimeoutMs: number,
	use: (harness: Harness, postgres: OwnPostgres | null) => Promise<T>,
	options: Partial<Pick<HarnessOptions, 'env' | 'people'>> = {},
): Promise<T> {
	await using source = await copySource({
		replacements: sabotage === null ? [] : { ...SABOTAGES, ...PRESS_SABOTAGES }[sabotage],
		commit: values.commit,
	});
	const postgres = kind === 'postgres' ? await startPostgres() : null;
	try {
		await using store =
			postgres === null
				? await createSqliteUnderTest()
				: await createPostgresUnderTest(await postgres.createDatabase());
		const replicas = kind === 'sqlite' ? 1 : 2;
		await using harness = await createHarness({
			store,
			entry: source.entry,
			replicas,
			people: batch * 2,
			callTimeoutMs,
			...options,
		});
		return await use(harness, postgres);
	} finally {
		await postgres?.close();
	}
}

const progress = (kind: StoreKind) => (line: string) => void process.stderr.write(`${NAMES[kind]}: ${line}\n`);

/** Keeps the program's log, to find what led to a problem. */
async function keepLogs(kind: StoreKind, { replicas }: Harness): Promise<void> {
	const path = join(tmpdir(), `fault-run-${kind}-${process.pid}.log`);
	await writeFile(path, replicas.map((replica) => replica.lines.join('\n')).join('\n--- the other replica ---\n'));
	say([`The program's log is in ${path}`]);
}

async function kills(kind: StoreKind): Promise<boolean> {
	const result = await withProgram(kind, CALL_TIMEOUT_MS, async (harness, postgres) => {
		const run = await runFaults({
			harness,
			rounds,
			batch,
			random: createRandom(seed),
			aims: aimsOn(kind),
			...(postgres === null ? {} : { outage: postgres, freezeMs: FREEZE_MS }),
			onProgress: progress(kind),
		});
		brokenTurns += run.brokenTurns.length;
		if (!isClean(run)) await keepLogs(kind, harness);
		return run;
	});
	say(killsReport(sabotage === null ? NAMES[kind] : `${NAMES[kind]}, sabotaged (${sabotage})`, result));
	return isClean(result);
}

async function failedOver(kind: StoreKind): Promise<boolean> {
	await using source = await copySource({ commit: values.commit });
	const result = await runFailovers({
		entry: source.entry,
		failovers,
		batch,
		random: createRandom(seed),
		onProgress: progress(kind),
	});
	say(failoversReport(NAMES[kind], result));
	return isClean(result.forms) && result.presses.problems.length === 0;
}

async function atOnce(kind: StoreKind): Promise<boolean> {
	const result = await withProgram(kind, 20_000, (harness) =>
		runDuels({ harness, duels, batch, random: createRandom(seed), onProgress: progress(kind) }),
	);
	say(duelsReport(NAMES[kind], result));
	return result.problems.length === 0;
}

async function terminations(kind: StoreKind): Promise<boolean> {
	const result = await withProgram(kind, CALL_TIMEOUT_STOPS_MS, (harness) =>
		runStops({ harness, stops, batch, random: createRandom(seed) }),
	);
	say(stopsReport(NAMES[kind], result));
	return result.problems.length === 0;
}

/** The same with watched sessions that ask questions with options: for each question at once, that many sessions. */
function withDesk<T extends { readonly problems: readonly string[] }>(
	kind: StoreKind,
	{
		questions,
		sessionsPerQuestion,
		callTimeoutMs,
	}: { questions: number; sessionsPerQuestion: number; callTimeoutMs: number },
	run: (harness: Harness, desk: QuestionDesk, postgres: OwnPostgres | null) => Promise<T>,
): Promise<T> {
	return withProgram(
		kind,
		callTimeoutMs,
		async (harness, postgres) => {
			const desk = await openDesk(harness, Math.min(questions, batch * sessionsPerQuestion));
			const result = await run(harness, desk, postgres);
			desk.close();
			if (result.problems.length > 0) await keepLogs(kind, harness);
			return result;
		},
		{ env: PRESS_ENV, people: PEOPLE },
	);
}

const nameOf = (kind: StoreKind) => (sabotage === null ? NAMES[kind] : `${NAMES[kind]}, sabotaged (${sabotage})`);

async function oneByPress(kind: StoreKind): Promise<boolean> {
	const stage = { questions: presses, sessionsPerQuestion: 4, callTimeoutMs: CALL_TIMEOUT_MS };
	const result = await withDesk(kind, stage, (harness, desk, postgres) =>
		runPresses({
			harness,
			desk,
			presses,
			batch,
			random: createRandom(seed),
			undoMs: UNDO_MS,
			...(postgres === null ? {} : { outage: postgres, freezeMs: FREEZE_MS }),
			onProgress: progress(kind),
		}),
	);
	say(pressesReport(nameOf(kind), result));
	return result.problems.length === 0;
}

async function twoWithPress(kind: StoreKind): Promise<boolean> {
	const stage = { questions: pressDuels, sessionsPerQuestion: 3, callTimeoutMs: 20_000 };
	const result = await withDesk(kind, stage, (harness, desk) =>
		runPressDuels({
			harness,
			desk,
			duels: pressDuels,
			batch,
			random: createRandom(seed),
			undoMs: UNDO_MS,
			onProgress: progress(kind),
		}),
	);
	say(pressDuelsReport(nameOf(kind), result));
	return result.problems.length === 0;
}

async function takenBack(kind: StoreKind): Promise<boolean> {
	const stage = { questions: undos + batch, sessionsPerQuestion: 3, callTimeoutMs: CALL_TIMEOUT_MS };
	const result = await withDesk(kind, stage, (harness, desk) =>
		runUndos({ harness, desk, undos, batch, random: createRandom(seed), undoMs: UNDO_MS, onProgress: progress(kind) }),
	);
	say(undosReport(nameOf(kind), result));
	return result.problems.length === 0;
}

if (
	kinds.length === 0 ||
	[rounds, duels, stops, presses, pressDuels, undos, failovers, seed, batch].some((number) => !Number.isInteger(number))
)
	usage();
let clean = true;
let brokenTurns = 0;
for (const kind of kinds) {
	const isAim = (run: PressRun) =>
		sabotage === null ? only === undefined : isPressSabotage(sabotage) && pressRunAgainst(sabotage) === run;
	if (presses > 0 && isAim('presses')) clean = (await oneByPress(kind)) && clean;
	if (pressDuels > 0 && isAim('press-duels')) clean = (await twoWithPress(kind)) && clean;
	if (undos > 0 && isAim('undos')) clean = (await takenBack(kind)) && clean;
	if (failovers > 0 && kind === 'postgres' && sabotage === null && (only ?? FAILOVER) === FAILOVER)
		clean = (await failedOver(kind)) && clean;
	if (only === FAILOVER) continue;
	if (rounds > 0 && (sabotage === null || !isPressSabotage(sabotage))) clean = (await kills(kind)) && clean;
	if (sabotage !== null) continue;
	if (duels > 0) clean = (await atOnce(kind)) && clean;
	if (stops > 0) clean = (await terminations(kind)) && clean;
}
if (sabotage !== null) {
	const noticed = clean ? 'The sabotage went UNNOTICED.' : 'The run noticed the sabotage.';
	say(['', brokenTurns > 0 ? 'Turns broke, which shows nothing of the sabotage.' : noticed]);
}
process.exit(brokenTurns === 0 && clean === (sabotage === null) ? 0 : 1);
