import { SlackError } from '../core.ts';
import type { Json } from '../json.ts';
import type { Person } from '../state.ts';
import { type Methods, required, TIER } from './method.ts';

function userForApp(person: Person): Json {
	if (person.deleted) return { id: person.id, team_id: person.teamId, name: person.name, deleted: true, is_bot: false };
	return {
		id: person.id,
		team_id: person.teamId,
		name: person.name,
		deleted: false,
		real_name: person.realName,
		tz: 'Europe/London',
		profile: {
			real_name: person.realName,
			display_name: person.name,
			team: person.teamId,
		},
		is_admin: false,
		is_owner: false,
		is_restricted: person.isRestricted,
		is_ultra_restricted: person.isUltraRestricted,
		is_bot: person.isBot,
		is_app_user: false,
		// Slack leaves the key out for people of the own workspace.
		...(person.isStranger ? { is_stranger: true } : {}),
	};
}

export const peopleMethods: Methods = {
	'users.info': {
		token: 'bot',
		scopes: ['users:read'],
		perMinute: TIER.four,
		run({ core, args }) {
			const id = required(args, 'user');
			const person = core.state.people.find((one) => one.id === id);
			if (!person) throw new SlackError('user_not_found');
			return { user: userForApp(person) };
		},
	},
	'usergroups.users.list': {
		token: 'bot',
		scopes: ['usergroups:read'],
		perMinute: TIER.two,
		run({ core, args }) {
			const id = required(args, 'usergroup');
			const group = core.state.userGroups.find((one) => one.id === id);
			if (!group) throw new SlackError('no_such_subteam');
			return { users: [...group.users] };
		},
	},
};
