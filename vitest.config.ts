import './src/check-node.js';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILE_CACHE } from './sandbox/compile-cache.ts';
import { projects } from './test/support/lanes.ts';
import { memoryDirectory } from './test/support/memory-directory.ts';

/**
 * The lanes, one after the other: a worker that goes on with another lane starts anew and loads the whole program again. Those
 * that mostly wait come first, because their last files run beside the next lane.
 */
const LANES = ['rules', 'browser', 'kills', 'postgres', 'program', 'tools', 'doubles'];

/**
 * Lane by lane, and in each the slowest first by the times of the run before, which Vitest keeps; in a fresh clone the
 * largest first. Files of `long` mostly wait, so they run beside those of the other lanes.
 */
class SlowestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		const lane = ({ project }: TestSpecification) => LANES.indexOf(project.name);
		const ranked = sorted.toSorted((one, other) => lane(one) - lane(other));
		const waiting = ranked.filter((file) => lane(file) === -1);
		const computing = ranked.filter((file) => lane(file) !== -1);
		const turns = Math.max(waiting.length, computing.length);
		return Array.from({ length: turns }, (_, turn) => [waiting[turn], computing[turn]])
			.flat()
			.filter((file) => file !== undefined);
	}
}

// For the workers, and for programs that tests start with the environment of the worker.
Object.assign(process.env, COMPILE_CACHE, { TMPDIR: memoryDirectory() });

export default defineConfig({
	test: {
		projects,
		// Modules have no state of their own, and importing the program for each file takes minutes.
		isolate: false,
		reporters: ['default', './test/support/closing-line-reporter.ts'],
		// A case takes up to eight seconds, and twenty times that on a machine that does much else.
		testTimeout: 180_000,
		hookTimeout: 180_000,
		// Not the default of 1 s: machines are shared.
		expect: { poll: { timeout: 10_000 } },
		// For two cores: one more, because some of the running files mostly wait. Each more loads the whole program once more.
		maxWorkers: 3,
		sequence: { sequencer: SlowestFirst },
		// The names of cases are sentences.
		taskTitleValueFormatTruncate: 150,
		coverage: { include: ['src/**'] },
	},
});
