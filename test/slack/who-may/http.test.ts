import { afterAll, beforeAll, expect, it } from 'vitest';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { IN_WORKSPACE } from './people.ts';
import { KINDS } from './table.ts';

let app: WhoMayApp;
beforeAll(async () => {
	app = await whoMayApp({ transport: 'http' });
}, 120_000);
afterAll(() => app[Symbol.asyncDispose]());

/** The kinds of the table differ by what Slack tells of them, which is asked in the same way; these come by requests. */
const SOME: readonly string[] = ['multi-channel guest', 'of another organisation, as the request says', 'full member'];

it.each(IN_WORKSPACE.filter(([kind]) => SOME.includes(kind)))('through HTTP: %s', async (kind, become) => {
	expect(await app.actAs(become)).toEqual(expected(KINDS[kind], app.acts));
	expect(app.app.slack.violations()).toEqual([]);
});
