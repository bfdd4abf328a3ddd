import { defineConfig } from 'vitest/config';
import { lanes, usual } from './vitest.config.ts';

/** Runs all tests that `npm run mutate` may choose, and notes which functions each file calls. */
export default defineConfig({
	test: {
		...usual,
		projects: lanes.map(({ test, ...project }) => ({
			...project,
			test: { ...test, setupFiles: [...[test.setupFiles ?? []].flat(), './tools/mutate/reach.setup.ts'] },
		})),
		maxWorkers: 3,
		reporters: ['dot'],
	},
});
