import { z } from 'zod';
import type { GoneReason } from '../../watches/ports.ts';
import type { Listen } from '../listen.ts';

const inChannel = z.object({ channel: z.string() });

/** Slack's words for a channel that takes no more posts of ours; of a removed bot it tells by `…_left`. */
const EVENTS: Readonly<Record<string, GoneReason>> = {
	channel_archive: 'channelArchived',
	group_archive: 'channelArchived',
	channel_deleted: 'channelGone',
	group_deleted: 'channelGone',
	channel_left: 'botRemoved',
	group_left: 'botRemoved',
};

/** Ends the watches of channels that are gone, and tells their creators. */
export function registerChannelEvents(
	listen: Listen,
	{ channelGone }: { channelGone: (teamId: string, channelId: string, reason: GoneReason) => Promise<void> },
): void {
	for (const [name, reason] of Object.entries(EVENTS)) {
		listen.event(name, async (event, teamId) => {
			const parsed = inChannel.safeParse(event);
			if (parsed.success) await channelGone(teamId, parsed.data.channel, reason);
		});
	}
}
