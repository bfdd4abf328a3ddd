import type { App } from '@slack/bolt';
import { home, statusOf } from '../blocks.ts';
import { countOpened } from '../incidents.ts';

export function register(app: App): void {
	app.event('app_home_opened', async ({ client, event }) => {
		// Ignore the `app_home_opened` event for anything but the Home tab
		if (event.tab !== 'home') return;
		await client.views.publish({ user_id: event.user, view: home(event.user, countOpened()) });
	});

	app.event('app_mention', async ({ event, say }) => {
		await say({ text: `You called, <@${event.user}>?`, thread_ts: event.thread_ts ?? event.ts });
	});

	app.message('hello', async ({ message, say }) => {
		if (message.subtype !== undefined) return;
		await say(`Hello, <@${message.user}>`);
	});

	app.event('message_metadata_posted', async ({ event, client }) => {
		const text = `Logged as ${statusOf(event.metadata)}`;
		await client.chat.postMessage({ channel: event.channel_id, thread_ts: event.message_ts, text });
	});

	app.event('message_metadata_updated', async ({ event, client }) => {
		const before = statusOf(event.previous_metadata);
		const after = statusOf(event.metadata);
		const text = `From ${before} to ${after}`;
		await client.chat.postMessage({ channel: event.channel_id, thread_ts: event.message_ts, text });
	});

	app.event('message_metadata_deleted', async ({ event, client }) => {
		const before = statusOf(event.previous_metadata);
		await client.chat.postMessage({ channel: event.channel_id, text: `An incident that was ${before} is withdrawn.` });
	});
}
