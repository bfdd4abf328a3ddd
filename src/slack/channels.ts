import type { WebClient } from '@slack/web-api';
import { slackErrorCode } from './clients.ts';

/** Whether a channel may hold watches, and why not. */
export type ChannelVerdict =
	| { readonly ok: true }
	| {
			readonly ok: false;
			readonly reason: 'not_member' | 'archived' | 'external' | 'direct' | 'no_channel' | 'could_not_check';
	  };

/**
 * Looks whether cards may go into a channel: the bot has to be a member, so that somebody with a say in the channel has
 * agreed, and a channel shared with other organisations needs the operator's word, since everybody there reads the card.
 */
export function createChannels({ client, allowExternal }: { client: WebClient; allowExternal: boolean }) {
	return {
		async mayWatch(channelId: string | null, userId: string): Promise<ChannelVerdict> {
			if (channelId === null) return { ok: false, reason: 'no_channel' };
			try {
				// Whether a direct message is ours needs no scope of its own when we open it anew.
				if (channelId.startsWith('D')) {
					const { channel } = await client.conversations.open({ users: userId });
					return channel?.id === channelId ? { ok: true } : { ok: false, reason: 'direct' };
				}
				const { channel } = await client.conversations.info({ channel: channelId });
				if (channel === undefined) return { ok: false, reason: 'could_not_check' };
				if (channel.is_im === true || channel.is_mpim === true) return { ok: false, reason: 'direct' };
				if (channel.is_archived === true) return { ok: false, reason: 'archived' };
				const isShared = channel.is_ext_shared === true || channel.is_pending_ext_shared === true;
				if (isShared && !allowExternal) return { ok: false, reason: 'external' };
				return channel.is_member === true ? { ok: true } : { ok: false, reason: 'not_member' };
			} catch (error) {
				// A private channel that the bot is not in, or somebody else's talk, cannot be seen at all.
				const code = slackErrorCode(error);
				// The only kind of conversation that the manifest asks no scope for.
				if (code === 'missing_scope') return { ok: false, reason: 'direct' };
				return { ok: false, reason: code === 'channel_not_found' ? 'not_member' : 'could_not_check' };
			}
		},
	};
}

export type Channels = ReturnType<typeof createChannels>;
