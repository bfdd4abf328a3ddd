import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSessionCommand } from '../../../src/people/session/parse-command.ts';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { ACTS } from './acts.ts';
import { expected, type WhoMayApp, whoMayApp } from './harness.ts';
import { IN_ORGANISATION, IN_WORKSPACE, REMOVED, WAITING } from './people.ts';
import { ACTION_GROUPS, COMMAND_GROUPS, KINDS, type Kind, withGeneratedPart } from './table.ts';

const PAGE = new URL('../../../docs/who-may.md', import.meta.url);
const REWRITE = 'UPDATE_DOCS=1 npm exec -- vitest run test/slack/who-may';

describe('the table of who may do what', () => {
	it('has a row of every button, input and command', () => {
		expect(Object.keys(ACTION_GROUPS).toSorted()).toEqual(Object.values(ACTIONS).toSorted());
		const kinds = ['help', 'x', 'watch x', 'watch all', 'unwatch x', 'list', 'inbox', 'settings', 'history x'].map(
			(text) => parseSessionCommand(text, null).kind,
		);
		expect(Object.keys(COMMAND_GROUPS).toSorted()).toEqual(kinds.toSorted());
		const names = ACTS.map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining(Object.values(ACTIONS)));
	});

	it('is tried with every kind of person', () => {
		const tried = [...IN_WORKSPACE, ...IN_ORGANISATION].map(([kind]) => kind);
		const more: Kind[] = [
			'deactivated after opening the form, a minute ago',
			'only in the direct message with the app',
		];
		expect([...tried, ...more].toSorted()).toEqual(Object.keys(KINDS).toSorted());
	});

	it('is what docs/who-may.md says between its markers', async () => {
		if (process.env.UPDATE_DOCS !== undefined) await writeFile(PAGE, withGeneratedPart(await readFile(PAGE, 'utf8')));
		const page = await readFile(PAGE, 'utf8');
		expect(page, `to rewrite the tables: ${REWRITE}`).toBe(withGeneratedPart(page));
	});
});

describe('who may do what', () => {
	let workspace: WhoMayApp;
	beforeAll(async () => {
		workspace = await whoMayApp();
	}, 120_000);
	afterAll(() => workspace[Symbol.asyncDispose]());

	const [member, ...refused] = [...IN_WORKSPACE].reverse();

	it.each(refused.reverse())('%s', async (kind, become) => {
		const momentMs = WAITING.includes(kind) ? 10_000 : undefined;
		expect(await workspace.actAs(become, undefined, momentMs)).toEqual(expected(KINDS[kind], workspace.acts));
		expect(workspace.app.slack.violations()).toEqual([]);
	});

	it('deactivated after opening the form, a minute ago', async () => {
		await workspace.becomeKnown();
		const row = KINDS['deactivated after opening the form, a minute ago'];
		expect(await workspace.actAs(REMOVED, 60_000)).toEqual(expected(row, workspace.acts));
	}, 120_000);

	it('full member', async () => {
		const [kind, become] = member ?? [];
		if (kind === undefined || become === undefined) throw new Error('nobody is a member');
		expect(await workspace.actAs(become)).toEqual(expected(KINDS[kind], workspace.acts));
	});
});
