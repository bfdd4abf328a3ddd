import type { Channel, Person, SlackState } from './state.ts';

const TEAM_ID = 'T0ACME';
const OTHER_TEAM_ID = 'T0OTHER';
const BOT_USER = 'U0BOT';

function person(id: string, name: string, realName: string, traits: Partial<Person> = {}): Person {
	return {
		id,
		name,
		realName,
		teamId: TEAM_ID,
		isRestricted: false,
		isUltraRestricted: false,
		isBot: false,
		isStranger: false,
		deleted: false,
		...traits,
	};
}

function channel(id: string, name: string, members: string[], traits: Partial<Channel> = {}): Channel {
	return { id, name, members, isPrivate: false, isIm: false, isArchived: false, isExtShared: false, ...traits };
}

/**
 * A small workspace: two full members (ada, grace), guests of both kinds (gus, una), a bot (otherbot), somebody of
 * another organisation (eve), somebody who left (dora), and channels of every kind the app has to tell apart.
 */
export function seedState(): SlackState {
	const ada = 'U0ADA';
	const grace = 'U0GRACE';
	const gus = 'U0GUS';
	const una = 'U0UNA';
	const eve = 'U0EVE';
	return {
		team: { id: TEAM_ID, domain: 'acme', name: 'Acme' },
		app: { id: 'A0HANDRAISE', botUser: BOT_USER, botId: 'B0BOT', name: 'handraise' },
		people: [
			person(ada, 'ada', 'Ada Lovelace'),
			person(grace, 'grace', 'Grace Hopper'),
			person(gus, 'gus', 'Gus Guest', { isRestricted: true }),
			person(una, 'una', 'Una Single', { isRestricted: true, isUltraRestricted: true }),
			person('U0OTHERBOT', 'otherbot', 'Other Bot', { isBot: true }),
			person(eve, 'eve', 'Eve Elsewhere', { teamId: OTHER_TEAM_ID, isStranger: true }),
			person('U0DORA', 'dora', 'Dora Departed', { deleted: true }),
			person(BOT_USER, 'handraise', 'Handraise', { isBot: true }),
		],
		userGroups: [{ id: 'S0OPS', handle: 'ops', users: [ada] }],
		channels: [
			channel('C0AGENTS', 'agents', [ada, grace, gus, una, BOT_USER]),
			channel('C0GENERAL', 'general', [ada, grace, gus]),
			channel('C0SECRET', 'secret', [ada, BOT_USER], { isPrivate: true }),
			channel('C0VAULT', 'vault', [ada], { isPrivate: true }),
			channel('C0OLD', 'old', [ada, grace, BOT_USER], { isArchived: true }),
			channel('C0SHARED', 'shared', [ada, grace, eve, BOT_USER], { isExtShared: true }),
		],
		messages: [],
		views: {},
		homes: {},
		windows: [],
		triggers: {},
		responseUrls: {},
		counter: 0,
		lastTs: '0',
	};
}
