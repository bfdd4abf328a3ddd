import { z } from 'zod';
import type { SessionService } from '../../service/session-service.ts';
import type { Endings } from '../../sessions/endings.ts';
import { createPoller, type PollerOptions } from '../../sessions/poller.ts';
import { createSubscriptions, type Hooks } from '../../sessions/subscribe.ts';
import type { HandlerContext } from '../../slack/context.ts';
import type { GoneReason } from '../../surfaces/post.ts';
import { createWatchCommands, type Discoveries } from './watch-commands.ts';

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

/** Reads watched sessions when they are due, and ends watches of channels that are gone. Returns the commands. */
export function registerWatch(
	core: Parameters<typeof createWatchCommands>[0] &
		Parameters<typeof createPoller>[0] &
		Parameters<typeof createSubscriptions>[0],
	{ endings, expectPost }: Pick<Hooks, 'expectPost'> & { endings: Endings },
	discoveries: Discoveries,
	{ budget, health, ourAnswers }: SessionService & Pick<PollerOptions, 'ourAnswers'>,
) {
	const reading = { budget: budget.background, ourAnswers, list: discoveries.listKnowledge };
	const poller = createPoller(core, { ...reading, health });
	const { withGroups } = core.accessPolicy;
	const subscriptions = createSubscriptions(core, { ...reading, expectPost, withGroups });
	const commands = createWatchCommands(core, { subscriptions, endings, expectPost, discoveries });
	registerChannelEvents(core, endings);
	return { ...commands, start: poller.start, stop: poller.stop };
}

/** Ends the watches of channels that are gone or shared with another organisation, and tells their creators. */
function registerChannelEvents({ listen, channels, config }: HandlerContext, { endChannel }: Endings): void {
	for (const [name, reason] of Object.entries(EVENTS)) {
		listen.event(name, async (event, teamId) => {
			const { data } = CHANNEL_EVENT.safeParse(event);
			if (data !== undefined) await endChannel({ teamId, channelId: data.channel }, reason);
		});
	}

	listen.event('channel_shared', async (event, teamId) => {
		const { data } = CHANNEL_EVENT.safeParse(event);
		if (data === undefined || config.ALLOW_EXTERNAL) return;
		// Slack may also send this event for sharing inside our own organisation.
		const channel = { teamId, channelId: data.channel };
		if (!(await channels.isSharedInsideOnly(channel.channelId))) await endChannel(channel, 'channelShared');
	});

	// Slack sends this when a private channel becomes shared with another organisation. The watches have its old id.
	listen.event('channel_id_changed', async (event, teamId) => {
		const channelId = z.object({ old_channel_id: z.string() }).safeParse(event).data?.old_channel_id;
		if (channelId !== undefined && !config.ALLOW_EXTERNAL) await endChannel({ teamId, channelId }, 'channelShared');
	});
}
