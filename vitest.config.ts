import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILE_CACHE } from './sandbox/compile-cache.ts';

/**
 * Programs that they started are killed, leases and time-outs run out, a browser is looked at: mostly waiting. The slowest
 * first.
 */
const WAITING = [
	'test/faults/postgres',
	'test/faults/sqlite',
	'sandbox/inbox',
	'test/faults/',
	'sandbox/troubles',
	'sandbox/one-press',
	'test/store/former-version',
	'/kill.test',
	'sandbox/',
	'test/doctor/',
	'test/slack/handlers/start-failed',
	'test/main.test',
	'test/support/postgres',
];
/** Mostly computing. The slowest first. */
const COMPUTING = [
	'test/slack/watching/shared-channels',
	'test/slack/who-may/who-may',
	'test/store/postgres.test',
	'test/slack/watching/',
	'test/slack/inbox/',
];

/** Begins with the slowest, and lets files that wait and files that compute run beside each other. */
class SlowestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		const rankIn = (paths: readonly string[], { moduleId }: TestSpecification) => {
			const rank = paths.findIndex((path) => moduleId.includes(path));
			return rank === -1 ? paths.length : rank;
		};
		const isWaiting = (file: TestSpecification) => rankIn(WAITING, file) < WAITING.length;
		const byRank = (paths: readonly string[]) => (one: TestSpecification, other: TestSpecification) =>
			rankIn(paths, one) - rankIn(paths, other);
		const waiting = sorted.filter(isWaiting).sort(byRank(WAITING));
		const computing = sorted.filter((file) => !isWaiting(file)).sort(byRank(COMPUTING));
		const turns = Math.max(waiting.length, computing.length);
		return Array.from({ length: turns }, (_, turn) => [waiting[turn], computing[turn]])
			.flat()
			.filter((file) => file !== undefined);
	}
}

// The workers and most programs that tests start get this environment.
Object.assign(process.env, COMPILE_CACHE);

export default defineConfig({
	test: {
		include: ['{fake-slack,sandbox,test}/**/*.test.ts'],
		globalSetup: ['./test/support/global-postgres.ts', './test/support/global-browser.ts'],
		reporters: ['default', './test/support/closing-line-reporter.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// For two cores: twice as many, because half of the files at work mostly wait.
		maxWorkers: 4,
		sequence: { sequencer: SlowestFirst },
		// The names of cases are sentences.
		taskTitleValueFormatTruncate: 150,
		coverage: { include: ['src/**'] },
	},
});
