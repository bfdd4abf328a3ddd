import type { App, GlobalShortcut, MessageShortcut } from '@slack/bolt';
import { incidentModal } from '../blocks.ts';

export function register(app: App): void {
	app.shortcut<GlobalShortcut>('open_incident', async ({ shortcut, ack, client }) => {
		await ack();
		// A global shortcut has no channel: the person gets the incident in a direct message.
		await client.views.open({
			trigger_id: shortcut.trigger_id,
			view: incidentModal({ channel: shortcut.user.id, details: '' }),
		});
	});

	app.shortcut<MessageShortcut>('report_message', async ({ shortcut, ack, client, respond }) => {
		await ack();
		await client.views.open({
			trigger_id: shortcut.trigger_id,
			view: incidentModal({ channel: shortcut.channel.id, details: '' }, shortcut.message.text ?? ''),
		});
		await respond({ text: 'Thank you for reporting this.', replace_original: false });
	});
}
