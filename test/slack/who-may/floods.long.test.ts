import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WhoMayApp, whoMayApp } from './harness.ts';
import { IN_WORKSPACE } from './people.ts';

/** Reads at once; a person has twice as many turns. */
const BURST = 3;
const TIMES = 11;
/** Reads and turns, and one reply that says that the person is too fast. */
const MOST_CALLS = BURST + 2 * BURST + 1;

describe('whoever does one thing over and over', () => {
	let workspace: WhoMayApp;
	beforeAll(async () => {
		workspace = await whoMayApp({ limits: { personReads: { burst: BURST, perMinute: BURST } } });
	}, 120_000);
	afterAll(() => workspace[Symbol.asyncDispose]());

	const kinds = IN_WORKSPACE.filter(([kind]) => kind === 'full member' || kind === 'single-channel guest');

	it.each(kinds)(
		'calls no method of Slack more often than their turns allow: %s',
		async (_, become) => {
			const most = await workspace.flood(become, TIMES);
			expect(Object.entries(most).filter(([, calls]) => calls > MOST_CALLS)).toEqual([]);
			expect(workspace.app.slack.violations()).toEqual([]);
		},
		120_000,
	);
});
