import { z } from 'zod';
import type { GoneReason } from '../../watches/announcements.ts';
import type { ChannelEnd, ChannelKey } from '../../watches/watch.ts';
import type { Channels } from '../channels.ts';
import type { HandlerContext } from './context.ts';

const CHANNEL_EVENT = z.object({ channel: z.string() });
const ID_CHANGED_EVENT = z.object({ old_channel_id: z.string() });

/** Events after which the bot cannot post in a channel; `…_left` means that the bot was removed. */
const EVENTS: Readonly<Record<string, GoneReason>> = {
	channel_archive: 'channelArchived',
	group_archive: 'channelArchived',
	channel_deleted: 'channelGone',
	group_deleted: 'channelGone',
	channel_left: 'botRemoved',
	group_left: 'botRemoved',
};

interface Dependencies {
	readonly watching: {
		channelEnded(channel: ChannelKey, reason: ChannelEnd): Promise<void>;
	};
	readonly channels: Pick<Channels, 'isSharedInsideOnly'>;
	/** Whether channels shared with other organisations may hold watches. */
	readonly allowExternal: boolean;
}

/** Ends the watches of channels that are gone or shared with another organisation, and tells their creators. */
export function registerChannelEvents(
	{ listen }: HandlerContext,
	{ watching, channels, allowExternal }: Dependencies,
): void {
	for (const [name, reason] of Object.entries(EVENTS)) {
		listen.event(name, async (event, teamId) => {
			const { data } = CHANNEL_EVENT.safeParse(event);
			if (data !== undefined) await watching.channelEnded({ teamId, channelId: data.channel }, reason);
		});
	}

	listen.event('channel_shared', async (event, teamId) => {
		const { data } = CHANNEL_EVENT.safeParse(event);
		if (data === undefined || allowExternal) return;
		// Slack may also send this event for sharing inside our own organisation.
		const channel = { teamId, channelId: data.channel };
		if (!(await channels.isSharedInsideOnly(channel.channelId))) await watching.channelEnded(channel, 'channelShared');
	});

	// Slack sends this when a private channel becomes shared with another organisation. The watches have its old id.
	listen.event('channel_id_changed', async (event, teamId) => {
		const channelId = ID_CHANGED_EVENT.safeParse(event).data?.old_channel_id;
		if (channelId !== undefined && !allowExternal) await watching.channelEnded({ teamId, channelId }, 'channelShared');
	});
}
