import { globSync, readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';
import { memoryDirectory } from '../../test/support/memory-directory.ts';
import { readReach, testsOf } from './reach.ts';

const USAGE = `npm run mutate -- PATH [PATH ...] [options]
  PATH          a file, a folder, a glob, or lines of a file (src/domain/compare.ts:95-104)
  --tests GLOB  the test files that may run, repeatable; without it the quickest that call the functions of PATH
  --reach       notes anew which functions each test file calls, which takes ten minutes
  --static      also changes what runs once, when a file is loaded: constants and tables. This takes much longer.`;

function refuse(why: string): never {
	console.error(`${why}\n${USAGE}`);
	process.exit(2);
}

function readArguments() {
	try {
		return parseArgs({
			allowPositionals: true,
			options: {
				tests: { type: 'string', multiple: true, default: [] },
				reach: { type: 'boolean', default: false },
				static: { type: 'boolean', default: false },
				help: { type: 'boolean', default: false },
			},
		});
	} catch (error) {
		return refuse(error instanceof Error ? error.message : String(error));
	}
}

const { positionals, values } = readArguments();
if (values.help) {
	console.log(USAGE);
	process.exit(0);
}
if (positionals.length === 0) refuse('Name at least one PATH.');
for (const path of positionals.filter((one) => !one.includes('*'))) {
	const [, file = path, from, to = from] = /^(.*?)(?::(\d+)(?::\d+)?(?:-(\d+)(?::\d+)?)?)?$/.exec(path) ?? [];
	const stats = statSync(file, { throwIfNoEntry: false });
	if (stats === undefined) refuse(`There is no ${file}.`);
	if (!stats.isDirectory() && !file.endsWith('.ts')) refuse(`${file} is no TypeScript.`);
	const lineCount = stats.isDirectory() ? 0 : readFileSync(file, 'utf8').split('\n').length - 1;
	if (from !== undefined && !(Number(from) >= 1 && Number(from) <= Number(to) && Number(to) <= lineCount))
		refuse(`${file} has the lines 1 to ${lineCount}.`);
}
const noTests = values.tests.find((glob) => globSync(glob).length === 0);
if (noTests !== undefined) refuse(`No file is named ${noTests}.`);
// Each change runs in a new thread, which loads everything again. On a disk, each commit of SQLite would wait for it.
Object.assign(process.env, COMPILE_CACHE, { TMPDIR: memoryDirectory() });
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function reaching(): readonly string[] {
	try {
		return testsOf(changed, readReach(values.reach));
	} catch (error) {
		return refuse(error instanceof Error ? error.message : String(error));
	}
}

const changed = positionals.flatMap((path) => {
	const [place = ''] = path.split(':');
	return globSync(isFolder(place) ? `${place}/**/*.ts` : place);
});
const testFiles = values.tests.length > 0 ? values.tests : reaching();
if (testFiles.length === 0) refuse('No test calls a function of these files. Name tests that do: --tests GLOB');
console.log(`These run: ${testFiles.join(', ')}`);

/**
 * Changes one place of the named files after another, in a copy of the tree below `.cache`, and runs the tests that reach
 * it. What survives is printed with its place: a promise that no test asserts, or a change that makes no difference.
 */
const stryker = new Stryker({
	mutate: [...positionals.map((path) => (isFolder(path) ? `${path}/**/*.ts` : path)), '!**/*.test.ts'],
	mutator: {
		// Words for people are pinned once, nearest to them; a key or a kind that is wrong shows in a condition too.
		excludedMutations: ['StringLiteral'],
	},
	ignoreStatic: !values.static,
	testRunner: 'vitest',
	testFiles: [...testFiles],
	vitest: { configFile: 'tools/mutate/vitest.config.ts' },
	tempDirName: '.cache/mutate',
	cleanTempDir: 'always',
	// Stryker would change tsconfig.json with the API of TypeScript's compiler, which TypeScript 7 does not have.
	tsconfigFile: 'none',
	// Nothing here checks types. Otherwise Stryker parses and changes every file of the copy.
	disableTypeChecks: false,
	reporters: ['clear-text', 'progress'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
});
try {
	const results = await stryker.runMutationTest();
	if (results.length > 0 && results.every(({ status }) => status === 'NoCoverage'))
		console.log('No test of this run reaches these places. Name tests that do: --tests GLOB');
} catch {
	// Why it fails, Stryker has logged.
	process.exitCode = 1;
}
