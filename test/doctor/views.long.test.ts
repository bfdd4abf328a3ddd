import { describe } from 'vitest';
import { allShapes } from '../../src/slack/shapes/all.ts';
import { testShapes } from './views.ts';

const ALL = allShapes();

// As a process, with its pauses between the calls: 12 seconds each.
describe('doctor views', () => {
	testShapes(ALL, (harness, env) => harness.doctorProcess(env, { args: ['views'] }));
});
