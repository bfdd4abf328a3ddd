import type {
	ConversationsInfoResponse,
	ConversationsMembersResponse,
	UsersConversationsResponse,
	WebClient,
} from '@slack/web-api';
import type { Config } from '../config.ts';
import type { Person } from '../domain/person.ts';
import type { SessionKey } from '../domain/session.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { createCache, type SharedState } from '../kernel/memory.ts';
import type { Place } from './access-policy.ts';
import type { Need } from './calls.ts';
import { type SlackClients, slackErrorCode, slackFailure } from './clients.ts';
import { FACTS_MAX_AGE_MS } from './directory.ts';
import { isDirectMessage } from './ids.ts';
import type { PersonReads } from './person-reads.ts';
import type { PersonRequest } from './request.ts';
import type { SlackCore } from './slack-core.ts';

type Parts = Pick<SlackCore, 'directChannelOf' | 'calls'> & { readonly clients: Pick<SlackClients, 'people'> };
type Shared = 'is_shared' | 'is_ext_shared' | 'is_pending_ext_shared' | 'is_org_shared';
type SharingFlags = Pick<NonNullable<ConversationsInfoResponse['channel']>, Shared>;

/** Who else reads a channel. `external`: another organisation, joined or invited. Contradictory flags are `unclear`. */
export function sharingOf(flags: SharingFlags): 'none' | 'organisation' | 'external' | 'unclear' {
	if (isExternal(flags)) return 'external';
	if (flags.is_ext_shared !== false || flags.is_pending_ext_shared !== false) return 'unclear';
	if (flags.is_shared === false) return flags.is_org_shared === true ? 'unclear' : 'none';
	return flags.is_shared === true && flags.is_org_shared === true ? 'organisation' : 'unclear';
}

function isExternal({ is_ext_shared: isShared, is_pending_ext_shared: isPending }: SharingFlags): boolean {
	return isShared === true || isPending === true;
}

/** Checks whether a channel may hold watches. The bot must be in it: then somebody in it has invited the bot. */
export function createChannels(core: Parts & { readonly config: Pick<Config, 'ALLOW_EXTERNAL'> }) {
	const { directChannelOf } = core;
	const client = core.clients.people;
	const { ALLOW_EXTERNAL: allowExternal } = core.config;
	return {
		async mayWatch({ channelId, person }: Pick<PersonRequest, 'channelId' | 'person'>) {
			if (channelId === null) return no('no_channel');
			try {
				// Opening the bot's own direct message returns its id and needs no further scope.
				if (isDirectMessage(channelId)) {
					return (await directChannelOf(person.userId)) === channelId ? YES : no('direct');
				}
				const { channel } = await client.conversations.info({ channel: channelId });
				if (channel === undefined) return no('could_not_check');
				if (channel.is_im === true || channel.is_mpim === true) return no('direct');
				if (channel.is_archived === true) return no('archived');
				// Everybody in the channel reads the card.
				const sharing = sharingOf(channel);
				if (sharing === 'external' && !allowExternal) return no('external');
				if (sharing === 'unclear' && !allowExternal) return no('unclear_sharing');
				return channel.is_member === true ? YES : no('not_member');
			} catch (error) {
				const code = slackErrorCode(error);
				// Direct messages between people are the only conversations without a scope in the manifest.
				if (code === 'missing_scope') return no('direct');
				// A private channel without the bot looks like no channel.
				return no(code === 'channel_not_found' ? 'not_member' : 'could_not_check');
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
export type ChannelVerdict = Awaited<ReturnType<Channels['mayWatch']>>;

const YES = { ok: true } as const;

const no = <Reason extends string>(reason: Reason) => ({ ok: false, reason }) as const;

const TEAM_CHANNELS = 'public_channel,private_channel';

/** Lists the bot's team channels: a call for each would exceed the rate limit. Its result does not throw. */
export function createChannelList(client: WebClient) {
	/** Reads one page. `cursor`: null for the first page; `next`: null on the last. `external`: as in `sharingOf`. */
	return async (cursor: string | null) => {
		try {
			const { channels, response_metadata: page } = await client.users.conversations({
				types: TEAM_CHANNELS,
				exclude_archived: true,
				// Slack recommends no more (docs.slack.dev, users.conversations).
				limit: 200,
				...(cursor !== null && { cursor }),
			});
			if (channels === undefined) return { kind: 'failed', code: 'no_channels', retryAfterMs: null } as const;
			const external = channels.filter(isExternal).flatMap(({ id }) => id ?? []);
			return { kind: 'page', external, next: page?.next_cursor || null } as const;
		} catch (error) {
			return { kind: 'failed', ...slackFailure(error) } as const;
		}
	};
}

/** Slack is not asked again for this long after a failure, so that presses do not use up its limit. */
const FAILURE_AGE_MS = 5_000;
/** How long a channel counts as public or private. */
export const PRIVACY_MAX_AGE_MS = 60 * 60_000;
/** The most that Slack accepts; it recommends 200, but allows only about 50 calls a minute for all people. */
const PAGE_SIZE = 999;
/** 50,000 channels: ends a list whose cursors never end. */
const MAX_PAGES = 50;
/** The member lists of at most this many channels are kept. */
const MEMBER_LISTS = 200;

type Has = Pick<ReadonlySet<string>, 'has'>;

interface HandOvers {
	readonly handOvers: { holds(person: Person, channelId: string, session: SessionKey): Promise<boolean> };
}

/**
 * Knows the channels of people. Slack names private channels only if the bot is in them, as it is where sessions are
 * watched. `changes`: when people joined or left a channel lately, by user id, clock milliseconds. Replicas share it,
 * because each event reaches only one. Throws `slack_unavailable`, with `retryAt` when Slack limits the calls.
 */
export function createMemberships(
	core: Parts & Pick<SlackCore<HandOvers>, 'store' | 'serviceUrl' | 'clock'>,
	{ changes, turn }: { changes: SharedState<Readonly<Record<string, number>>>; turn: PersonReads['turn'] },
) {
	const { directChannelOf, serviceUrl, clock, calls } = core;
	const { handOvers } = core.store;
	const client = core.clients.people;
	const listed = (key: string) => calls.noting('users.conversations', listChannels(key.split(' ')[0] ?? ''));
	const channels = createCache(clock, listed, { failureAgeMs: FAILURE_AGE_MS });
	const members = createCache(clock, listMembers, { limit: MEMBER_LISTS });

	/** Ids, and whether each is private. `userId`: empty for the bot's own channels. */
	async function listChannels(userId: string): Promise<ReadonlyMap<string, boolean>> {
		const found = new Map<string, boolean>();
		let pageCount = 0;
		const whose = userId === '' ? {} : { user: userId };
		const asked = { ...whose, types: TEAM_CHANNELS, exclude_archived: true, limit: PAGE_SIZE };
		for await (const page of client.paginate('users.conversations', asked)) {
			const { channels: joined = [] } = page as UsersConversationsResponse;
			for (const { id, is_private: isPrivate } of joined) if (id !== undefined) found.set(id, isPrivate === true);
			pageCount += 1;
			if (pageCount === MAX_PAGES) break;
		}
		return found;
	}

	/** The members of a channel. Throws Slack's errors. */
	async function* pagesOf(channel: string): AsyncGenerator<readonly string[]> {
		const pages = client.paginate('conversations.members', { channel, limit: PAGE_SIZE });
		for await (const page of pages) yield (page as ConversationsMembersResponse).members ?? [];
	}

	/** The members of a channel; empty when the app does not see it. `at`: when Slack was asked, clock milliseconds. */
	async function listMembers(channel: string) {
		const at = clock.now();
		await calls.permit('conversations.members', 'home');
		const userIds = new Set<string>();
		const read = async () => {
			for await (const page of pagesOf(channel)) {
				for (const id of page) userIds.add(id);
				if (page.length === PAGE_SIZE) await calls.turn('conversations.members');
			}
		};
		await calls.noting('conversations.members', read()).catch((error: unknown) => {
			if (slackErrorCode(error) !== 'channel_not_found') throw error;
		});
		return { at, userIds };
	}

	/** Whether a channel is private and the bot is in it, so that Slack tells everybody who sees it. */
	async function askPrivacy(channel: string): Promise<boolean> {
		try {
			const { channel: facts } = await client.conversations.info({ channel });
			// Slack lists an archived channel among the channels of nobody.
			const isHeard = facts?.is_member === true && facts.is_archived !== true;
			return isHeard && facts.is_private === true && facts.is_mpim !== true;
		} catch (error) {
			const code = slackErrorCode(error);
			// The codes for a private channel without the bot, and for a direct message between people.
			if (code === 'channel_not_found' || code === 'missing_scope') return false;
			throw error;
		}
	}
	const privacy = createCache(clock, askPrivacy, { failureAgeMs: FAILURE_AGE_MS });

	/**
	 * Whether the bot's own list has a channel as private. After a start, one list replaces many `conversations.info`.
	 */
	async function isListedAsPrivate(channel: string, failure: unknown): Promise<boolean> {
		const listed = (await channels.get('', FACTS_MAX_AGE_MS)).get(channel);
		if (listed === undefined) throw failure;
		return listed;
	}

	async function orUnknown<Value>(call: Promise<Value>): Promise<Value> {
		try {
			return await call;
		} catch (error) {
			const { code, retryAfterMs } = slackFailure(error);
			const retryAt = retryAfterMs === null ? null : clock.now() + retryAfterMs;
			const details = { code: 'slack_unavailable', retryable: true, retryAt };
			throw new HandraiseError(`Slack did not tell who is in a channel (${code})`, details);
		}
	}

	/**
	 * The cache key of a person's channels: user id and time of their newest change, so that a change makes a new key.
	 */
	function keyOf(userId: string): Promise<string> {
		return changes.update((state) => ({ state: state ?? {}, result: `${userId} ${state?.[userId] ?? 0}` }));
	}

	/** At most five minutes old. */
	async function channelsOf(userId: string): Promise<Has> {
		const key = await keyOf(userId);
		if (!channels.has(key, FACTS_MAX_AGE_MS)) await calls.permit('users.conversations', 'send');
		return orUnknown(channels.get(key, FACTS_MAX_AGE_MS));
	}

	/**
	 * Which of these channels somebody is in, for their inbox. When many people open theirs, member lists of the channels
	 * serve all of them, and Slack allows more of these calls.
	 */
	async function joinedOf(userId: string, channelIds: readonly string[], need: Need): Promise<Has> {
		const key = await keyOf(userId);
		const own = () => orUnknown(channels.get(key, FACTS_MAX_AGE_MS));
		if (channels.has(key, FACTS_MAX_AGE_MS)) return own();
		if ((await calls.waitMs('users.conversations', need)) === 0) return own();
		if (channelIds.length <= MEMBER_LISTS / 2) {
			const lists: Awaited<ReturnType<typeof listMembers>>[] = [];
			// One after another: if one call finds no room, the others would find none either.
			for (const id of channelIds) lists.push(await orUnknown(members.get(id, FACTS_MAX_AGE_MS)));
			if (lists.every(({ at }) => at > Number(key.split(' ')[1])))
				return new Set(channelIds.filter((_, index) => lists[index]?.userIds.has(userId)));
		}
		await calls.permit('users.conversations', need);
		return own();
	}

	/** Whether a person is in a channel, by facts up to five minutes old, or it is their direct message with the app. */
	async function isMember(userId: string, channelId: string): Promise<boolean> {
		if (isDirectMessage(channelId)) return (await orUnknown(directChannelOf(userId))) === channelId;
		return (await channelsOf(userId)).has(channelId);
	}

	async function isMemberNow(userId: string, channelId: string): Promise<boolean> {
		channels.forget(await keyOf(userId));
		return isMember(userId, channelId);
	}

	async function isPrivate(channelId: string): Promise<boolean> {
		if (isDirectMessage(channelId)) return false;
		return orUnknown(privacy.get(channelId, PRIVACY_MAX_AGE_MS).catch((error) => isListedAsPrivate(channelId, error)));
	}

	return {
		joinedOf,
		directChannelOf: (userId: string) => orUnknown(directChannelOf(userId)),
		isMemberNow,
		/** The members of a channel, page by page; for a direct message with the app, `userId` alone. */
		pagesOf: (channelId: string, userId: string) => (isDirectMessage(channelId) ? [[userId]] : pagesOf(channelId)),
		/** The name of a channel; null when this person does not see it, or Slack does not tell it. */
		async nameOf(userId: string, channelId: string): Promise<string | null> {
			try {
				const { channel } = await client.conversations.info({ channel: channelId });
				const isSeen = channel?.is_private === false || (await isMember(userId, channelId));
				return (isSeen && channel?.name) || null;
			} catch {
				return null;
			}
		},
		/** Call it when a person joined or left a channel. */
		async forget(userId: string): Promise<void> {
			const now = clock.now();
			await changes.update((state) => {
				const lately = Object.entries(state ?? {}).filter(([, at]) => at > now - 2 * FACTS_MAX_AGE_MS);
				const at = Math.max(now, (state?.[userId] ?? 0) + 1);
				return { state: { ...Object.fromEntries(lately), [userId]: at }, result: null };
			});
		},
		/**
		 * Why somebody may not act on a channel's question, or on a copy of it; null: they may. Throws when Slack does not
		 * tell. They have to be in the channel, or to hold or have held the question. Everybody sees a public channel, so
		 * there only acts on copies are checked.
		 */
		async whyNotThere(request: Pick<PersonRequest, 'person'>, { channelId, sessionId, isCopy }: Place) {
			if (channelId === null || (sessionId === undefined && isCopy !== true)) return null;
			if (isCopy !== true && !(await isPrivate(channelId))) return null;
			const { userId } = request.person;
			const isHeld =
				sessionId !== undefined &&
				(await handOvers.holds(request.person, channelId, { service: serviceUrl, sessionId }));
			if (isHeld || (await isMember(userId, channelId))) return null;
			const tooFast = await turn(request);
			if (tooFast !== null) return tooFast;
			// Slack's event of their joining may be late, and the channel may be public now, or hidden from the bot.
			if (await isMemberNow(userId, channelId)) return null;
			privacy.forget(channelId);
			return isCopy === true || (await isPrivate(channelId)) ? 'not_there' : null;
		},
	};
}

export type Memberships = ReturnType<typeof createMemberships>;
