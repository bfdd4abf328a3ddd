import type { App } from '@slack/bolt';
import { incidentModal, usage } from '../blocks.ts';
import { countOpened } from '../incidents.ts';

export function register(app: App): void {
	app.command('/incident', async ({ command, ack, respond, client }) => {
		await ack();
		if (command.text === '') {
			await respond({ text: 'Type /incident and what happened.', blocks: usage() });
			return;
		}
		await client.views.open({
			trigger_id: command.trigger_id,
			view: incidentModal({ channel: command.channel_id, details: '' }, command.text),
		});
	});

	app.command('/incidents', async ({ ack }) => {
		await ack({ response_type: 'in_channel', text: `Incidents so far: ${countOpened()}` });
	});
}
