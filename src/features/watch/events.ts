import { z } from 'zod';
import type { GoneReason } from '../../posts/post.ts';
import { ACTIONS } from '../../slack/ids.ts';
import type { HandlerContext } from '../../slack/listen.ts';
import { forAnybody, NOTHING_TO_DO } from '../../slack/request.ts';
import type { Endings } from './endings.ts';
import { helpMessage } from './view.ts';

const CHANNEL_EVENT = z.object({ channel: z.string() });

/** Events after which the bot cannot post in a channel; `…_left` means that the bot was removed. */
const EVENTS: Readonly<Record<string, GoneReason>> = {
	channel_archive: 'channelArchived',
	group_archive: 'channelArchived',
	channel_deleted: 'channelGone',
	group_deleted: 'channelGone',
	channel_left: 'botRemoved',
	group_left: 'botRemoved',
};

/** Links open in the browser, but Slack also reports the press and expects an acknowledgement. */
const LINKS = [ACTIONS.dashboard, ACTIONS.openFile, ACTIONS.openScreenshot];

const DIRECT_MESSAGE_EVENT = z.object({
	channel: z.string(),
	channel_type: z.literal('im'),
	/** Edits, joins and our own posts have other subtypes. */
	subtype: z.literal(['file_share', 'thread_broadcast']).nullish(),
});

/** Ends the watches of channels that are gone or shared with another organisation, and tells their creators. */
export function registerChannelEvents(core: HandlerContext & { watching: { endings: Endings } }): void {
	const { listen, channels, config } = core;
	const { endings } = core.watching;
	for (const [name, reason] of Object.entries(EVENTS)) {
		listen.event(name, async (event, teamId) => {
			const { data } = CHANNEL_EVENT.safeParse(event);
			if (data !== undefined) await endings.endChannel({ teamId, channelId: data.channel }, reason);
		});
	}

	listen.event('channel_shared', async (event, teamId) => {
		const { data } = CHANNEL_EVENT.safeParse(event);
		if (data === undefined || config.ALLOW_EXTERNAL) return;
		// Slack may also send this event for sharing inside our own organisation.
		const channel = { teamId, channelId: data.channel };
		if (!(await channels.isSharedInsideOnly(channel.channelId))) await endings.endChannel(channel, 'channelShared');
	});

	// Slack sends this when a private channel becomes shared with another organisation. The watches have its old id.
	listen.event('channel_id_changed', async (event, teamId) => {
		const channelId = z.object({ old_channel_id: z.string() }).safeParse(event).data?.old_channel_id;
		if (channelId !== undefined && !config.ALLOW_EXTERNAL)
			await endings.endChannel({ teamId, channelId }, 'channelShared');
	});
}

/** Handles what no other handler does: links, *More* of the help, and messages in the app's DM. */
export function registerFallbacks({ listen, personReads, reply, clients }: HandlerContext): void {
	listen.action(LINKS, () => NOTHING_TO_DO);

	listen.action(ACTIONS.moreHelp, (request) =>
		forAnybody(async () => {
			const help = helpMessage('asked', '', true);
			// In a direct message everybody's help is a message of its own.
			const isReplaced = request.messageTs === null && (await reply.inPlace(request, help));
			if (!isReplaced) await reply.toPerson(request, help);
		}),
	);

	// The reply to every direct message is the help.
	listen.message('message', (request, event) => {
		const { data } = DIRECT_MESSAGE_EVENT.safeParse(event);
		if (data === undefined) return null;
		return forAnybody(async () => {
			// Whoever writes so fast has just got the same help.
			if ((await personReads.turn(request)) !== null) return;
			await clients.background.chat.postMessage({ channel: data.channel, ...helpMessage('asked') });
		});
	});
}
