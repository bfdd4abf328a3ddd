import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { ACTS } from './acts.ts';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { IN_WORKSPACE } from './people.ts';
import { KINDS } from './table.ts';

let app: WhoMayApp;
/** Acts of a group ask the same of the access policy. `who-may.test.ts` has all of them, on SQLite. */
const ONE_OF_EACH_GROUP = ACTS.filter(({ group }, at) => ACTS.findIndex((act) => act.group === group) === at);
beforeAll(async () => {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const ENCRYPTION_KEY = randomBytes(32).toString('base64');
	app = await whoMayApp({ replicas: 2, acts: ONE_OF_EACH_GROUP, env: { DATABASE_URL, ENCRYPTION_KEY } });
}, 120_000);
afterAll(() => app[Symbol.asyncDispose]());

const OUTCOMES = IN_WORKSPACE.map(([kind]) => KINDS[kind].act);
/** One kind for each outcome: how Slack tells what people are, or does not tell it, is the same on each store. */
const SURE = IN_WORKSPACE.filter((_, at) => {
	const [outcome = 'no check'] = OUTCOMES.slice(at);
	return outcome !== 'could_not_check' && OUTCOMES.indexOf(outcome) === at;
});

it.each(SURE)('with two replicas on PostgreSQL: %s', async (kind, become) => {
	expect(await app.actAs(become)).toEqual(expected(KINDS[kind], app.acts));
	expect(app.app.slack.violations()).toEqual([]);
});
