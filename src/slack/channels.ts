import type { WebClient } from '@slack/web-api';
import type { ChannelList } from '../watches/channel-guard.ts';
import { slackErrorCode, slackRetryAfter } from './clients.ts';

/** Whether a channel may hold watches, and why not. */
export type ChannelVerdict =
	| { readonly ok: true }
	| {
			readonly ok: false;
			readonly reason:
				| 'not_member'
				| 'archived'
				| 'external'
				| 'unclear_sharing'
				| 'direct'
				| 'no_channel'
				| 'could_not_check';
	  };

/** What Slack says of who else reads a channel (docs.slack.dev, conversation object). */
interface SharingFlags {
	readonly is_shared?: boolean;
	readonly is_ext_shared?: boolean;
	readonly is_pending_ext_shared?: boolean;
	readonly is_org_shared?: boolean;
}

/**
 * Who reads a channel beside the app's own workspace: nobody, other workspaces of the same organisation (Enterprise Grid),
 * or another organisation, also one that is only invited. Flags that are missing or contradict each other are unclear.
 */
export function sharingOf(flags: SharingFlags): 'none' | 'organisation' | 'external' | 'unclear' {
	if (isExternal(flags)) return 'external';
	if (flags.is_ext_shared !== false || flags.is_pending_ext_shared !== false) return 'unclear';
	if (flags.is_shared === false) return flags.is_org_shared === true ? 'unclear' : 'none';
	return flags.is_shared === true && flags.is_org_shared === true ? 'organisation' : 'unclear';
}

function isExternal({ is_ext_shared: isShared, is_pending_ext_shared: isPending }: SharingFlags): boolean {
	return isShared === true || isPending === true;
}

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
				const sharing = sharingOf(channel);
				if (sharing === 'external' && !allowExternal) return { ok: false, reason: 'external' };
				if (sharing === 'unclear' && !allowExternal) return { ok: false, reason: 'unclear_sharing' };
				return channel.is_member === true ? { ok: true } : { ok: false, reason: 'not_member' };
			} catch (error) {
				// A private channel that the bot is not in, or somebody else's talk, cannot be seen at all.
				const code = slackErrorCode(error);
				// The only kind of conversation that the manifest asks no scope for.
				if (code === 'missing_scope') return { ok: false, reason: 'direct' };
				return { ok: false, reason: code === 'channel_not_found' ? 'not_member' : 'could_not_check' };
			}
		},

		/** Whether Slack says that nobody but workspaces of the own organisation shares this channel. */
		async isSharedInsideOnly(channelId: string): Promise<boolean> {
			try {
				const { channel } = await client.conversations.info({ channel: channelId });
				return channel !== undefined && sharingOf(channel) === 'organisation';
			} catch {
				return false;
			}
		},
	};
}

export type Channels = ReturnType<typeof createChannels>;

/** Slack advises no more (docs.slack.dev, users.conversations). */
const PAGE_SIZE = 200;

/** The team channels that the bot is in, by `users.conversations`: `conversations.info` for each would exceed its rate. */
export function createChannelList({ client }: { client: WebClient }): ChannelList {
	return {
		async page(cursor) {
			try {
				const { channels, response_metadata: page } = await client.users.conversations({
					types: 'public_channel,private_channel',
					exclude_archived: true,
					limit: PAGE_SIZE,
					...(cursor !== null && { cursor }),
				});
				if (channels === undefined) return { kind: 'failed', code: 'no_channels', retryAfterMs: null };
				const external = channels.flatMap((channel) =>
					channel.id !== undefined && isExternal(channel) ? [channel.id] : [],
				);
				return { kind: 'page', external, next: page?.next_cursor || null };
			} catch (error) {
				const seconds = slackRetryAfter(error);
				const retryAfterMs = seconds === null ? null : seconds * 1_000;
				return {
					kind: 'failed',
					code: seconds === null ? (slackErrorCode(error) ?? 'no_answer') : 'ratelimited',
					retryAfterMs,
				};
			}
		},
	};
}
