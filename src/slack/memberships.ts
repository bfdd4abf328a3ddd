import type { WebClient } from '@slack/web-api';
import { setBounded } from '../bounded-map.ts';
import { type Clock, uptimeOf } from '../clock.ts';
import { HandraiseError } from '../errors.ts';
import type { Memberships } from '../inbox/ports.ts';
import { slackFailure } from './clients.ts';

/** Slack did not tell the channels of a person. */
class MembershipsUnknownError extends HandraiseError {
	override readonly code = 'slack_unavailable';
	override readonly retryable = true;
	/** Milliseconds since the epoch; null when Slack names no time. */
	readonly retryAt: number | null;

	constructor(slackCode: string, retryAt: number | null) {
		super(`Slack did not tell the channels of a person (${slackCode})`);
		this.retryAt = retryAt;
	}
}

/** How long a person's channels are used after Slack told them. */
const MAX_AGE_MS = 5 * 60_000;
/** Enough for the people who look at their inbox within five minutes. */
const MAX_PEOPLE = 5_000;
/**
 * The most that Slack accepts; it recommends 200. Slack allows about 50 calls a minute for all people together, and with
 * 200 somebody in 300 channels would need two.
 */
const PAGE_SIZE = 999;
/** More than anybody is in; ends a list whose cursors never end. */
const MAX_PAGES = 50;

/**
 * Knows the channels of people by `users.conversations`. Of private channels Slack names only those that the bot is in,
 * and only there sessions can be watched. Simultaneous requests for one person share the calls.
 */
export function createMemberships({ client, clock }: { client: WebClient; clock: Clock }) {
	const channels = createPersonCache(clock, MAX_AGE_MS, listChannels);
	// The id of a direct message never changes.
	const directChannels = createPersonCache(clock, Number.POSITIVE_INFINITY, async (userId) => {
		const { channel } = await client.conversations.open({ users: userId });
		if (channel?.id === undefined) throw new Error('Slack returned no direct message');
		return channel.id;
	});

	async function listChannels(userId: string): Promise<ReadonlySet<string>> {
		const ids = new Set<string>();
		let cursor: string | null = null;
		for (let page = 0; page < MAX_PAGES; page++) {
			const response = await client.users.conversations({
				user: userId,
				types: 'public_channel,private_channel',
				exclude_archived: true,
				limit: PAGE_SIZE,
				...(cursor !== null && { cursor }),
			});
			for (const { id } of response.channels ?? []) if (id !== undefined) ids.add(id);
			cursor = response.response_metadata?.next_cursor || null;
			if (cursor === null) break;
		}
		return ids;
	}

	async function orUnknown<Value>(call: Promise<Value>): Promise<Value> {
		try {
			return await call;
		} catch (error) {
			const { code, retryAfterMs } = slackFailure(error);
			throw new MembershipsUnknownError(code, retryAfterMs === null ? null : clock.now() + retryAfterMs);
		}
	}

	const memberships: Memberships = {
		channelsOf: (userId) => orUnknown(channels.get(userId)),
		directChannelOf: (userId) => orUnknown(directChannels.get(userId)),
	};
	return {
		...memberships,
		/** Whether a person is in a channel, or this is their direct message with the app; Slack is asked now. */
		async isMemberNow(userId: string, channelId: string): Promise<boolean> {
			if (channelId.startsWith('D')) return (await memberships.directChannelOf(userId)) === channelId;
			channels.forget(userId);
			return (await memberships.channelsOf(userId)).has(channelId);
		},
		/** The person joined or left a channel. */
		forget: (userId: string) => channels.forget(userId),
	};
}

export type SlackMemberships = ReturnType<typeof createMemberships>;

/** Keeps what Slack told of people, but no failures. */
function createPersonCache<Value>(clock: Clock, maxAgeMs: number, ask: (userId: string) => Promise<Value>) {
	const entries = new Map<string, { readonly value: Promise<Value>; readonly askedAt: number }>();
	return {
		get(userId: string): Promise<Value> {
			const now = uptimeOf(clock);
			const known = entries.get(userId);
			if (known !== undefined && now - known.askedAt < maxAgeMs) return known.value;
			const entry = { value: ask(userId), askedAt: now };
			setBounded(entries, userId, entry, MAX_PEOPLE);
			entry.value.catch(() => {
				if (entries.get(userId) === entry) entries.delete(userId);
			});
			return entry.value;
		},
		forget: (userId: string) => void entries.delete(userId),
	};
}
