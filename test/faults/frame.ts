import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { count, type Options, oneOf, readOptions, refuseOptions, text, type Values } from '../support/options.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { createRandom, type Random } from '../support/random.ts';
import type { Edit } from './edits/edit.ts';
import { createHarness, type Harness, type HarnessOptions, type Outcome } from './harness.ts';
import { copySource, isCommit } from './source-copy.ts';
import {
	createPostgresUnderTest,
	createSqliteUnderTest,
	replicasOf,
	type StoreKind,
	type StoreUnderTest,
} from './stores.ts';

export const STORE_NAMES: Record<StoreKind, string> = {
	sqlite: 'SQLite, one process',
	postgres: 'PostgreSQL, two replicas',
};

const COMMON = {
	store: oneOf(['both', 'sqlite', 'postgres'], 'both', 'the databases'),
	seed: count(1, 'of the random choices'),
	commit: text(null, 'takes the program from a commit instead of the working tree'),
};

type Common<Sabotage extends string> = Values<typeof COMMON> & { readonly sabotage: Sabotage | null };

/** A part of a run, on a store of one kind. */
export interface Stage {
	readonly kind: StoreKind;
	/** What reports call it. */
	readonly name: string;
	/** The same numbers at each call. */
	random(): Random;
	/** Runs `use` with a copy of the program, sabotaged if the run is, and a server of PostgreSQL unless on SQLite. */
	withCopy<Result>(use: (entry: string, postgres: OwnPostgres | null) => Promise<Result>): Promise<Result>;
	/** The same with a new database. `durable`: PostgreSQL waits for the disk. */
	withStore<Result>(
		use: (copy: { entry: string; store: StoreUnderTest; postgres: OwnPostgres | null }) => Promise<Result>,
		durable?: boolean,
	): Promise<Result>;
	/** The same with the program's processes. */
	withProgram<Result>(
		options: Pick<HarnessOptions, 'people' | 'callTimeoutMs' | 'env' | 'realRates'>,
		use: (harness: Harness, postgres: OwnPostgres | null) => Promise<Result>,
	): Promise<Result>;
	/** Tells what happens, while the run goes on. */
	progress(line: string): void;
}

export interface Frame<V> {
	readonly values: V;
	/** One for each kind of store. */
	readonly stages: readonly Stage[];
	say(lines: readonly string[]): void;
	/** Shows the options and ends: these do not fit together. */
	refuse(why: string): never;
}

/**
 * A run of `npm run faults`: its options and those of all, copies of the program, stores, and the last words. It fails when
 * `run` finds a problem; with sabotage, when it finds none.
 */
export async function faultRun<O extends Options, Sabotage extends string>(
	{
		name,
		options,
		sabotages,
		edits: own = [],
	}: {
		name: string;
		options: O;
		sabotages: Readonly<Record<Sabotage, readonly Edit[]>>;
		/** For a program with other constants. */
		edits?: readonly Edit[];
	},
	run: (
		frame: Frame<Values<O> & Common<Sabotage>>,
	) => Promise<{ readonly isClean: boolean; readonly brokenTurns?: number }>,
): Promise<never> {
	const command = `npm run faults -- ${name}`;
	const names = Object.keys(sabotages) as Sabotage[];
	const sabotaged = oneOf(names, null, 'breaks the program first, and fails when nobody notices');
	const all = { ...COMMON, ...options, sabotage: sabotaged };
	const values = readOptions(command, all) as Values<O> & Common<Sabotage>;
	const { sabotage, commit, seed } = values;
	const edits = [...own, ...(sabotage === null ? [] : sabotages[sabotage])];
	if (commit !== null && !(await isCommit(commit)))
		refuseOptions(command, all, `git knows no commit "${commit}" with src/main.ts.`);

	function stageOn(kind: StoreKind): Stage {
		async function withCopy<Result>(
			use: (entry: string, postgres: OwnPostgres | null) => Promise<Result>,
			durable = false,
		): Promise<Result> {
			await using source = await copySource({ edits, commit });
			const postgres = kind === 'postgres' ? await startPostgres({ durable }) : null;
			try {
				return await use(source.entry, postgres);
			} finally {
				await postgres?.close();
			}
		}
		const stage: Stage = {
			kind,
			name: sabotage === null ? STORE_NAMES[kind] : `${STORE_NAMES[kind]}, sabotaged (${sabotage})`,
			random: () => createRandom(seed),
			withCopy,
			withStore: (use, durable) =>
				withCopy(async (entry, postgres) => {
					await using store = await (postgres === null
						? createSqliteUnderTest()
						: createPostgresUnderTest(await postgres.createDatabase()));
					return await use({ entry, store, postgres });
				}, durable),
			withProgram: (given, use) =>
				stage.withStore(async ({ entry, store, postgres }) => {
					await using harness = await createHarness({ store, entry, replicas: replicasOf(kind), ...given });
					return await use(harness, postgres);
				}),
			progress: (line) => void process.stderr.write(`${STORE_NAMES[kind]}: ${line}\n`),
		};
		return stage;
	}

	const say = (lines: readonly string[]) => void process.stdout.write(`${lines.join('\n')}\n`);
	const { isClean, brokenTurns = 0 } = await run({
		values,
		stages: (['sqlite', 'postgres'] as const)
			.filter((kind) => values.store === 'both' || values.store === kind)
			.map(stageOn),
		say,
		refuse: (why) => refuseOptions(command, all, why),
	});
	if (sabotage !== null) {
		const noticed = isClean ? 'The sabotage went UNNOTICED.' : 'The run noticed the sabotage.';
		say(['', brokenTurns > 0 ? 'Turns broke, which shows nothing of the sabotage.' : noticed]);
	}
	process.exit(brokenTurns === 0 && isClean === (sabotage === null) ? 0 : 1);
}

/** Keeps the log of the program, to find what led to a problem. */
export async function keepLogs({ kind, progress }: Stage, { replicas }: Harness): Promise<void> {
	const path = join(tmpdir(), `fault-run-${kind}-${process.pid}.log`);
	await writeFile(path, replicas.map((replica) => replica.lines.join('\n')).join('\n--- the other replica ---\n'));
	progress(`the program's log is in ${path}`);
}

/** What a part found, as lines for the terminal. */
export function reportOf(
	title: string,
	{ refusedCalls, problems, seconds }: Outcome,
	lines: readonly string[],
): string[] {
	return [
		'',
		`${title}, ${Math.round(seconds)} s`,
		...lines.map((line) => `  ${line}`),
		`  calls Slack refused as too many: ${refusedCalls}; problems: ${problems.length}`,
		...shortened(problems),
	];
}

/** Problems printed in full. More of the same tell nothing new. */
const PROBLEMS_SHOWN = 12;

function shortened(problems: readonly string[]): string[] {
	const hiddenCount = problems.length - PROBLEMS_SHOWN;
	return [...problems.slice(0, PROBLEMS_SHOWN), ...(hiddenCount > 0 ? [`… and ${hiddenCount} more`] : [])];
}
