import { defineConfig } from 'vitest/config';
import { projects } from '../../test/support/lanes.ts';

/** The lanes that need nothing outside of their process; main.ts says which of their files run. */
const LANES: ReadonlySet<unknown> = new Set(['rules', 'program', 'doubles']);
export const lanes = projects.filter(({ test }) => LANES.has(test.name));

/** As in `npm test`; Stryker ends what takes much longer than without the change. */
export const usual = {
	isolate: false,
	testTimeout: 60_000,
	hookTimeout: 60_000,
	expect: { poll: { timeout: 10_000 } },
};

/** For Stryker, which starts all projects of a configuration, and each with what it sets up. */
export default defineConfig({ test: { ...usual, projects: lanes, reporters: [{}] } });
