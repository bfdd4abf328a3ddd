import { defineConfig } from 'vitest/config';

export default defineConfig({
	test: {
		include: ['{fake-slack,sandbox,test}/**/*.test.ts'],
		globalSetup: ['./test/support/global-postgres.ts'],
		reporters: ['default', './test/support/closing-line-reporter.ts'],
		testTimeout: 60_000,
		hookTimeout: 60_000,
		// Two cores: more workers only make the timings of real sockets worse.
		maxWorkers: 2,
		coverage: { include: ['src/**'] },
	},
});
