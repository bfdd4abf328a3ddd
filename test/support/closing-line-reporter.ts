import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

const LONG = 'long';

/** So that the last lines of a run name what failed, whatever it printed. */
const LONGEST_REASON = 300;

function firstLine(error: unknown): string {
	const message =
		typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
	return message.trimStart().split('\n', 1)[0]?.slice(0, LONGEST_REASON) ?? '';
}

/** As `skipUnless` says of a test or of a group around it. */
function whySkipped(one: TestCase | TestSuite | TestModule): string {
	if (one.type === 'module') return 'without a reason';
	return one.meta().skipped ?? whySkipped(one.parent);
}

/**
 * Prints `N passed, N failed` as the last line of a run, and before it what failed, what was skipped and why, and what `npm test`
 * leaves out. A module that could not be imported, or an error outside of any test, counts as one failure, so that a broken file
 * never reads as "nothing failed".
 */
export default class ClosingLineReporter implements Reporter {
	#leavesOutLong = false;
	#isWatching = false;
	#isFiltered = false;

	onInit({ config }: Vitest): void {
		this.#leavesOutLong = [config.project].flat().includes(`!${LONG}`);
		this.#isWatching = config.watch;
		this.#isFiltered = config.testNamePattern !== undefined;
	}

	onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
		let passed = 0;
		const failures = unhandledErrors.map((error) => `outside of any test: ${firstLine(error)}`);
		const skips: string[] = [];
		for (const module of modules) {
			const before = failures.length;
			for (const test of module.children.allTests()) {
				const result = test.result();
				const { state, errors } = result;
				if (state === 'passed') passed++;
				else if (state === 'failed')
					failures.push(`${module.relativeModuleId} > ${test.fullName}: ${firstLine(errors[0])}`);
				else if (result.state === 'skipped')
					skips.push(`${module.relativeModuleId} > ${test.fullName}: ${result.note ?? whySkipped(test)}`);
			}
			if (module.state() === 'failed' && failures.length === before)
				failures.push(`${module.relativeModuleId}: ${firstLine(module.errors()[0])}`);
		}
		const leftOut = this.#leavesOutLong
			? 'Left out: the lanes "long" (long kill runs, and what takes long in other lanes) and "doubles" (the fake Slack and the fake session service by themselves). npm run test:all runs them too.\n'
			: '';
		// With `-t` all others are skipped.
		const skipped = this.#isFiltered ? `${skips.length} skipped\n` : skips.map((skip) => `skipped: ${skip}\n`).join('');
		const named = failures.map((failure) => `failed: ${failure}\n`).join('');
		const print = () =>
			process.stdout.write(`${skipped}${named}${leftOut}${passed} passed, ${failures.length} failed\n`);
		// On exit, because the default reporter prints its summary after this hook.
		if (this.#isWatching) setImmediate(print);
		else process.once('exit', print);
	}
}
