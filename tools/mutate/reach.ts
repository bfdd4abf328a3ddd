import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { relative } from 'node:path';

const FOLDER = '.cache/mutate';
const FILE = `${FOLDER}/reach.jsonl`;
/** So many of the quickest test files that call a function may run against its changes. */
const TESTS_OF_FUNCTION = 3;

/** A test file: its time, and of each file of the program and the doubles the functions that it calls, by where they begin. */
export interface Reached {
	readonly test: string;
	readonly ms: number;
	readonly functions: Readonly<Record<string, readonly number[]>>;
}

/** Which test reaches what; runs all tests of rules and of the program when it is not known yet, or `anew`. */
export function readReach(anew: boolean): readonly Reached[] {
	if (anew || !existsSync(FILE)) {
		console.log('All tests run once, to see which functions each of them calls. This takes about ten minutes.');
		mkdirSync(FOLDER, { recursive: true });
		const made = `${FILE}.new`;
		rmSync(made, { force: true });
		const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/mutate/reach.config.ts'];
		spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, REACH_FILE: made } });
		if (!existsSync(made)) throw new Error('No test ran. Mend what Vitest says, or name tests: --tests GLOB');
		renameSync(made, FILE);
	}
	const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n');
	return lines.map((line) => JSON.parse(line) as Reached).map((one) => ({ ...one, test: relative('', one.test) }));
}

/** The quickest tests that call the functions of these files, each function by `TESTS_OF_FUNCTION` of them. */
export function testsOf(files: readonly string[], reach: readonly Reached[]): readonly string[] {
	const byTime = reach.toSorted((one, other) => one.ms - other.ms);
	const functions = new Map<string, Reached[]>();
	for (const one of byTime)
		for (const file of files)
			for (const offset of one.functions[file] ?? []) {
				const name = `${file}:${offset}`;
				functions.set(name, [...(functions.get(name) ?? []), one]);
			}
	const chosen = new Set<Reached>();
	for (const callers of [...functions.values()].toSorted((one, other) => one.length - other.length)) {
		const missing = TESTS_OF_FUNCTION - callers.filter((one) => chosen.has(one)).length;
		for (const one of callers.filter((caller) => !chosen.has(caller)).slice(0, Math.max(missing, 0))) chosen.add(one);
	}
	return [...chosen].map(({ test }) => test);
}
