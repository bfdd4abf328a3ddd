import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { helpMessage } from '../blocks/messages.ts';
import { ACTIONS } from '../ids.ts';
import { forAnybody, NOTHING_TO_DO } from '../task.ts';
import type { HandlerContext } from './context.ts';

/** Links open in the browser; Slack reports the press all the same and wants an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

const directMessage = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	user: z.string(),
	ts: z.string().default(''),
	/** Edits, joins, our own posts and the like carry others. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
	bot_id: z.null().optional(),
});

/** What no other handler takes: links, buttons that another version of Handraise made, messages in the app's DM. */
export function registerFallbacks({ listen, personReads, reply }: HandlerContext, background: WebClient): void {
	for (const id of LINKS) listen.action(id, () => NOTHING_TO_DO);

	listen.otherActions(new Set(Object.values(ACTIONS)), (request, actionId) =>
		forAnybody(async () => {
			request.log.warn({ action: actionId.slice(0, 60) }, 'an unknown button was pressed');
			await reply.failed(request, 'button_outdated');
		}),
	);

	// Whoever writes to the app and whatever it is, they get help and nothing else.
	listen.message('message', (event) => {
		const parsed = directMessage.safeParse(event);
		if (!parsed.success) return null;
		const { channel: channelId, user: userId, ts } = parsed.data;
		return {
			written: { userId, claimedTeamId: null, channelId, ts, threadTs: null },
			task: (request) =>
				forAnybody(async () => {
					// The same help stands above, many times.
					if ((await personReads.turn(request)) !== null) return;
					await background.chat.postMessage({ channel: channelId, ...helpMessage('asked') });
				}),
		};
	});
}
