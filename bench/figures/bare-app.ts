import { App, HTTPReceiver, SocketModeReceiver } from '@slack/bolt';
import type { ModalView } from '@slack/types';

/** The baseline: a bare Bolt app in its own process that acknowledges everything and shows a static view. */
const { SLACK_BOT_TOKEN = '', SLACK_APP_TOKEN, SLACK_SIGNING_SECRET = '', SLACK_API_URL = '', PORT } = process.env;

const form: ModalView = {
	type: 'modal',
	callback_id: 'static',
	title: { type: 'plain_text', text: 'Session' },
	submit: { type: 'plain_text', text: 'Send' },
	blocks: [
		{ type: 'section', text: { type: 'mrkdwn', text: 'One question.' } },
		{
			type: 'input',
			block_id: 'answer',
			label: { type: 'plain_text', text: 'Answer' },
			element: { type: 'plain_text_input', action_id: 'text' },
		},
	],
};
const thanks: ModalView = {
	type: 'modal',
	callback_id: 'thanks',
	title: { type: 'plain_text', text: 'Session' },
	blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'Thanks.' } }],
};

const clientOptions = () => ({ slackApiUrl: SLACK_API_URL });
const app = new App({
	token: SLACK_BOT_TOKEN,
	receiver:
		SLACK_APP_TOKEN === undefined
			? new HTTPReceiver({ signingSecret: SLACK_SIGNING_SECRET })
			: new SocketModeReceiver({ appToken: SLACK_APP_TOKEN, installerOptions: { clientOptions: clientOptions() } }),
	clientOptions: clientOptions(),
	deferInitialization: true,
});
app.command('/session', async ({ ack, body, client }) => {
	await ack();
	await client.views.open({ trigger_id: body.trigger_id, view: form });
});
app.view({ callback_id: 'static', type: 'view_submission' }, async ({ ack }) => {
	// Bolt types the argument for submissions and closings at once, and no value satisfies both.
	await (ack as (answer: unknown) => Promise<void>)({ response_action: 'update', view: thanks });
});
app.action(/(?:)/, ({ ack }) => ack());
await app.init();
await app.start(Number(PORT));
