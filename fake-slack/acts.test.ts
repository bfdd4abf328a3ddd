import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningApp, startBoltApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
let running: RunningApp;
const ada = { user: 'U0ADA', window: 'main' };
const grace = { user: 'U0GRACE', window: 'main' };

beforeEach(async () => {
	slack = await createFakeSlack();
	running = await startBoltApp(slack, 'socket', (app) => {
		app.command('/demo', async ({ ack, client, body }) => {
			await ack();
			await client.views.open({ trigger_id: body.trigger_id, view: inputModal() as never });
		});
		app.view(/.*/, async ({ ack }) => ack());
	});
});
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const texts = (person: string, channel: string) =>
	slack
		.as(person)
		.messages(channel)
		.map((message) => message.text());

it('lets a page do what a person does, with that person’s modals alone', async () => {
	const command = { do: 'command', channel: '#agents', line: '/demo demo' } as const;
	expect(await slack.perform(ada, command)).toEqual({ ok: true, error: null });
	const { id } = await slack.as('ada').waitForModal();
	expect(await slack.perform(ada, { do: 'submit' })).toEqual({ outcome: 'fieldErrors' });
	const fill = { do: 'fillInModal', viewId: id, blockId: 'answer', actionId: 'value', held: 'yes' } as const;
	await expect(slack.perform(grace, fill)).rejects.toThrow('This modal is no longer open.');
	await slack.perform(ada, fill);
	expect(await slack.perform(ada, { do: 'submit' })).toEqual({ outcome: 'closed' });
	expect(slack.traffic.deliveries('view_submission')).toHaveLength(1);
});

it('shows a message from Slack itself to one person, who alone can dismiss it', async () => {
	slack.whisper(ada, { channel: 'C0AGENTS' }, 'psst');
	const { ts } = await callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'for all' });
	expect([texts('ada', '#agents'), texts('grace', '#agents')]).toEqual([['psst', 'for all'], ['for all']]);
	const whispered = { channel: 'C0AGENTS', ts: slack.state.messages[0]?.ts ?? '' };
	expect(() => slack.dismiss(grace, whispered)).toThrow('Only a message for you alone');
	expect(() => slack.dismiss(ada, { channel: 'C0AGENTS', ts: String(ts) })).toThrow('Only a message for you alone');
	slack.dismiss(ada, whispered);
	expect(() => slack.dismiss(ada, whispered)).toThrow('no longer exists');
	expect(texts('ada', '#agents')).toEqual(['for all']);
});

it('forgets views for the app too, and the windows that held them', async () => {
	const opened = await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view: inputModal() });
	const { id } = opened.view as { id: string };
	slack.forgetViews([id]);
	expect(slack.state.windows).toEqual([]);
	expect(await callSlack(slack, 'views.update', { view_id: id, view: inputModal() })).toMatchObject({
		ok: false,
		error: 'not_found',
	});
});
