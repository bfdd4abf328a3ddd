import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { ACTS } from './acts.ts';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { BY_WHO } from './people.ts';
import { SETTINGS } from './table.ts';

/** One or two acts of each group; the others of a group are judged in the same way (who-may.test.ts). */
const SOME: readonly string[] = [
	'/session open',
	'/session unwatch',
	'/session help',
	ACTIONS.refresh,
	ACTIONS.unwatch,
	ACTIONS.field,
	'Send answer',
	'Hand over, in its window',
	ACTIONS.handOver,
	ACTIONS.giveBack,
	'closing a form',
];

let app: WhoMayApp;
beforeAll(async () => {
	app = await whoMayApp({ acts: ACTS.filter(({ name }) => SOME.includes(name)) });
}, 120_000);
afterAll(() => app[Symbol.asyncDispose]());

/** What each setting is set to, for whom it is said. */
function envOf(setting: (typeof SETTINGS)[number]['setting'], who: string): Record<string, string> {
	const isNot = /not|another channel/.test(who);
	switch (setting) {
		case 'ALLOW_GUESTS=true':
			return { ALLOW_GUESTS: 'true' };
		case 'ALLOW_EXTERNAL=true':
			return { ALLOW_EXTERNAL: 'true' };
		case 'ALLOWED_CHANNELS':
			return { ALLOWED_CHANNELS: isNot ? 'C0GENERAL' : 'C0GENERAL, C0AGENTS' };
		case 'ALLOWED_USERS':
			return { ALLOWED_USERS: isNot ? 'U0ADA' : SOME.map((_, index) => `U0P${index}`).join() };
		case 'ALLOWED_USERGROUPS':
			return { ALLOWED_USERGROUPS: 'S0OPS' };
	}
}

it.each(SETTINGS)('$setting: $who', async ({ setting, who, row }) => {
	await app.app.app.restart(envOf(setting, who));
	expect(await app.actAs(BY_WHO[who])).toEqual(expected(row, app.acts));
	expect(app.app.slack.violations()).toEqual([]);
});
