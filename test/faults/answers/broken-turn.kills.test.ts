import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { createTestHarness } from '../shared-stores.ts';
import { isClean, killsReport } from './report.ts';
import { runFaults } from './run.ts';

it('fails the run and still gives its verdict when turns cannot be run', { timeout: 60_000 }, async () => {
	// Nobody is there to answer.
	await using harness = await createTestHarness('sqlite', { people: 0, callTimeoutMs: 600 });
	const aims = ['any time', 'any time'] as const;
	const result = await runFaults({ harness, rounds: 4, batch: 2, random: createRandom(1), aims });
	expect(result.brokenTurns).toEqual([expect.stringMatching(/^any time: ./), expect.stringMatching(/^any time: ./)]);
	expect(result.verdict).toMatchObject({ rounds: 0, problems: [] });
	expect(isClean(result)).toBe(false);
	const report = killsReport('no people', result).join('\n');
	expect(report).toContain('turns that broke: 2');
	for (const why of result.brokenTurns) expect(report).toContain(why);
});
