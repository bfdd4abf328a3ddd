import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Their programs are killed, and leases and time-outs run out: mostly waiting, for a minute or more. */
const WAITING = [
	'test/faults/',
	'test/store/former-version',
	'test/slack/watching/kill',
	'test/watch-faults/',
	'sandbox/',
];

/** Begins with what waits, so that it does not outlast the rest. */
class WaitingFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const isWaiting = ({ moduleId }: TestSpecification) => WAITING.some((path) => moduleId.includes(`/${path}`));
		const sorted = await super.sort(files);
		return [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))];
	}
}

export default defineConfig({
	test: {
		include: ['{fake-slack,sandbox,test}/**/*.test.ts'],
		globalSetup: ['./test/support/global-postgres.ts', './test/support/global-browser.ts'],
		reporters: ['default', './test/support/closing-line-reporter.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// For two cores: one more than that, because some files mostly wait.
		maxWorkers: 3,
		sequence: { sequencer: WaitingFirst },
		// The names of cases are sentences.
		taskTitleValueFormatTruncate: 150,
		coverage: { include: ['src/**'] },
	},
});
