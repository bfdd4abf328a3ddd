import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { LISTED_FOR_EVERY_ACT, LISTED_IN_ORDER, WITH_LISTS } from './lists.ts';
import { LISTED, type Listed } from './table.ts';

it('tries every kind of person of the table', () => {
	expect(LISTED_IN_ORDER.toSorted()).toEqual(Object.keys(LISTED).toSorted());
});

let app: WhoMayApp;
async function expectAsInTable(who: Listed): Promise<void> {
	await app.become(who);
	expect(await app.actAs(() => {})).toEqual(expected(LISTED[who], app.acts));
	expect(app.app.slack.violations()).toEqual([]);
}

describe('who may do what with a session that a channel with a list has watched', () => {
	beforeAll(async () => {
		app = await whoMayApp({ listed: 'once' });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(LISTED_FOR_EVERY_ACT)('%s', expectAsInTable, 120_000);
});

describe('who may do what with a session that a channel with a list watches', () => {
	beforeAll(async () => {
		app = await whoMayApp({ listed: 'watched', acts: WITH_LISTS });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(LISTED_IN_ORDER)('%s', expectAsInTable, 120_000);
});
