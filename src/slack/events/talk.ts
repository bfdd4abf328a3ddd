import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Log } from '../../log.ts';
import { helpMessage } from '../blocks/messages.ts';
import type { Listen } from '../listen.ts';
import type { PersonReads } from '../person-reads.ts';
import { writtenRequest } from '../request.ts';
import { forAnybody } from '../task.ts';

const directMessage = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	user: z.string(),
	ts: z.string().default(''),
	/** Edits, joins, our own posts and the like carry others. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
	bot_id: z.null().optional(),
});

interface Dependencies {
	readonly client: WebClient;
	readonly personReads: PersonReads;
	/** The workspace that the app is installed in. */
	readonly teamId: string;
	readonly log: Log;
}

/** Somebody writes to the app in a DM: whoever it is and whatever it was, they learn what works, and nothing else. */
export function registerTalk(listen: Listen, { client, personReads, teamId, log }: Dependencies): void {
	listen.message('message', (event) => {
		const parsed = directMessage.safeParse(event);
		if (!parsed.success) return null;
		const { channel: channelId, user: userId, ts } = parsed.data;
		const written = { userId, claimedTeamId: null, channelId, ts, threadTs: null };
		const request = writtenRequest(written, teamId, log);
		const task = forAnybody(async () => {
			// The same help stands above, many times.
			if ((await personReads.turn(request)) !== null) return;
			await client.chat.postMessage({ channel: channelId, ...helpMessage('asked') });
		});
		return { request, task };
	});
}
