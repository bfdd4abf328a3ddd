import type { Reporter, TestModule, Vitest } from 'vitest/node';

const LONG = 'long';

/**
 * Prints `N passed, N failed` as the last line of a run, and before it how many tests were skipped and what a run of all other
 * lanes leaves out. A module
 * that could not be imported, or an error outside of any test, counts as one failure, so that a broken file never reads as
 * "nothing failed".
 */
export default class ClosingLineReporter implements Reporter {
	#leavesOutLong = false;
	#isWatching = false;

	onInit({ config }: Vitest): void {
		this.#leavesOutLong = [config.project].flat().includes(`!${LONG}`);
		this.#isWatching = config.watch;
	}

	onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
		let passed = 0;
		let failed = unhandledErrors.length;
		let skipped = 0;
		for (const module of modules) {
			const tests = [...module.children.allTests()];
			for (const test of tests) {
				const { state } = test.result();
				if (state === 'passed') passed++;
				else if (state === 'failed') failed++;
				else if (state === 'skipped') skipped++;
			}
			if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) failed++;
		}
		const leftOut = this.#leavesOutLong
			? 'Left out: the lane "long" (long kill runs, and what takes long in other lanes). npm run test:all runs it too.\n'
			: '';
		const skips = skipped === 0 ? '' : `${skipped} skipped\n`;
		const print = () => process.stdout.write(`${skips}${leftOut}${passed} passed, ${failed} failed\n`);
		// On exit, because the default reporter prints its summary after this hook.
		if (this.#isWatching) setImmediate(print);
		else process.once('exit', print);
	}
}
