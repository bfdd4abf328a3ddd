import type { Reporter, TestModule, Vitest } from 'vitest/node';

const LONG = 'long';

/**
 * Prints `N passed, N failed` as the last line of a run, and before it what a run of all other lanes leaves out. A module
 * that could not be imported, or an error outside of any test, counts as one failure, so that a broken file never reads as
 * "nothing failed".
 */
export default class ClosingLineReporter implements Reporter {
	#leavesOutLong = false;

	onInit({ config }: Vitest): void {
		this.#leavesOutLong = [config.project].flat().includes(`!${LONG}`);
	}

	onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
		let passed = 0;
		let failed = unhandledErrors.length;
		for (const module of modules) {
			const tests = [...module.children.allTests()];
			for (const test of tests) {
				const { state } = test.result();
				if (state === 'passed') passed++;
				else if (state === 'failed') failed++;
			}
			if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) failed++;
		}
		const leftOut = this.#leavesOutLong
			? 'Left out: the lane "long" (long kill runs, long runs on a moved clock). npm run test:all runs it too.\n'
			: '';
		// On exit, because the default reporter prints its summary after this hook.
		process.once('exit', () => process.stdout.write(`${leftOut}${passed} passed, ${failed} failed\n`));
	}
}
