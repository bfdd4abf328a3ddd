import { afterAll, beforeAll, expect, it } from 'vitest';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { ACTS } from './acts.ts';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { BY_WHO, envOf } from './people.ts';
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

it.each(SETTINGS)('$setting: $who', async ({ setting, who, row }) => {
	await app.app.app.restart(envOf(setting, who));
	expect(await app.actAs(BY_WHO[who])).toEqual(expected(row, app.acts));
	expect(app.app.slack.violations()).toEqual([]);
});
