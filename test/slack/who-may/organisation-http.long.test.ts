import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { IN_ORGANISATION, IN_WORKSPACE } from './people.ts';
import { KINDS, NOT_HERE } from './table.ts';

/** The kinds of the table differ by what Slack tells of them, which is asked in the same way; these come by requests. */
const BY_REQUEST: readonly string[] = ['multi-channel guest', 'of another organisation, as the request says'];

describe('who may do what within an organisation and through HTTP', () => {
	let app: WhoMayApp;
	beforeAll(async () => {
		app = await whoMayApp({ inOrganisation: true, transport: 'http' });
	}, 120_000);
	afterAll(() => app[Symbol.asyncDispose]());

	const ofWorkspace = IN_WORKSPACE.filter(([kind]) => BY_REQUEST.includes(kind));
	it.each([...ofWorkspace, ...IN_ORGANISATION])('%s', async (kind, become) => {
		expect(await app.actAs(become)).toEqual(expected(KINDS[kind], app.acts));
		expect(app.app.slack.violations()).toEqual([]);
	});
});

describe('who may do what in the direct message with the app', () => {
	it('only in the direct message with the app', async () => {
		await using app = await whoMayApp({ place: 'dm' });
		const row = KINDS['only in the direct message with the app'];
		expect(await app.actAs(() => {})).toEqual(expected(row, app.acts));
		await app.app.app.restart({ ALLOWED_CHANNELS: 'C0AGENTS' });
		expect(await app.actAs(() => {})).toEqual(expected(NOT_HERE, app.acts));
	}, 120_000);
});
