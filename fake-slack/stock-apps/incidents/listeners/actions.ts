import type { App, BlockAction, ButtonAction, ExternalSelectAction } from '@slack/bolt';
import { type Draft, detailsModal, home, incidentMessage, incidentMetadata, withAdvice } from '../blocks.ts';
import { countOpened } from '../incidents.ts';

export function register(app: App): void {
	app.action('share_usage', async ({ ack, respond }) => {
		await ack();
		await respond({ response_type: 'in_channel', replace_original: false, text: 'Incidents: type /incident' });
	});

	app.action('shorten_usage', async ({ ack, respond }) => {
		await ack();
		await respond({ replace_original: true, text: 'Just type it.' });
	});

	app.action('dismiss_usage', async ({ ack, respond }) => {
		await ack();
		await respond({ delete_original: true });
	});

	app.action<BlockAction>('add_details', async ({ ack, body, client }) => {
		await ack();
		if (!body.view) return;
		const { channel } = JSON.parse(body.view.private_metadata) as Draft;
		await client.views.push({ trigger_id: body.trigger_id, view: detailsModal(channel) });
	});

	app.action<BlockAction>('show_advice', async ({ ack, body, client }) => {
		await ack();
		if (!body.view) return;
		const draft = JSON.parse(body.view.private_metadata) as Draft;
		await client.views.update({ view_id: body.view.id, hash: body.view.hash, view: withAdvice(draft) });
	});

	app.action<BlockAction<ButtonAction>>('resolve', async ({ ack, body, action, client }) => {
		await ack();
		if (!body.channel || !body.message) return;
		const text = `${action.value ?? ''} (resolved by <@${body.user.id}>)`;
		await client.chat.update({
			channel: body.channel.id,
			ts: body.message.ts,
			text,
			blocks: incidentMessage(text, 'resolved'),
			metadata: incidentMetadata('resolved'),
		});
	});

	app.action<BlockAction>('withdraw', async ({ ack, body, client }) => {
		await ack();
		if (!body.channel || !body.message) return;
		await client.chat.delete({ channel: body.channel.id, ts: body.message.ts });
	});

	app.action<BlockAction<ExternalSelectAction>>(
		{ type: 'block_actions', action_id: 'service' },
		async ({ ack, body, action, say }) => {
			await ack();
			// In the modal the submission carries the choice.
			if (!body.message || !action.selected_option || !say) return;
			await say({ text: `Moved to ${action.selected_option.value}`, thread_ts: body.message.ts });
		},
	);

	app.action<BlockAction>('refresh_home', async ({ ack, body, client }) => {
		await ack();
		if (!body.view) return;
		await client.views.publish({
			user_id: body.user.id,
			hash: body.view.hash,
			view: home(body.user.id, countOpened()),
		});
	});
}
