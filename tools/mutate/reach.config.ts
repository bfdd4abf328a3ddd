import { defineConfig } from 'vitest/config';
import { lanes } from './vitest.config.ts';

/** Runs all tests that `npm run mutate` may choose, and notes which functions each file calls. */
export default defineConfig({
	test: {
		projects: lanes.map(({ test, ...project }) => ({
			...project,
			test: { ...test, setupFiles: [...[test.setupFiles ?? []].flat(), './tools/mutate/reach.setup.ts'] },
		})),
		isolate: false,
		testTimeout: 60_000,
		hookTimeout: 60_000,
		expect: { poll: { timeout: 10_000 } },
		maxWorkers: 3,
		reporters: ['dot'],
	},
});
