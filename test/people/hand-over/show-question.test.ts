import { NOT_THERE } from '../../../src/slack/error-view.ts';
import { ACTIONS } from '../../../src/slack/ids.ts';
import {
	expect,
	FLIGHT,
	forCase,
	type HandOverApp,
	handOverApp,
	it,
	openSession,
	type Posted,
	whatHappened,
} from '../../kit.ts';

/* Who has a question by hand-over does not see by that what others of its channel answer. */

/** A question of this channel that Ada handed over to Grace, and the direct message to her. */
async function handedIn(app: HandOverApp, channel: string) {
	const id = app.session({ name: 'Book a flight' });
	await app.command(`/session watch ${id}`, 'ada', channel);
	app.ask(id, [FLIGHT], 'Our budget is a secret of this channel.');
	const post = await app.until(() => app.thread(id, channel).findLast((one) => one.buttons().includes('Hand over')));
	await app.handOver(post, 'ada', 'grace');
	return { id, post, dm: await app.handedTo('grace') };
}

async function adaAnswers(app: HandOverApp, id: string, channel: string) {
	const form = await openSession(app, id, 'ada', channel);
	await form.choose(0, 'LH 1173');
	await form.submit();
	await app.answered(id, channel);
	await form.close(true);
}

/** Presses this button on a message that does not have it (any more). */
async function pressForged(app: HandOverApp, who: string, { channel, ts }: Posted, value: string) {
	const { people, team, app: ours } = app.slack.state;
	const person = people.find(({ name }) => name === who);
	await app.slack.deliver({
		kind: 'interactive',
		name: 'block_actions',
		acceptsPayload: false,
		payload: {
			type: 'block_actions',
			user: { id: person?.id, username: who, name: who, team_id: team.id },
			team: { id: team.id, domain: team.domain },
			api_app_id: ours.id,
			container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false },
			channel: { id: channel },
			message: { ts, text: '' },
			trigger_id: app.slack.trigger(who),
			actions: [{ type: 'button', action_id: ACTIONS.showQuestion, block_id: 'b', value }],
		},
	});
}

const answerIdIn = (app: HandOverApp, post: Posted): string => {
	const stored = app.slack.state.messages.find(({ ts, channel }) => ts === post.ts && channel === post.channel);
	const [, id = ''] =
		/"answer\.show_question\\",\\"([^"\\]+)|"action_id":"answer\.show_question"[^}]*"value":"([^"]+)"/.exec(
			JSON.stringify(stored?.blocks),
		) ?? [];
	return id;
};

it('has no *Show question* in the direct message, which is settled in two lines', async () => {
	const app = await forCase(handOverApp());
	const { id, post, dm } = await handedIn(app, '#secret');
	await adaAnswers(app, id, '#secret');
	await app.saysIn(dm, 'LH 1173');
	expect(post.buttons()).toContain('Show question');
	expect(dm.buttons()).toEqual([]);
	expect(dm.text().split('\n')).toHaveLength(2);
});

it('refuses a press that comes from there all the same to who is not in the channel', async () => {
	const app = await forCase(handOverApp());
	const { id, post, dm } = await handedIn(app, '#secret');
	await adaAnswers(app, id, '#secret');
	const told = await app.toldAfter(() => pressForged(app, 'grace', dm, answerIdIn(app, post)), 'grace', 'dm');
	expect(told.text()).toContain(NOT_THERE);
	expect(app.slack.as('grace').modal()).toBeNull();
	await app.slack.invite('#secret', 'grace');
	await pressForged(app, 'grace', dm, answerIdIn(app, post));
	const modal = await app.slack.as('grace').waitForModal((one) => one.title() === 'Question');
	expect(modal.text()).toContain('Our budget is a secret of this channel.');
});

it('works where a direct message watches the session, whoever answered in another channel', async () => {
	const app = await forCase(handOverApp());
	const id = app.session({ name: 'Book a flight' });
	await app.command(`/session watch ${id}`, 'grace', 'dm');
	await app.command(`/session watch ${id}`, 'ada', '#secret');
	app.ask(id, [FLIGHT], '');
	await app.until(() => app.thread(id, 'dm', 'grace')[0] && app.thread(id, '#secret')[0]);
	await adaAnswers(app, id, '#secret');
	const own = await app.until(() => app.dms('grace').find((one) => one.buttons().includes('Show question')));
	await own.press('Show question');
	const modal = await app.slack.as('grace').waitForModal((one) => one.title() === 'Question');
	expect(modal.text()).toContain('LH 1173');
});

it('goes by the list of allowed channels in the channel itself', async () => {
	const app = await forCase(handOverApp({ ALLOWED_CHANNELS: 'C0AGENTS' }));
	const { dm, post } = await handedIn(app, '#agents');
	await dm.press('LH 1173');
	await app.until(() => post.buttons().includes('Show question'));
	expect(dm.buttons()).toEqual([]);
	await app.press(post, 'grace', 'Show question');
	const modal = await app.slack.as('grace').waitForModal((one) => one.title() === 'Question');
	expect(modal.text()).not.toContain(whatHappened('channel_not_allowed'));
});
