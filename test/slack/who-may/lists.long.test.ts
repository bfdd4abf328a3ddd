import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAsInTable, type WhoMayApp, whoMayApp } from './harness.ts';
import { LISTED_FOR_EVERY_ACT, LISTED_IN_ORDER, WITH_LISTS } from './lists.ts';
import { LISTED } from './table.ts';

it('tries every kind of person of the table', () => {
	expect(LISTED_IN_ORDER.toSorted()).toEqual(Object.keys(LISTED).toSorted());
});

let app: WhoMayApp;
describe('who may do what with a session that a channel with a list has watched', () => {
	beforeAll(async () => {
		app = await whoMayApp({ listed: 'once' });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(LISTED_FOR_EVERY_ACT)('%s', (who) => expectAsInTable(app, who), 120_000);
});

describe('who may do what with a session that a channel with a list watches', () => {
	beforeAll(async () => {
		app = await whoMayApp({ listed: 'watched', acts: WITH_LISTS });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	it.each(LISTED_IN_ORDER)('%s', (who) => expectAsInTable(app, who), 120_000);
});
