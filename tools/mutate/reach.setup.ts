import { appendFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Reached } from './reach.ts';

/**
 * Writes, for each test file, which functions of the program and the doubles it calls: one line of JSON to the file that
 * `REACH_FILE` names.
 */
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true });
let begun = 0;
/** What may be changed. */
const OWN = /^(?:src|fake-slack|fake-session-service)\/.*(?<!\.test)\.ts$/;

/** What was called since this was called last. */
async function called(): Promise<Record<string, number[]>> {
	const { result } = await session.post('Profiler.takePreciseCoverage');
	const own = result.flatMap(({ url, functions }) => {
		const path = relative('', url.startsWith('file:') ? fileURLToPath(url) : url);
		const offsets = functions
			.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
			.map(({ ranges }) => ranges[0]?.startOffset ?? 0);
		return OWN.test(path) && offsets.length > 0 ? [[path, offsets] as const] : [];
	});
	return Object.fromEntries(own);
}

beforeAll(async () => {
	begun = performance.now();
	await called();
});
afterAll(async () => {
	const reached: Reached = {
		test: expect.getState().testPath ?? '',
		ms: performance.now() - begun,
		functions: await called(),
	};
	appendFileSync(process.env.REACH_FILE ?? '', `${JSON.stringify(reached)}\n`);
});
