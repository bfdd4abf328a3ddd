import { expect, it } from 'vitest';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { inboxVariants } from '../../features/shapes/inbox.ts';
import { ACTS, ON_COPIES } from './acts.ts';
import { whoMayApp } from './harness.ts';
import type { Become } from './people.ts';
import type { Group } from './table.ts';

/** What stands in an inbox and is its person's own: their answers, snoozes and pages. Only who has a question gives it back. */
const OWN: readonly string[] = [
	ACTIONS.answerNew,
	ACTIONS.dismiss,
	ACTIONS.giveUp,
	ACTIONS.postToThread,
	ACTIONS.sendAgain,
	ACTIONS.tryAgain,
	ACTIONS.undo,
	ACTIONS.inboxNewer,
	ACTIONS.inboxOlder,
	ACTIONS.inboxRefresh,
	ACTIONS.showSnoozed,
	ACTIONS.snooze,
	ACTIONS.giveBack,
];

const copies = ACTS.filter(({ name }) => name.endsWith(', on a copy'));

it("knows every button of an inbox as one of a question or as its person's own", () => {
	const drawn = JSON.stringify(inboxVariants()).matchAll(/"(?:action_id":"|value":"\[\\"menu\\",\\")([\w.]+)/g);
	const ids = new Set([...drawn].map(([, id = '']) => id).filter((id) => id !== ACTIONS.more));
	expect([...OWN, ...ON_COPIES]).toEqual(expect.arrayContaining([...ids]));
});

/** They are in #agents no more. */
const leave: Become = (slack, people) => {
	const agents = slack.state.channels.find(({ name }) => name === 'agents');
	const ids = new Set(people.map(({ id }) => id));
	Object.assign(agents ?? {}, { members: agents?.members.filter((id) => !ids.has(id)) });
};

it('of a question whose channel they left', async () => {
	await using app = await whoMayApp({ acts: copies });
	expect(await app.actAs(leave)).toEqual(Object.fromEntries(copies.map(({ name }) => [name, 'not_there'])));
	expect(app.app.slack.violations()).toEqual([]);
}, 120_000);

/** Whoever left takes back what they sent, and nothing more; the settings ask for themselves. */
const TAKES_BACK: readonly string[] = [ACTIONS.giveUp, ACTIONS.undo];
const JUDGED: readonly Group[] = ['act', 'unwatch', 'send'];
const inWindows = ACTS.filter(
	({ name, needs, group }) =>
		['form', 'history', 'chooser', 'receipt'].includes(needs) && JUDGED.includes(group) && !TAKES_BACK.includes(name),
);

it('in a window that they opened in the private channel which they left', async () => {
	await using app = await whoMayApp({ acts: inWindows, isPrivate: true });
	expect(await app.actAs(leave)).toEqual(Object.fromEntries(inWindows.map(({ name }) => [name, 'not_there'])));
	expect(app.app.slack.violations()).toEqual([]);
}, 120_000);
