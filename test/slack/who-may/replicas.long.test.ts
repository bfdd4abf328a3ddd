import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { ACTS } from './acts.ts';
import { expectAsInTable, expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { LISTED_IN_ORDER, WITH_LISTS } from './lists.ts';
import { IN_WORKSPACE } from './people.ts';
import { KINDS } from './table.ts';

/** Acts of a group ask the same of the access policy. `who-may.test.ts` has all of them, on SQLite. */
const ONE_OF_EACH_GROUP = ACTS.filter(({ group }, at) => ACTS.findIndex((act) => act.group === group) === at);
async function onReplicas(options: Parameters<typeof whoMayApp>[0]): Promise<WhoMayApp> {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const ENCRYPTION_KEY = randomBytes(32).toString('base64');
	return whoMayApp({ ...options, replicas: 2, env: { DATABASE_URL, ENCRYPTION_KEY } });
}

const OUTCOMES = IN_WORKSPACE.map(([kind]) => KINDS[kind].act);
/** One kind for each outcome: how Slack tells what people are, or does not tell it, is the same on each store. */
const SURE = IN_WORKSPACE.filter((_, at) => {
	const [outcome = 'no check'] = OUTCOMES.slice(at);
	return outcome !== 'could_not_check' && OUTCOMES.indexOf(outcome) === at;
});

describe('with two replicas on PostgreSQL', () => {
	let app: WhoMayApp;
	beforeAll(async () => {
		app = await onReplicas({ acts: ONE_OF_EACH_GROUP });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(SURE)('%s', async (kind, become) => {
		expect(await app.actAs(become)).toEqual(expected(KINDS[kind], app.acts));
		expect(app.app.slack.violations()).toEqual([]);
	});
});

describe('with two replicas on PostgreSQL, and a list of who may answer', () => {
	let app: WhoMayApp;
	beforeAll(async () => {
		app = await onReplicas({ acts: WITH_LISTS, listed: 'watched' });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(LISTED_IN_ORDER)('%s', (who) => expectAsInTable(app, who), 120_000);
});
