import type { Reporter, TestModule, Vitest } from 'vitest/node';

const LONG = 'long';

/** So that the last lines of a run name what failed, whatever it printed. */
const LONGEST_REASON = 300;

function firstLine(error: unknown): string {
	const message =
		typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
	return message.trimStart().split('\n', 1)[0]?.slice(0, LONGEST_REASON) ?? '';
}

/**
 * Prints `N passed, N failed` as the last line of a run, and before it what failed, how many tests were skipped and what a run of
 * all other lanes leaves out. A module
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
		const failures = unhandledErrors.map((error) => `outside of any test: ${firstLine(error)}`);
		let skipped = 0;
		for (const module of modules) {
			const before = failures.length;
			for (const test of module.children.allTests()) {
				const { state, errors } = test.result();
				if (state === 'passed') passed++;
				else if (state === 'failed')
					failures.push(`${module.relativeModuleId} > ${test.fullName}: ${firstLine(errors[0])}`);
				else if (state === 'skipped') skipped++;
			}
			if (module.state() === 'failed' && failures.length === before)
				failures.push(`${module.relativeModuleId}: ${firstLine(module.errors()[0])}`);
		}
		const leftOut = this.#leavesOutLong
			? 'Left out: the lane "long" (long kill runs, and what takes long in other lanes). npm run test:all runs it too.\n'
			: '';
		const skips = skipped === 0 ? '' : `${skipped} skipped\n`;
		const named = failures.map((failure) => `failed: ${failure}\n`).join('');
		const print = () => process.stdout.write(`${named}${skips}${leftOut}${passed} passed, ${failures.length} failed\n`);
		// On exit, because the default reporter prints its summary after this hook.
		if (this.#isWatching) setImmediate(print);
		else process.once('exit', print);
	}
}
