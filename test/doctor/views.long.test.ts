import { describe } from 'vitest';
import { extremes } from '../../src/doctor/shapes/extremes.ts';
import { testShapes } from './views.ts';

const ALL = extremes();

// As a process, with its pauses between the calls: 12 seconds each.
describe('doctor views', () => {
	testShapes(ALL, (harness, env) => harness.doctorProcess(env, { args: ['views'] }));
});
