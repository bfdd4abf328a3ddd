import { z } from 'zod';
import type { GoneReason } from '../../watches/announcer.ts';
import type { ChannelKey } from '../../watches/watch.ts';
import type { Channels } from '../channels.ts';
import type { HandlerContext } from './context.ts';

const inChannel = z.object({ channel: z.string() });
const idChanged = z.object({ old_channel_id: z.string() });

/** Slack's words for a channel that takes no more posts of ours; of a removed bot it tells by `…_left`. */
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
		channelGone(channel: ChannelKey, reason: GoneReason): Promise<void>;
		channelShared(channelId: string): Promise<void>;
	};
	readonly channels: Pick<Channels, 'isSharedInsideOnly'>;
	/** Whether channels shared with other organisations may hold watches. */
	readonly allowExternal: boolean;
}

/** Ends the watches of channels that are gone or that another organisation reads, and tells their creators. */
export function registerChannelEvents(
	{ listen }: HandlerContext,
	{ watching, channels, allowExternal }: Dependencies,
): void {
	for (const [name, reason] of Object.entries(EVENTS)) {
		listen.event(name, async (event, teamId) => {
			const parsed = inChannel.safeParse(event);
			if (parsed.success) await watching.channelGone({ teamId, channelId: parsed.data.channel }, reason);
		});
	}

	listen.event('channel_shared', async (event) => {
		const parsed = inChannel.safeParse(event);
		if (!parsed.success || allowExternal) return;
		// The event is for other organisations, and counts unless Slack says that this is sharing within our own.
		if (!(await channels.isSharedInsideOnly(parsed.data.channel))) await watching.channelShared(parsed.data.channel);
	});

	// Sent when somebody begins to share a private channel with another organisation: the watches are under its old id.
	listen.event('channel_id_changed', async (event) => {
		const parsed = idChanged.safeParse(event);
		if (parsed.success && !allowExternal) await watching.channelShared(parsed.data.old_channel_id);
	});
}
