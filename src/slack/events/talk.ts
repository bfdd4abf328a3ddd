import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { helpMessage } from '../blocks/messages.ts';
import type { Listen } from '../listen.ts';

const directMessage = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	user: z.string(),
	/** Edits, joins, our own posts and the like carry others. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
	bot_id: z.null().optional(),
});

/** Somebody writes to the app in a DM: whatever it was, they learn what works. */
export function registerTalk(listen: Listen, { client }: { client: WebClient }): void {
	listen.event('message', async (event) => {
		const parsed = directMessage.safeParse(event);
		if (!parsed.success) return;
		await client.chat.postMessage({ channel: parsed.data.channel, ...helpMessage('asked') });
	});
}
