import { count, oneOf } from '../../support/options.ts';
import type { OwnPostgres } from '../../support/postgres.ts';
import { faultRun, keepLogs, type Stage } from '../frame.ts';
import type { Harness, Outcome } from '../harness.ts';
import type { StoreKind } from '../stores.ts';
import { runFailovers } from './failovers.ts';
import { FAULT_KINDS, type FaultName, isFault } from './kinds/index.ts';
import { TARGETS } from './moments.ts';
import { runDuels } from './presses/duels.ts';
import { PEOPLE } from './presses/people.ts';
import { runPresses } from './presses/presses.ts';
import { openDesk, PRESS_ENV, type QuestionDesk, UNDO_MS } from './presses/questions.ts';
import { runUndos } from './presses/undos.ts';
import { duelsReport, failoversReport, isClean, killsReport, pressesReport, undosReport } from './report.ts';
import { type Aim, aimsFor, runFaults } from './run.ts';
import { aimAgainst, isPressSabotage, PRESS_RUNS, PRESS_SABOTAGES, QUICK_LOOKS, SABOTAGES } from './sabotage.ts';

/** For `--target`. */
const FAILOVER = 'failover';
const KILLS = 'kills';

const options = {
	rounds: count(1000, 'answers that meet kills and other faults, for each store; 0 leaves it out, here and below'),
	duels: count(500, 'questions that two people answer at the same moment, for each store'),
	stops: count(20, 'stops by SIGTERM while answers are on their way, for each store'),
	presses: count(1000, 'answers in one press that meet kills and other faults, for each store'),
	'press-duels': count(
		500,
		'questions that two people answer at about the same moment, at least one of them in one press',
	),
	undos: count(200, 'one-press answers that are taken back around the end of the time for it, with kills'),
	failovers: count(
		10,
		"times that PostgreSQL's primary is killed and its standby promoted, among forms and among presses",
	),
	calm: count(0, 'turns without a fault before each with one, for answers by a form'),
	batch: count(16, 'answers under way at once', { least: 1 }),
	rates: oneOf(
		['real', 'none'],
		'real',
		"Slack's rates for answers by a form; with `none`, many fit into a short time",
	),
	target: oneOf(
		[FAILOVER, KILLS, ...new Set(TARGETS), ...(Object.keys(FAULT_KINDS) as FaultName[])],
		null,
		'aims at one thing alone: failovers, kills in all phases or in one, or another fault',
	),
};

/** Short, so that unknown outcomes are resolved soon; the service's delays stay below it. */
const CALL_TIMEOUT_MS = 600;
const CALL_TIMEOUT_DUELS_MS = 20_000;
/** Longer than a stop may take: a PUT without a response must not delay it. */
const CALL_TIMEOUT_STOPS_MS = 12_000;
/** Longer than a lease (20 s), and than the 7.6 s after which a PUT with an unknown outcome is repeated. */
const FREEZE_MS = 25_000;

const sabotages = { ...SABOTAGES, ...PRESS_SABOTAGES };

await faultRun({ name: 'answers', options, sabotages, edits: QUICK_LOOKS }, async ({ values, stages, say, refuse }) => {
	const { rounds, duels, stops, presses, undos, failovers, batch, sabotage } = values;
	const pressSabotage = sabotage !== null && isPressSabotage(sabotage) ? sabotage : null;
	const formSabotage = sabotage !== null && !isPressSabotage(sabotage) ? sabotage : null;
	const only = values.target ?? (formSabotage === null ? null : aimAgainst(formSabotage));
	const aimsOn = (kind: StoreKind) =>
		aimsFor(kind).filter((aim) => only === null || only === aim || (only === KILLS && !isFault(aim)));
	let clean = true;
	let brokenTurns = 0;

	const given = ({ random, progress }: Stage) => ({ batch, random: random(), onProgress: progress });
	const hits = (postgres: OwnPostgres | null) => (postgres === null ? {} : { outage: postgres, freezeMs: FREEZE_MS });

	/** Says what a part found. */
	async function part<R extends Outcome>(
		{ name }: Stage,
		found: Promise<R>,
		report: (name: string, result: R) => string[],
	): Promise<void> {
		const result = await found;
		say(report(name, result));
		clean &&= result.problems.length === 0;
	}

	async function byForm(stage: Stage, answers: number, aims: readonly Aim[], callTimeoutMs: number): Promise<void> {
		const people = batch * 2;
		const found = stage.withProgram(
			{ people, callTimeoutMs, realRates: values.rates === 'real' },
			async (harness, postgres) => {
				const run = await runFaults({
					...given(stage),
					harness,
					rounds: answers,
					aims,
					calm: values.calm,
					...hits(postgres),
				});
				brokenTurns += run.brokenTurns.length;
				clean &&= isClean(run);
				if (!isClean(run)) await keepLogs(stage, harness);
				return run;
			},
		);
		await part(stage, found, killsReport);
	}

	/** With watched sessions that ask questions with options: for each question at once, that many sessions. */
	function withDesk<R extends Outcome>(
		stage: Stage,
		{ questions, perQuestion, callTimeoutMs }: { questions: number; perQuestion: number; callTimeoutMs: number },
		run: (
			desk: ReturnType<typeof given> & { harness: Harness; desk: QuestionDesk; undoMs: number },
			postgres: OwnPostgres | null,
		) => Promise<R>,
	): Promise<R> {
		return stage.withProgram({ env: PRESS_ENV, people: PEOPLE, callTimeoutMs }, async (harness, postgres) => {
			const desk = await openDesk(harness, Math.min(questions, batch * perQuestion));
			const result = await run({ ...given(stage), harness, desk, undoMs: UNDO_MS }, postgres);
			desk.close();
			if (result.problems.length > 0) await keepLogs(stage, harness);
			return result;
		});
	}

	function duel(stage: Stage, questions: number, byForm: boolean): Promise<void> {
		const table = { questions, perQuestion: 3, callTimeoutMs: CALL_TIMEOUT_DUELS_MS };
		return part(
			stage,
			withDesk(stage, table, (desk) => runDuels({ ...desk, duels: questions, byForm })),
			duelsReport,
		);
	}

	/** In this order, each when it is wanted. */
	const parts = {
		presses(stage: Stage) {
			const table = { questions: presses, perQuestion: 4, callTimeoutMs: CALL_TIMEOUT_MS };
			const run = withDesk(stage, table, (desk, postgres) => runPresses({ ...desk, presses, ...hits(postgres) }));
			return part(stage, run, pressesReport);
		},
		'press-duels': (stage: Stage) => duel(stage, values['press-duels'], false),
		undos(stage: Stage) {
			const table = { questions: undos + batch, perQuestion: 3, callTimeoutMs: CALL_TIMEOUT_MS };
			return part(
				stage,
				withDesk(stage, table, (desk) => runUndos({ ...desk, undos })),
				undosReport,
			);
		},
		async failovers(stage: Stage) {
			const result = await stage.withCopy((entry) => runFailovers({ ...given(stage), entry, failovers }));
			say(failoversReport(stage.name, result));
			brokenTurns += result.forms.brokenTurns.length;
			clean &&= isClean(result.forms) && result.presses.problems.length === 0;
		},
		rounds: (stage: Stage) => byForm(stage, rounds, aimsOn(stage.kind), CALL_TIMEOUT_MS),
		duels: (stage: Stage) => duel(stage, duels, true),
		stops: (stage: Stage) => byForm(stage, stops * batch, ['stop'], CALL_TIMEOUT_STOPS_MS),
	};

	function isWanted(name: keyof typeof parts, kind: StoreKind): boolean {
		if (values[name] === 0 || (name === 'failovers' && kind !== 'postgres')) return false;
		if (pressSabotage !== null) return name === PRESS_RUNS[pressSabotage];
		if (only === FAILOVER) return name === 'failovers';
		return only === null || (name === 'rounds' && aimsOn(kind).length > 0);
	}

	const names = Object.keys(parts) as (keyof typeof parts)[];
	const wanted = stages.flatMap((stage) =>
		names.filter((name) => isWanted(name, stage.kind)).map((name) => () => parts[name](stage)),
	);
	if (wanted.length === 0) refuse('That does not exist on this store.');
	for (const run of wanted) await run();
	return { isClean: clean, brokenTurns };
});
