import { setTimeout as pause } from 'node:timers/promises';
import { takeAnswers } from './answers.ts';
import type { BenchContext } from './context.ts';
import { measureDisk } from './disk.ts';
import { readyForms } from './forms.ts';
import type { Harness } from './harness.ts';
import { createMeasured, type MeasuredStore } from './measured-stores.ts';
import { type Figure, load } from './report.ts';
import { ms, pair, Rounds } from './stats.ts';
import { readWindow, type Window } from './window.ts';

const ONE_BY_ONE = 50;
const AT_ONCE = 50;
const BURSTS = 2;
/** The commit that is under way, and the answer's own. */
const SYNCS_QUEUED = 2;

interface Store extends MeasuredStore {
	/** Over all rounds: the program keeps this histogram since its start. */
	window: Window | null;
}

/** Milliseconds beyond the bare app. */
const GOALS = { SQLite: 10, PostgreSQL: 20 } as const;

/** From Submit to the acknowledgement, and on to the PUT, on both databases. */
export async function measureSubmissions(context: BenchContext): Promise<Figure[]> {
	const { directory, rounds: count } = context;
	await using measured = await createMeasured(context);
	const stores: readonly Store[] = measured.stores.map((store) => ({ ...store, window: null }));
	const named = [{ name: 'bare', harness: measured.bare }, ...stores] as const;
	for (const { name, harness } of named) await takeRound(context, name, harness, new Rounds());
	const rounds = new Rounds();
	for (let round = 0; round < count; round++) {
		rounds.addSample('disk', await measureDisk(directory));
		const order = round % 2 === 0 ? named : named.toReversed();
		for (const { name, harness } of order) await takeRound(context, name, harness, rounds);
	}
	for (const store of stores) store.window = await readWindow(store.harness.processes);
	return stores.flatMap((store) => [
		ackFigure(rounds, store, 1),
		ackFigure(rounds, store, AT_ONCE),
		putFigure(rounds, store, 1),
		putFigure(rounds, store, AT_ONCE),
		...windowFigures(rounds, store),
	]);
}

/** Each session is new: of one that looks as before its answer, the question is not asked again at once. */
let sessionCount = 0;

async function takeRound(context: BenchContext, name: string, harness: Harness, rounds: Rounds): Promise<void> {
	const actors = harness.meet(ONE_BY_ONE + AT_ONCE * BURSTS, 'same');
	const ids = actors.map(() => `session${++sessionCount}`);
	await context.service.tell({ do: 'clear' });
	await context.service.tell({ do: 'put', ids });
	const forms = await readyForms(harness, actors, ids);
	await pause(500);
	await takeAnswers(context, harness, rounds, {
		...forms,
		groups: [
			{ name: `${name} 1`, atOnce: 1, answers: forms.answers.slice(0, ONE_BY_ONE) },
			{ name: `${name} ${AT_ONCE}`, atOnce: AT_ONCE, answers: forms.answers.slice(ONE_BY_ONE) },
		],
	});
}

function ackFigure(rounds: Rounds, { name, database }: Store, atOnce: number): Figure {
	const goalMs = GOALS[database];
	const over = rounds.median(`${name} ${atOnce} p99`) - rounds.median(`bare ${atOnce} p99`);
	const syncsMs = SYNCS_QUEUED * rounds.median('disk p50');
	return {
		what: `Submission to ack, ${atOnce} at once, ${name} (p50 / p99)`,
		handraise: pair(rounds, `${name} ${atOnce}`),
		reference: `bare app ${pair(rounds, `bare ${atOnce}`)}; fdatasync ${pair(rounds, 'disk')}`,
		goal: `p99 ≤ bare + ${goalMs} ms + ${SYNCS_QUEUED} fdatasync (${ms(syncsMs)} ms): + ${ms(over)} ms`,
		met: over <= goalMs + syncsMs,
		load: load(),
	};
}

function putFigure(rounds: Rounds, { name }: Store, atOnce: number): Figure {
	return {
		what: `From ack to the PUT at the service, ${atOnce} at once, ${name} (p50 / p99)`,
		handraise: pair(rounds, `${name} ${atOnce} put`),
		reference: `fdatasync ${pair(rounds, 'disk')}`,
		goal: atOnce === 1 ? 'p50 ≤ 50 ms' : '',
		met: atOnce === 1 ? rounds.median(`${name} 1 put p50`) <= 50 : null,
		load: load(),
	};
}

function windowFigures(rounds: Rounds, { name, window }: Store): Figure[] {
	const seen = [1, AT_ONCE].map(
		(atOnce): Figure => ({
			what: `From the end of the read to the PUT as the service sees it, ${atOnce} at once, ${name} (p50 / p99)`,
			handraise: pair(rounds, `${name} ${atOnce} window`),
			reference: '–',
			goal: 'p99 ≤ 50 ms',
			met: rounds.median(`${name} ${atOnce} window p99`) <= 50,
			load: load(),
		}),
	);
	if (window === null) return seen;
	return [
		...seen,
		{
			what: `The same as the program measures it, all of these, ${name} (p50 / p99, bounds of its histogram)`,
			handraise: `≤ ${window.p50Ms} / ≤ ${window.p99Ms} ms`,
			reference: `${window.count} PUTs`,
			goal: 'p99 ≤ 50 ms',
			met: window.p99Ms <= 50,
			load: load(),
		},
	];
}
