import { type Core, isMember, openDm, SlackError } from '../core.ts';
import { flag, type Json, text } from '../json.ts';
import { messageForApp } from '../messages.ts';
import type { Channel, Message } from '../state.ts';
import { channelArg, conversationScope, type Method, type Methods, required, TIER } from './method.ts';

function channelFacts(core: Core, channel: Channel): Json {
	if (channel.isIm) {
		return { id: channel.id, is_im: true, is_archived: false, user: channel.members[0], is_ext_shared: false };
	}
	return {
		id: channel.id,
		name: channel.name,
		name_normalized: channel.name,
		is_channel: !channel.isPrivate,
		is_group: false,
		is_im: false,
		is_mpim: false,
		is_private: channel.isPrivate,
		is_archived: channel.isArchived,
		is_general: channel.name === 'general',
		is_member: isMember(channel, core.state.app.botUser),
		is_shared: channel.isExtShared,
		is_ext_shared: channel.isExtShared,
		is_org_shared: false,
		is_pending_ext_shared: false,
		context_team_id: core.state.team.id,
		num_members: channel.members.length,
	};
}

interface Page<T> {
	items: T[];
	next: string;
}

function page<T>(items: T[], args: Json, defaultLimit: number): Page<T> {
	const limit = Math.max(1, Math.min(Number(args.limit ?? defaultLimit) || defaultLimit, 1000));
	const from = Number(Buffer.from(text(args, 'cursor') ?? '', 'base64url').toString('utf8') || 0);
	const next = from + limit < items.length ? Buffer.from(String(from + limit)).toString('base64url') : '';
	return { items: items.slice(from, from + limit), next };
}

function withinTimes(messages: Message[], args: Json): Message[] {
	const oldest = Number(args.oldest ?? 0);
	const latest = args.latest === undefined ? Number.POSITIVE_INFINITY : Number(args.latest);
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

/** Messages everybody in the channel sees, oldest first. */
function shared(core: Core, channel: Channel): Message[] {
	return core.state.messages.filter((one) => one.channel === channel.id && one.ephemeralFor === undefined);
}

function answer(core: Core, { items, next }: Page<Message>, args: Json): Json {
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
		scopes: ['im:write'],
		perMinute: TIER.three,
		run({ core, args }) {
			const users = required(args, 'users').split(',');
			const person = core.state.people.find((one) => one.id === users[0]);
			if (!person) throw new SlackError('user_not_found');
			if (person.deleted) throw new SlackError('user_disabled');
			if (person.isBot) throw new SlackError('cannot_dm_bot');
			if (users.length > 1) throw new SlackError('method_not_supported_for_channel_type');
			return { channel: { id: openDm(core, person.id).id } };
		},
	},
	'conversations.info': {
		token: 'bot',
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'read')],
		perMinute: TIER.three,
		run: ({ core, args }) => ({ channel: channelFacts(core, channelArg(core, args.channel)) }),
	},
	'conversations.members': {
		token: 'bot',
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'read')],
		perMinute: TIER.four,
		run({ core, args }) {
			const { items, next } = page(channelArg(core, args.channel).members, args, 100);
			return { members: items, response_metadata: { next_cursor: next } };
		},
	},
	'conversations.history': {
		...history,
		scopes: ({ core, args }) => [conversationScope(core, args.channel, 'history')],
		run({ core, args }) {
			const channel = requireHistory(core, args);
			const top = shared(core, channel).filter((one) => one.threadTs === undefined || one.broadcast);
			return answer(core, page(withinTimes(top, args).reverse(), args, 100), args);
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
			const parent = asked.threadTs ?? asked.ts;
			const replies = withinTimes(
				all.filter((one) => one.threadTs === parent),
				args,
			);
			const root = all.filter((one) => one.ts === parent);
			return answer(core, page([...root, ...replies], args, 1000), args);
		},
	},
};
