import { type Core, isMember, kindOf, SlackError } from '../core.ts';
import { flag, type Json, text } from '../json.ts';
import type { UserGroup } from '../state.ts';
import { belongsTo, userForApp } from '../users.ts';
import { channelFacts } from './conversations.ts';
import { type Methods, required, TIER } from './method.ts';
import { page } from './pages.ts';

const CONVERSATION_KINDS: Readonly<Record<string, ReturnType<typeof kindOf>>> = {
	public_channel: 'channels',
	private_channel: 'groups',
	mpim: 'mpim',
	im: 'im',
};

function kindsArg(args: Json): string[] {
	const kinds = (text(args, 'types') ?? 'public_channel').split(',').map((one) => one.trim());
	if (kinds.some((kind) => !(kind in CONVERSATION_KINDS))) throw new SlackError('invalid_types');
	return kinds;
}

/** The conversations of a person, as far as the bot can see them, or those of the bot. */
function conversationsOf(core: Core, args: Json): Json {
	const { botUser } = core.state.app;
	const user = text(args, 'user') ?? botUser;
	if (!core.state.people.some((one) => one.id === user)) throw new SlackError('user_not_found');
	const kinds = kindsArg(args).flatMap((kind) => CONVERSATION_KINDS[kind] ?? []);
	const needed = kinds.map((kind) => `${kind}:read`).find((scope) => !core.settings.scopes.includes(scope));
	if (needed !== undefined) throw new SlackError('missing_scope', { needed, provided: core.settings.scopes.join(',') });
	const channels = core.state.channels.filter(
		(channel) =>
			isMember(channel, user) &&
			(!channel.isPrivate || isMember(channel, botUser)) &&
			kinds.includes(kindOf(channel)) &&
			!(flag(args.exclude_archived) && channel.isArchived),
	);
	const mostItems = core.settings.conversationsPageSize;
	const { items, next } = page(channels, args, `conversations ${user}`, { maxLimit: 999, mostItems });
	return {
		channels: items.map((channel) => channelFacts(core, channel)),
		response_metadata: { next_cursor: next },
	};
}

/** The most people in one response of users.list; of more, a call without a limit is refused. */
const MOST_USERS = 999;

/**
 * The members of the workspace, those who left too, in no order that means anything. Not people of other organisations who
 * share a channel with it (docs.slack.dev, "Understanding Slack Connect").
 */
function membersOf(core: Core, args: Json): Json {
	const { state, clock } = core;
	const members = state.people.filter((person) => belongsTo(person, state.team.id)).reverse();
	const isUnlimited = args.limit === undefined || args.limit === '';
	if (isUnlimited && members.length > MOST_USERS) throw new SlackError('limit_required');
	const sizes = { defaultLimit: MOST_USERS, maxLimit: MOST_USERS };
	const { items, next } = page(members, args, 'users', sizes);
	return {
		members: items.map((person) => userForApp(core, person)),
		cache_ts: Math.floor(clock.now() / 1000),
		response_metadata: { next_cursor: next },
	};
}

function groupForApp(core: Core, group: UserGroup, args: Json): Json {
	return {
		id: group.id,
		team_id: core.state.team.id,
		is_usergroup: true,
		name: group.name ?? group.handle,
		handle: group.handle,
		is_external: false,
		date_delete: group.disabled === true ? 1 : 0,
		...(flag(args.include_count) ? { user_count: group.users.length } : {}),
		...(flag(args.include_users) ? { users: [...group.users] } : {}),
	};
}

export const peopleMethods: Methods = {
	'users.conversations': {
		token: 'bot',
		// The scopes depend on the types asked for.
		scopes: [],
		perMinute: TIER.three,
		run: ({ core, args }) => conversationsOf(core, args),
	},
	'usergroups.list': {
		token: 'bot',
		scopes: ['usergroups:read'],
		perMinute: TIER.two,
		run({ core, args }) {
			const listed = core.state.userGroups.filter((one) => flag(args.include_disabled) || one.disabled !== true);
			return { usergroups: listed.map((group) => groupForApp(core, group, args)) };
		},
	},
	'users.list': {
		token: 'bot',
		scopes: ['users:read'],
		perMinute: TIER.two,
		run: ({ core, args }) => membersOf(core, args),
	},
	'users.info': {
		token: 'bot',
		scopes: ['users:read'],
		perMinute: TIER.four,
		run({ core, args }) {
			const id = required(args, 'user');
			const person = core.state.people.find((one) => one.id === id);
			if (!person) throw new SlackError('user_not_found');
			return { user: userForApp(core, person) };
		},
	},
	'usergroups.users.list': {
		token: 'bot',
		scopes: ['usergroups:read'],
		perMinute: TIER.two,
		run({ core, args }) {
			const id = required(args, 'usergroup');
			const group = core.state.userGroups.find((one) => one.id === id);
			// Disabled groups are left out unless asked for.
			if (!group || (group.disabled === true && !flag(args.include_disabled))) throw new SlackError('no_such_subteam');
			return { users: [...group.users] };
		},
	},
};
