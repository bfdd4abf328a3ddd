import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILE_CACHE } from './sandbox/compile-cache.ts';

/** Files that mostly wait: for a killed program, the end of a lease, a browser. The slowest first. */
const WAITING = [
	'test/faults/postgres',
	'test/faults/sqlite',
	'sandbox/inbox',
	'sandbox/reminders',
	'test/faults/',
	'sandbox/troubles',
	'sandbox/one-press',
	'test/store/former-version',
	'/kill.test',
	'-kill.test',
	'test/watch-faults/',
	'sandbox/',
	'test/doctor/',
	'test/slack/handlers/start-failed',
	'test/main.test',
	'test/support/postgres',
];
/** Of the files that mostly compute, the slowest ones. The slowest first. */
const COMPUTING = [
	'test/slack/watching/shared-channels',
	'test/slack/who-may/who-may',
	'test/store/postgres.test',
	'test/slack/watching/',
	'test/reminders/reminders.test',
	'test/slack/reminders/',
	'test/slack/settings/',
	'test/slack/inbox/',
];

/** The place of the path in `paths` that the file has; behind the last when it has none of them. */
function rankIn(paths: readonly string[], { moduleId }: TestSpecification): number {
	// Below the project, because a folder above it may be called sandbox too.
	const file = relative(import.meta.dirname, moduleId);
	const rank = paths.findIndex((path) => file.includes(path));
	return rank === -1 ? paths.length : rank;
}

function inOrder(paths: readonly string[], files: readonly TestSpecification[]): TestSpecification[] {
	return files.toSorted((one, other) => rankIn(paths, one) - rankIn(paths, other));
}

/** Begins with the slowest, and lets files that wait and files that compute run beside each other. */
class SlowestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		const isWaiting = (file: TestSpecification) => rankIn(WAITING, file) < WAITING.length;
		const waiting = inOrder(WAITING, sorted.filter(isWaiting));
		const computing = inOrder(
			COMPUTING,
			sorted.filter((file) => !isWaiting(file)),
		);
		const turns = Math.max(waiting.length, computing.length);
		return Array.from({ length: turns }, (_, turn) => [waiting[turn], computing[turn]])
			.flat()
			.filter((file) => file !== undefined);
	}
}

// For the workers, and for programs that tests start with the environment of the worker.
Object.assign(process.env, COMPILE_CACHE);

export default defineConfig({
	test: {
		include: ['{fake-slack,sandbox,test}/**/*.test.ts'],
		globalSetup: ['./test/support/global-postgres.ts', './test/support/global-browser.ts'],
		reporters: ['default', './test/support/closing-line-reporter.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Not the default of 1 s: machines are shared.
		expect: { poll: { timeout: 10_000 } },
		// For two cores: twice as many, because half of the running files mostly wait.
		maxWorkers: 4,
		sequence: { sequencer: SlowestFirst },
		// The names of cases are sentences.
		taskTitleValueFormatTruncate: 150,
		coverage: { include: ['src/**'] },
	},
});
