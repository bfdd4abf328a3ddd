import { expect, it } from 'vitest';
import { ACTIONS } from '../../../src/slack/ids.ts';
import { inboxShapes } from '../../../src/slack/shapes/inbox.ts';
import { ACTS, ON_COPIES } from './acts.ts';
import { whoMayApp } from './harness.ts';

/** What stands in an inbox and is its person's own: their answers, snoozes and pages. Only who has a question gives it back. */
const OWN: readonly string[] = [
	ACTIONS.answerNew,
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
	const drawn = JSON.stringify(inboxShapes()).matchAll(/"action_id":"([^"]+)"/g);
	const ids = new Set([...drawn].map(([, id = '']) => id));
	expect([...OWN, ...ON_COPIES]).toEqual(expect.arrayContaining([...ids]));
});

it('of a question whose channel they left', async () => {
	await using app = await whoMayApp({ acts: copies });
	const left = await app.actAs((slack, people) => {
		const agents = slack.state.channels.find(({ name }) => name === 'agents');
		const ids = new Set(people.map(({ id }) => id));
		Object.assign(agents ?? {}, { members: agents?.members.filter((id) => !ids.has(id)) });
	});
	expect(left).toEqual(Object.fromEntries(copies.map(({ name }) => [name, 'not_there'])));
	expect(app.app.slack.violations()).toEqual([]);
}, 120_000);
