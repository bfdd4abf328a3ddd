import { afterAll, beforeAll, it } from 'vitest';
import { expectAsInTable, type WhoMayApp, whoMayApp } from './harness.ts';
import { LISTED_FOR_EVERY_ACT } from './lists.ts';

/* `lists.test.ts` has the same by socket. */

let app: WhoMayApp;
beforeAll(async () => {
	app = await whoMayApp({ listed: 'once', transport: 'http' });
}, 120_000);
afterAll(() => app[Symbol.asyncDispose]());

it.each(LISTED_FOR_EVERY_ACT)(
	'by http, who may do what with a session that a channel with a list has watched: %s',
	(who) => expectAsInTable(app, who),
	120_000,
);
