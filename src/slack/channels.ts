import type { WebClient } from '@slack/web-api';
import { slackErrorCode, slackFailure } from './clients.ts';
import type { DirectChannelOf } from './memberships.ts';
import type { PersonRequest } from './request.ts';

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

/** Who else reads a channel (docs.slack.dev, conversation object). */
interface SharingFlags {
	readonly is_shared?: boolean;
	readonly is_ext_shared?: boolean;
	readonly is_pending_ext_shared?: boolean;
	readonly is_org_shared?: boolean;
}

/**
 * Who reads a channel besides the app's workspace: nobody, other workspaces of the same organisation (Enterprise Grid), or
 * another organisation (joined or invited). Missing or contradictory flags are `unclear`.
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
 * Checks whether a channel may hold watches. The bot must be a member, because then a member of the channel has invited it. A
 * channel shared with other organisations needs `allowExternal`, because everybody in it reads the card.
 */
export function createChannels({
	client,
	directChannelOf,
	allowExternal,
}: {
	client: WebClient;
	directChannelOf: DirectChannelOf;
	allowExternal: boolean;
}) {
	return {
		async mayWatch({ channelId, person }: Pick<PersonRequest, 'channelId' | 'person'>): Promise<ChannelVerdict> {
			if (channelId === null) return { ok: false, reason: 'no_channel' };
			try {
				// Opening the bot's own direct message returns its id and needs no further scope.
				if (channelId.startsWith('D')) {
					const isOurs = (await directChannelOf(person.userId)) === channelId;
					return isOurs ? { ok: true } : { ok: false, reason: 'direct' };
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
				const code = slackErrorCode(error);
				// Direct messages between people are the only conversations for which the manifest requests no scope.
				if (code === 'missing_scope') return { ok: false, reason: 'direct' };
				// A private channel without the bot looks like no channel.
				return { ok: false, reason: code === 'channel_not_found' ? 'not_member' : 'could_not_check' };
			}
		},

		/** Whether only workspaces of the own organisation share this channel; false when Slack does not say so. */
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

/** Slack recommends no more (docs.slack.dev, users.conversations). */
const PAGE_SIZE = 200;

/** One page of the team channels that the bot is in. */
type ChannelPage =
	/** `external`: channels that another organisation reads or is invited to. `next`: null on the last page. */
	| { readonly kind: 'page'; readonly external: readonly string[]; readonly next: string | null }
	/** `code`: Slack's code, or that of the failed call. `retryAfterMs`: the wait that Slack asks for, or null. */
	| { readonly kind: 'failed'; readonly code: string; readonly retryAfterMs: number | null };

/**
 * Lists the bot's channels by `users.conversations`: `conversations.info` for each would exceed Slack's rate limit. The
 * result does not throw. `cursor`: null for the first page.
 */
export function createChannelList({ client }: { client: WebClient }) {
	return async (cursor: string | null): Promise<ChannelPage> => {
		try {
			const { channels, response_metadata: page } = await client.users.conversations({
				types: 'public_channel,private_channel',
				exclude_archived: true,
				limit: PAGE_SIZE,
				...(cursor !== null && { cursor }),
			});
			if (channels === undefined) return { kind: 'failed', code: 'no_channels', retryAfterMs: null };
			const external = channels.filter(isExternal).flatMap(({ id }) => id ?? []);
			return { kind: 'page', external, next: page?.next_cursor || null };
		} catch (error) {
			return { kind: 'failed', ...slackFailure(error) };
		}
	};
}
