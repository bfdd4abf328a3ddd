import type { Core } from './core.ts';
import { type Manifest, readManifest } from './manifest.ts';
import type { Channel, InstalledApp, Person, SlackState } from './state.ts';

const TEAM_ID = 'T0ACME';
const OTHER_TEAM_ID = 'T0OTHER';
/** The user that the app acts as: list it among the members of the app's channels. */
const BOT_USER = 'U0BOT';

/** People, channels and everything else at the start. */
export type Workspace = Pick<SlackState, 'team' | 'enterprise' | 'people' | 'userGroups' | 'channels'>;

function person(id: string, name: string, realName: string, traits: Partial<Person> = {}): Person {
	return {
		id,
		name,
		realName,
		teamId: TEAM_ID,
		isRestricted: false,
		isUltraRestricted: false,
		isBot: false,
		deleted: false,
		...traits,
	};
}

function channel(id: string, name: string, members: string[], traits: Partial<Channel> = {}): Channel {
	return { id, name, members, isPrivate: false, isIm: false, isArchived: false, isExtShared: false, ...traits };
}

/**
 * A small workspace: two full members (ada, grace), guests of both kinds (gus, una), a bot (otherbot), a person of
 * another organisation in a shared channel (eve) and one in no channel (sid), a person who left (dora), and channels of
 * every kind that apps have to tell apart.
 */
export function sampleWorkspace(): Workspace {
	const ada = 'U0ADA';
	const grace = 'U0GRACE';
	const gus = 'U0GUS';
	const una = 'U0UNA';
	const eve = 'U0EVE';
	return {
		team: { id: TEAM_ID, domain: 'acme', name: 'Acme' },
		people: [
			person(ada, 'ada', 'Ada Lovelace'),
			person(grace, 'grace', 'Grace Hopper'),
			person(gus, 'gus', 'Gus Guest', { isRestricted: true }),
			person(una, 'una', 'Una Single', { isRestricted: true, isUltraRestricted: true }),
			person('U0OTHERBOT', 'otherbot', 'Other Bot', { isBot: true }),
			person(eve, 'eve', 'Eve Elsewhere', { teamId: OTHER_TEAM_ID }),
			person('U0SID', 'sid', 'Sid Stranger', { teamId: OTHER_TEAM_ID }),
			person('U0DORA', 'dora', 'Dora Departed', { deleted: true }),
		],
		userGroups: [{ id: 'S0OPS', handle: 'ops', name: 'Operations', users: [ada] }],
		channels: [
			channel('C0AGENTS', 'agents', [ada, grace, gus, una, BOT_USER]),
			channel('C0GENERAL', 'general', [ada, grace, gus]),
			channel('C0SECRET', 'secret', [ada, BOT_USER], { isPrivate: true }),
			channel('C0VAULT', 'vault', [ada], { isPrivate: true }),
			channel('C0OLD', 'old', [ada, grace, BOT_USER], { isArchived: true }),
			channel('C0SHARED', 'shared', [ada, grace, eve, BOT_USER], {
				isExtShared: true,
				connectedTeams: [OTHER_TEAM_ID],
			}),
		],
	};
}

/**
 * The sample workspace in an organisation with a second workspace, Apex. hana belongs to Apex and the app's workspace,
 * henry only to Apex, hugo is a guest of Apex; `#together` is a channel of both.
 */
export function sampleOrganisation(): Workspace {
	const workspace = sampleWorkspace();
	const apex = { id: 'T0APEX', domain: 'apex', name: 'Apex' };
	const hana = person('U0HANA', 'hana', 'Hana Home', { teamId: apex.id, teams: [apex.id, TEAM_ID] });
	const henry = person('U0HENRY', 'henry', 'Henry Apex', { teamId: apex.id });
	const hugo = person('U0HUGO', 'hugo', 'Hugo Guest', { teamId: apex.id, isRestricted: true });
	return {
		...workspace,
		enterprise: { id: 'E0ACME', domain: 'acme-org', name: 'Acme Group', otherTeams: [apex] },
		people: [...workspace.people, hana, henry, hugo],
		channels: [
			...workspace.channels,
			channel('C0TOGETHER', 'together', ['U0ADA', hana.id, henry.id, hugo.id, BOT_USER], {
				isOrgShared: true,
				connectedTeams: [apex.id],
			}),
		],
	};
}

/** The same with that many more full members, all of them in this channel. */
export function withMembers(workspace: Workspace, channelName: string, names: readonly string[]): Workspace {
	const people = names.map((name) => person(`U0${name.toUpperCase()}`, name, name));
	const ids = people.map(({ id }) => id);
	return {
		...workspace,
		people: [...workspace.people, ...people],
		channels: workspace.channels.map((one) =>
			one.name === channelName ? { ...one, members: [...one.members, ...ids] } : one,
		),
	};
}

/** `number`: empty for the first app of the workspace. */
function installed(manifest: Manifest | null, number = ''): InstalledApp & { realName: string } {
	const realName = manifest?.features.bot_user?.display_name ?? manifest?.display_information.name ?? 'Sample App';
	return {
		id: `A0APP${number}`,
		botUser: `${BOT_USER}${number}`,
		botId: `B0BOT${number}`,
		// Slack makes the name of the bot's user from its display name.
		name: realName.toLowerCase().replaceAll(/[^a-z0-9]+/g, ''),
		realName,
	};
}

/** The workspace with the app of this manifest (or its path) installed, before anything has happened. */
export function seedState(workspace: Workspace = sampleWorkspace(), manifest?: unknown): SlackState {
	const { realName, ...app } = installed(manifest === undefined ? null : readManifest(manifest));
	const { people, team } = workspace;
	return {
		...structuredClone(workspace),
		app,
		people: [...people, person(app.botUser, app.name, realName, { isBot: true, teamId: team.id })],
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

/**
 * The state of another app in the workspace of `first`. Its views, triggers and response_urls are its own; all else is the
 * same workspace, also after a restore of the first.
 */
export function stateBeside(first: Core, manifest: unknown, number: number): SlackState {
	const { realName, ...app } = installed(manifest === undefined ? null : readManifest(manifest), String(number));
	first.state.people.push(person(app.botUser, app.name, realName, { isBot: true, teamId: first.state.team.id }));
	const own = { app, views: {}, homes: {}, windows: [], triggers: {}, responseUrls: {} };
	const shared = Object.keys(first.state).filter((key) => !(key in own)) as (keyof SlackState)[];
	for (const key of shared) {
		Object.defineProperty(own, key, {
			enumerable: true,
			get: () => first.state[key],
			set(value) {
				Object.assign(first.state, { [key]: value });
			},
		});
	}
	return own as unknown as SlackState;
}
