import { count, oneOf } from '../../support/options.ts';
import type { OwnPostgres } from '../../support/postgres.ts';
import { faultRun, keepLogs, type Stage } from '../frame.ts';
import type { Harness } from '../harness.ts';
import type { StoreKind } from '../stores.ts';
import { runDuels } from './duels.ts';
import { runFailovers } from './failovers.ts';
import { FAULT_KINDS, type FaultName } from './kinds/index.ts';
import { TARGETS } from './moments.ts';
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
import { aimsFor, runFaults } from './run.ts';
import { aimAgainst, isPressSabotage, PRESS_SABOTAGES, pressRunAgainst, SABOTAGES } from './sabotage.ts';
import { runStops } from './stops.ts';

/** For `--target`. */
const FAILOVER = 'failover';

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
	batch: count(16, 'answers under way at once', { least: 1 }),
	target: oneOf(
		[FAILOVER, ...new Set(TARGETS), ...(Object.keys(FAULT_KINDS) as FaultName[])],
		null,
		'aims at one thing alone: failovers, kills in one phase, or another fault',
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

await faultRun({ name: 'answers', options, sabotages }, async ({ values, stages, say, refuse }) => {
	const { rounds, duels, stops, presses, undos, failovers, batch, sabotage } = values;
	const pressSabotage = sabotage !== null && isPressSabotage(sabotage) ? sabotage : null;
	const formSabotage = sabotage !== null && !isPressSabotage(sabotage) ? sabotage : null;
	const only = values.target ?? (formSabotage === null ? null : aimAgainst(formSabotage));
	const aimsOn = (kind: StoreKind) => aimsFor(kind).filter((aim) => only === null || only === aim);
	let clean = true;
	let brokenTurns = 0;

	/** Says what a part found. */
	async function part<R extends { readonly problems: readonly string[] }>(
		found: Promise<R>,
		report: (name: string, result: R) => string[],
		{ name }: Stage,
	): Promise<void> {
		const result = await found;
		say(report(name, result));
		clean &&= result.problems.length === 0;
	}

	async function kills(stage: Stage): Promise<void> {
		const result = await stage.withProgram(
			{ people: batch * 2, callTimeoutMs: CALL_TIMEOUT_MS },
			async (harness, postgres) => {
				const aims = aimsOn(stage.kind);
				const run = await runFaults({ ...given(stage), harness, rounds, aims, ...hits(postgres) });
				if (!isClean(run)) await keepLogs(stage, harness);
				return run;
			},
		);
		brokenTurns += result.brokenTurns.length;
		say(killsReport(stage.name, result));
		clean &&= isClean(result);
	}

	async function failedOver(stage: Stage): Promise<void> {
		const result = await stage.withCopy((entry) => runFailovers({ ...given(stage), entry, failovers }));
		say(failoversReport(stage.name, result));
		clean &&= isClean(result.forms) && result.presses.problems.length === 0;
	}

	const given = ({ random, progress }: Stage) => ({ batch, random: random(), onProgress: progress });
	const hits = (postgres: OwnPostgres | null) => (postgres === null ? {} : { outage: postgres, freezeMs: FREEZE_MS });

	const withForms = <R>(stage: Stage, callTimeoutMs: number, run: (harness: Harness) => Promise<R>) =>
		stage.withProgram({ people: batch * 2, callTimeoutMs }, run);

	/** With watched sessions that ask questions with options: for each question at once, that many sessions. */
	function withDesk<R extends { readonly problems: readonly string[] }>(
		stage: Stage,
		{ questions, perQuestion, callTimeoutMs }: { questions: number; perQuestion: number; callTimeoutMs: number },
		run: (desk: { harness: Harness; desk: QuestionDesk; undoMs: number }, postgres: OwnPostgres | null) => Promise<R>,
	): Promise<R> {
		return stage.withProgram({ env: PRESS_ENV, people: PEOPLE, callTimeoutMs }, async (harness, postgres) => {
			const desk = await openDesk(harness, Math.min(questions, batch * perQuestion));
			const result = await run({ harness, desk, undoMs: UNDO_MS }, postgres);
			desk.close();
			if (result.problems.length > 0) await keepLogs(stage, harness);
			return result;
		});
	}

	const byPress = {
		presses(stage: Stage) {
			const table = { questions: presses, perQuestion: 4, callTimeoutMs: CALL_TIMEOUT_MS };
			const run = withDesk(stage, table, (desk, postgres) =>
				runPresses({ ...given(stage), ...desk, presses, ...hits(postgres) }),
			);
			return part(run, pressesReport, stage);
		},
		'press-duels'(stage: Stage) {
			const table = { questions: values['press-duels'], perQuestion: 3, callTimeoutMs: CALL_TIMEOUT_DUELS_MS };
			const run = withDesk(stage, table, (desk) =>
				runPressDuels({ ...given(stage), ...desk, duels: values['press-duels'] }),
			);
			return part(run, pressDuelsReport, stage);
		},
		undos(stage: Stage) {
			const table = { questions: undos + batch, perQuestion: 3, callTimeoutMs: CALL_TIMEOUT_MS };
			const run = withDesk(stage, table, (desk) => runUndos({ ...given(stage), ...desk, undos }));
			return part(run, undosReport, stage);
		},
	};

	const wanted = stages.filter(
		({ kind }) => aimsOn(kind).length > 0 || (only === FAILOVER && kind === 'postgres' && sabotage === null),
	);
	if (wanted.length === 0) refuse('That does not exist on this store.');
	for (const stage of wanted) {
		for (const name of ['presses', 'press-duels', 'undos'] as const) {
			const isAim =
				sabotage === null ? only === null : pressSabotage !== null && pressRunAgainst(pressSabotage) === name;
			if (values[name] > 0 && isAim) await byPress[name](stage);
		}
		if (failovers > 0 && stage.kind === 'postgres' && sabotage === null && (only ?? FAILOVER) === FAILOVER)
			await failedOver(stage);
		if (only === FAILOVER || pressSabotage !== null) continue;
		if (rounds > 0) await kills(stage);
		if (sabotage !== null) continue;
		if (duels > 0)
			await part(
				withForms(stage, CALL_TIMEOUT_DUELS_MS, (harness) => runDuels({ ...given(stage), harness, duels })),
				duelsReport,
				stage,
			);
		if (stops > 0)
			await part(
				withForms(stage, CALL_TIMEOUT_STOPS_MS, (harness) => runStops({ ...given(stage), harness, stops })),
				stopsReport,
				stage,
			);
	}
	return { isClean: clean, brokenTurns };
});
