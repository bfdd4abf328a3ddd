import { inspect } from 'node:util';
import { startVitest } from 'vitest/node';

/** How a test file ended: `passed`, its first failing test, or `broken` when it could not be loaded. */
export type TestRun = { kind: 'passed' } | { kind: 'failed'; test: string } | { kind: 'broken'; reason: string };

/** Runs one test file up to its first failure. */
export async function runTests(root: string, file: string): Promise<TestRun> {
	const vitest = await startVitest('test', [file], {
		root,
		config: false,
		watch: false,
		bail: 1,
		// A test that waits in vain has failed. The fake's own waits end earlier.
		testTimeout: 15_000,
		hookTimeout: 15_000,
		reporters: [{}],
	});
	try {
		const modules = vitest.state.getTestModules();
		const [first] = modules;
		if (!first) return { kind: 'broken', reason: 'there is no such test file' };
		for (const module of modules) {
			for (const test of module.children.allTests('failed')) return { kind: 'failed', test: test.fullName };
			const [error] = module.errors();
			if (error) return { kind: 'broken', reason: String(error.message) };
		}
		// Failures between tests count too: a rejection that nobody awaited, a hook.
		const [unhandled] = vitest.state.getUnhandledErrors();
		if (unhandled !== undefined) return { kind: 'failed', test: `an error outside of tests: ${inspect(unhandled)}` };
		return first.ok() ? { kind: 'passed' } : { kind: 'failed', test: 'a hook' };
	} finally {
		await vitest.close();
		// Vitest marks the process as failed, but here a failure is the goal.
		process.exitCode = 0;
	}
}
