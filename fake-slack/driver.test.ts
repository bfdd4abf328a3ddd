import type { App } from '@slack/bolt';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp, TRANSPORTS } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';

let slack: FakeSlack;
let running: RunningApp | undefined;

afterEach(async () => {
	await running?.stop();
	running = undefined;
	await slack.close();
});

const view = (title: string, initial?: string) => ({
	type: 'modal' as const,
	callback_id: 'ask',
	title: { type: 'plain_text' as const, text: title },
	submit: { type: 'plain_text' as const, text: 'Send' },
	blocks: [
		{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: 'What *next*, <@U0GRACE>? &lt;now&gt;' } },
		{
			type: 'input' as const,
			block_id: 'answer',
			label: { type: 'plain_text' as const, text: 'Your answer' },
			element: {
				type: 'plain_text_input' as const,
				action_id: 'value',
				...(initial === undefined ? {} : { initial_value: initial }),
			},
		},
		{
			type: 'actions' as const,
			block_id: 'more',
			elements: [
				{
					type: 'button' as const,
					action_id: 'refresh',
					text: { type: 'plain_text' as const, text: 'Refresh' },
				},
			],
		},
	],
});

function register(app: App): void {
	app.command('/demo', async ({ ack, client, body }) => {
		await ack();
		await client.views.open({ trigger_id: body.trigger_id, view: view('First') });
	});
	app.action('refresh', async ({ ack, client, body }) => {
		await ack();
		if (body.type !== 'block_actions' || !body.view) return;
		await client.views.update({ view_id: body.view.id, hash: body.view.hash, view: view('Second', 'ignored') });
	});
	app.view('ask', async ({ ack, view: submitted, client }) => {
		const typed = submitted.state.values.answer?.value?.value ?? '';
		if (typed === 'no') {
			await ack({ response_action: 'errors', errors: { answer: 'Say more.' } });
			return;
		}
		await ack();
		await client.chat.postMessage({ channel: '#agents', text: `They said: ${typed}` });
	});
}

describe.each(TRANSPORTS)('a person in front of Slack, over %s', (transport) => {
	it('types a command, fills the modal, reads the field error, submits and sees the message', async () => {
		slack = await createFakeSlack();
		running = await startBoltApp(slack, transport, register);
		const ada = slack.as('ada');
		expect(await ada.command('#agents', '/demo demo')).toEqual({ ok: true, error: null });
		const modal = await ada.waitForModal('What *next*, @grace? <now>');
		expect(modal.fields()).toMatchObject([{ label: 'Your answer', kind: 'plain_text_input', value: null }]);
		expect(await modal.submit()).toMatchObject({
			outcome: 'fieldErrors',
			errors: { 'Your answer': 'Please complete this required field.' },
		});
		expect(slack.traffic.deliveries('view_submission')).toHaveLength(0);
		await modal.fill('Your answer', 'no');
		expect(await modal.submit()).toMatchObject({ outcome: 'fieldErrors', errors: { 'Your answer': 'Say more.' } });
		await modal.press('Refresh');
		await ada.waitForModal((one) => one.title() === 'Second');
		expect(modal.value('Your answer')).toBe('no');
		await modal.fill('Your answer', 'go on');
		expect((await modal.submit()).outcome).toBe('closed');
		expect(ada.modal()).toBeNull();
		const message = await slack.as('grace').waitForMessage('#agents', 'They said: go on');
		expect(message.author()).toBe('sampleapp');
		expect(slack.violations()).toEqual([]);
	});
});
