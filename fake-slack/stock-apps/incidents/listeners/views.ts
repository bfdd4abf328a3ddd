import type { App } from '@slack/bolt';
import { confirmModal, type Draft, incidentModal } from '../blocks.ts';
import { openIncident } from '../incidents.ts';

export function register(app: App): void {
	app.view('incident', async ({ ack, view, client }) => {
		const { values } = view.state;
		const title = values.title?.text?.value ?? '';
		if (title.length < 5) {
			await ack({ response_action: 'errors', errors: { title: 'Say a little more.' } });
			return;
		}
		const { channel, details } = JSON.parse(view.private_metadata) as Draft;
		const service = values.service?.service?.selected_option?.value;
		const text = [title, service && `in ${service}`, details && `(${details})`].filter(Boolean).join(' ');
		if (values.severity?.choice?.selected_option?.value === 'critical') {
			await ack({ response_action: 'update', view: confirmModal({ channel, text }) });
			return;
		}
		await ack();
		await openIncident(client, { channel, text });
	});

	app.view('confirm', async ({ ack, view, client }) => {
		await ack({ response_action: 'clear' });
		await openIncident(client, JSON.parse(view.private_metadata) as { channel: string; text: string });
	});

	app.view('details', async ({ ack, view, client }) => {
		await ack();
		const details = view.state.values.details?.text?.value ?? '';
		const channel = view.private_metadata;
		await client.views.update({
			view_id: view.root_view_id ?? '',
			view: incidentModal({ channel, details }),
		});
	});

	app.view({ callback_id: 'incident', type: 'view_closed' }, async ({ ack, body, client }) => {
		await ack();
		await client.chat.postMessage({ channel: body.user.id, text: 'Your draft is discarded.' });
	});
}
