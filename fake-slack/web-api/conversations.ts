import { type Core, isGeneral, isMember, openDirect, SlackError } from '../core.ts';
import { flag, type Json, text } from '../json.ts';
import { messageForApp } from '../messages.ts';
import type { Channel, Message } from '../state.ts';
import { isShared } from '../teams.ts';
import { channelArg, conversationScope, type Method, type Methods, required, TIER } from './method.ts';
import { page, timeArg } from './pages.ts';

/** The fields of a conversation in every list. */
export function channelFacts(core: Core, channel: Channel): Json {
	const { team, app } = core.state;
	if (channel.isIm) {
		const user = channel.members.find((one) => one !== app.botUser);
		return { id: channel.id, is_im: true, is_archived: false, user, is_ext_shared: false, context_team_id: team.id };
	}
	const isMpim = channel.isMpim === true;
	return {
		id: channel.id,
		name: channel.name,
		name_normalized: channel.name,
		is_channel: !isMpim && !channel.isPrivate,
		is_group: isMpim,
		is_im: false,
		is_mpim: isMpim,
		is_private: channel.isPrivate,
		is_archived: channel.isArchived,
		is_general: isGeneral(channel),
		is_shared: isShared(channel),
		is_ext_shared: channel.isExtShared,
		is_org_shared: channel.isOrgShared === true,
		is_pending_ext_shared: channel.isPendingExtShared === true,
		shared_team_ids: [team.id, ...(channel.connectedTeams ?? [])],
		context_team_id: team.id,
	};
}

function withinTimes(messages: Message[], args: Json): Message[] {
	const oldest = timeArg(args, 'oldest') ?? 0;
	const latest = timeArg(args, 'latest') ?? Number.POSITIVE_INFINITY;
	const inclusive = flag(args.inclusive);
	return messages.filter(({ ts }) => {
		const at = Number(ts);
		return inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
	});
}

function requireHistory(core: Core, args: Json): Channel {
	const channel = channelArg(core, args.channel);
	if (!isMember(channel, core.state.app.botUser)) throw new SlackError('not_in_channel');
	return channel;
}

/** Messages that everybody in the channel sees, oldest first. */
function shared(core: Core, channel: Channel): Message[] {
	return core.state.messages.filter((one) => one.channel === channel.id && one.ephemeralFor === undefined);
}

function answer(core: Core, { items, next }: ReturnType<typeof page<Message>>, args: Json): Json {
	const withMetadata = flag(args.include_all_metadata);
	return {
		messages: items.map((message) => messageForApp(core, message, withMetadata)),
		has_more: next !== '',
		response_metadata: { next_cursor: next },
	};
}

const history: Pick<Method, 'token' | 'perMinute'> = { token: 'bot', perMinute: TIER.three };

export const conversationMethods: Methods = {
	'conversations.open': {
		token: 'bot',
		scopes: ({ args }) => [text(args, 'users')?.includes(',') ? 'mpim:write' : 'im:write'],
		perMinute: TIER.three,
		run({ core, args }) {
			const users = required(args, 'users').split(',');
			for (const id of users) {
				const person = core.state.people.find((one) => one.id === id);
				if (!person) throw new SlackError('user_not_found');
				if (person.deleted) throw new SlackError('user_disabled');
				if (person.isBot) throw new SlackError('cannot_dm_bot');
			}
			// One conversation has at most nine people, the caller included.
			if (users.length > 8) throw new SlackError('too_many_users');
			return { channel: { id: openDirect(core, [...users, core.state.app.botUser]).id } };
		},
	},
	'conversations.info': {
		token: 'bot',
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'read')],
		perMinute: TIER.three,
		run({ core, args }) {
			const channel = channelArg(core, args.channel);
			const facts = channelFacts(core, channel);
			if (channel.isIm) return { channel: facts };
			const isBotMember = isMember(channel, core.state.app.botUser);
			return { channel: { ...facts, is_member: isBotMember } };
		},
	},
	'conversations.members': {
		token: 'bot',
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'read')],
		perMinute: TIER.four,
		run({ core, args }) {
			const { id, members } = channelArg(core, args.channel);
			const { items, next } = page(members, args, `members ${id}`, { mostItems: core.settings.conversationsPageSize });
			return { members: items, response_metadata: { next_cursor: next } };
		},
	},
	'conversations.history': {
		...history,
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'history')],
		run({ core, args }) {
			const channel = requireHistory(core, args);
			const top = shared(core, channel).filter((one) => one.threadTs === undefined || one.broadcast);
			const mostItems = core.settings.historyPageSize;
			const asked = withinTimes(top, args).reverse();
			return answer(core, page(asked, args, `history ${channel.id}`, { mostItems }), args);
		},
	},
	'conversations.replies': {
		...history,
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'history')],
		run({ core, args }) {
			const channel = requireHistory(core, args);
			const ts = required(args, 'ts');
			const all = shared(core, channel);
			const asked = all.find((one) => one.ts === ts);
			if (!asked) throw new SlackError('thread_not_found');
			// Only the parent stands for its thread: a reply's ts gives the reply alone (slackapi/bolt-python #783).
			const replies = withinTimes(
				all.filter((one) => one.threadTs === ts),
				args,
			);
			const sizes = { defaultLimit: 1000, mostItems: core.settings.historyPageSize };
			return answer(core, page([asked, ...replies], args, `replies ${ts}`, sizes), args);
		},
	},
};
