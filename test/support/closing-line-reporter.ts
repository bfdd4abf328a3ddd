import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints `N passed, N failed` as the last line of a run. A module that could not be imported, or an error outside of
 * any test, counts as one failure, so that a broken file never reads as "nothing failed".
 */
export default class ClosingLineReporter implements Reporter {
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
		// On exit, because the default reporter prints its summary after this hook.
		process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
	}
}
