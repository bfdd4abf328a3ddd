import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { helpMessage } from '../blocks/commands.ts';
import { ACTIONS } from '../ids.ts';
import { forAnybody, NOTHING_TO_DO } from '../task.ts';
import type { HandlerContext } from './context.ts';

/** Links open in the browser, but Slack also reports the press and expects an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

const DIRECT_MESSAGE_EVENT = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	user: z.string(),
	ts: z.string().default(''),
	/** Edits, joins and our own posts have other subtypes. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
	bot_id: z.null().optional(),
});

/** Handles what no other handler does: links, buttons of other versions of Handraise, messages in the app's DM. */
export function registerFallbacks({ listen, personReads, reply }: HandlerContext, background: WebClient): void {
	for (const id of LINKS) listen.action(id, () => NOTHING_TO_DO);

	listen.otherActions(new Set(Object.values(ACTIONS)), (request, actionId) =>
		forAnybody(async () => {
			request.log.warn({ action: actionId.slice(0, 60) }, 'an unknown button was pressed');
			await reply.failed(request, 'button_outdated');
		}),
	);

	// The reply to every direct message is the help.
	listen.message('message', (event) => {
		const { data } = DIRECT_MESSAGE_EVENT.safeParse(event);
		if (data === undefined) return null;
		const { channel: channelId, user: userId, ts } = data;
		return {
			written: { userId, claimedTeamId: null, channelId, ts, threadTs: null },
			task: (request) =>
				forAnybody(async () => {
					// Whoever writes so fast has just got the same help.
					if ((await personReads.turn(request)) !== null) return;
					await background.chat.postMessage({ channel: channelId, ...helpMessage('asked') });
				}),
		};
	});
}
