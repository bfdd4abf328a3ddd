import { expect, it } from 'vitest';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { inboxVariants } from '../../screens/shapes/inbox.ts';
import { ACTS, ON_COPIES } from './acts.ts';
import { whoMayApp } from './harness.ts';
import { outOfAgents } from './people.ts';
import type { Group } from './table.ts';

/** What stands in an inbox and is its person's own: their answers, drafts, snoozes and pages. Only who has a question gives it back. */
const OWN: readonly string[] = [
	ACTIONS.answerNew,
	ACTIONS.copyDraft,
	ACTIONS.discardDraft,
	ACTIONS.dismiss,
	ACTIONS.giveUp,
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

/** Whoever left takes back what they sent, and nothing more; the settings ask for themselves. */
const TAKES_BACK: readonly string[] = [ACTIONS.giveUp, ACTIONS.undo];
const JUDGED: readonly Group[] = ['act', 'unwatch', 'handOver', 'answer', 'send'];
const inWindows = ACTS.filter(
	({ name, needs, group }) =>
		['form', 'history', 'chooser', 'receipt'].includes(needs) && JUDGED.includes(group) && !TAKES_BACK.includes(name),
);

it.each([
	['of a question whose channel they left', { acts: copies }],
	['in a window that they opened in the private channel which they left', { acts: inWindows, isPrivate: true }],
])(
	'%s',
	async (_, options) => {
		await using app = await whoMayApp(options);
		const refused = options.acts.map(({ name }) => [name, 'not_there']);
		expect(await app.actAs(outOfAgents)).toEqual(Object.fromEntries(refused));
		expect(app.app.slack.violations()).toEqual([]);
	},
	120_000,
);
