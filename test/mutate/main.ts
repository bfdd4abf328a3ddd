import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { COMPILE_CACHE } from '../../sandbox/compile-cache.ts';
import { RULES } from '../support/lanes.ts';

const USAGE = `npm run mutate -- PATH [PATH ...] [options]
  PATH          a file, a folder, a glob, or lines of a file (src/questions/compare.ts:95-104)
  --tests GLOB  the test files that may run, repeatable; without it the pure rules and the fake Slack's own tests
  --static      also changes what runs once, when a file is loaded: constants and tables. This takes much longer.`;

const { positionals, values } = parseArgs({
	allowPositionals: true,
	options: {
		tests: { type: 'string', multiple: true, default: [...RULES, 'fake-slack/**/*.test.ts'] },
		static: { type: 'boolean', default: false },
	},
});
if (positionals.length === 0) {
	console.error(USAGE);
	process.exit(2);
}
// Each change runs in a new thread, which loads everything again.
Object.assign(process.env, COMPILE_CACHE);
const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

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
	testFiles: values.tests,
	vitest: { configFile: 'test/mutate/vitest.config.ts' },
	tempDirName: '.cache/mutate',
	cleanTempDir: 'always',
	// Stryker would change tsconfig.json with the API of TypeScript's compiler, which TypeScript 7 does not have.
	tsconfigFile: 'none',
	// Nothing here checks types. Otherwise Stryker parses and changes every file of the copy.
	disableTypeChecks: false,
	reporters: ['clear-text', 'progress'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
});
// Why it fails, Stryker has logged.
await stryker.runMutationTest().catch(() => {
	process.exitCode = 1;
});
