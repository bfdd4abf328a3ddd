import type { Json } from '../../../fake-slack/index.ts';
import type { WatchingApp } from '../../sessions/harness.ts';
import type { Kind, SETTINGS } from './table.ts';

type Slack = WatchingApp['slack'];
type SlackPerson = Slack['state']['people'][number];
/** Makes everybody of these names somebody else. */
export type Become = (slack: Slack, people: readonly SlackPerson[]) => void;

const traits =
	(changed: Partial<SlackPerson>): Become =>
	(_, people) => {
		for (const person of people) Object.assign(person, changed);
	};

/**
 * Slack says this of them, whatever they are. Bots have no client and Slack ends the sessions of deactivated
 * people: what comes of them was under way when they became that.
 */
const told =
	(facts: Json): Become =>
	(slack, people) => {
		const users = people.map(({ id, name }): Json => {
			const full = { id, name, team_id: 'T0ACME', deleted: false, is_bot: false, is_restricted: false };
			return { ...full, is_ultra_restricted: false, ...facts };
		});
		for (const user of users)
			slack.faults.add({ method: 'users.info', when: (args) => args.user === user.id, answer: { user } });
		slack.faults.add({ method: 'users.list', answer: { members: users } });
	};

const asTheyAre: Become = () => {};

/** What Slack tells of people, one by one and as a list, where many are asked about. */
function both(fault: (method: string) => unknown): void {
	for (const method of ['users.info', 'users.list']) fault(method);
}
/** Of deactivated people Slack does not say what they were. */
const LEFT: Json = { deleted: true, is_restricted: undefined, is_ultra_restricted: undefined };

/** Of whom Slack tells nothing: they wait for it for two minutes. */
export const WAITING: readonly string[] = ['`users.info` is limited (429)', '`users.info` does not answer'];

/** Kinds of people in a workspace of its own, in the order in which they act: whoever uses things up comes last. */
export const IN_WORKSPACE: readonly (readonly [Kind, Become])[] = [
	['single-channel guest', traits({ isRestricted: true, isUltraRestricted: true })],
	['multi-channel guest', traits({ isRestricted: true })],
	['bot or app', told({ is_bot: true })],
	['deactivated account', told(LEFT)],
	['of another organisation, as the request says', traits({ teamId: 'T0OTHER' })],
	['of another organisation, as `users.info` says by `team_id`', told({ team_id: 'T0OTHER' })],
	['of another organisation, as `users.info` says by `is_stranger`', told({ is_stranger: true })],
	[
		'unknown to `users.info`',
		(slack) => {
			slack.faults.add({ method: 'users.info', error: 'user_not_found' });
			slack.faults.add({ method: 'users.list', answer: { members: [] } });
		},
	],
	[
		'`users.info` answers with an empty user',
		(slack) => {
			slack.faults.add({ method: 'users.info', answer: { user: {} } });
			slack.faults.add({ method: 'users.list', answer: { members: [{}] } });
		},
	],
	['`users.info` is limited (429)', (slack) => both((method) => slack.faults.rateLimit(method))],
	['`users.info` does not answer', (slack) => both((method) => slack.faults.hold(method))],
	['full member', asTheyAre],
];

/** Within an organisation, where everybody's own workspace is another one. */
export const IN_ORGANISATION: readonly (readonly [Kind, Become])[] = [
	['Enterprise Grid: of another workspace, not a member of ours', traits({ teams: ['T0APEX'] })],
	['Enterprise Grid: of another workspace, and a member of ours', asTheyAre],
];

export const REMOVED: Become = told(LEFT);

/** They are in #agents no more. */
export const outOfAgents: Become = (slack, people) => {
	const agents = slack.state.channels.find(({ name }) => name === 'agents');
	const ids = new Set(people.map(({ id }) => id));
	Object.assign(agents ?? {}, { members: agents?.members.filter((id) => !ids.has(id)) });
};

/** Makes them the members of the user group that a setting names. */
const inGroup: Become = (slack, people) => {
	for (const group of slack.state.userGroups) group.users = people.map(({ id }) => id);
};

/** Of another organisation, by the request and by `users.info`. */
const elsewhere =
	(facts: Json): Become =>
	(...those) => {
		traits({ teamId: 'T0OTHER' })(...those);
		told({ team_id: 'T0OTHER', ...facts })(...those);
	};

/** By `who` of the settings' table. */
export const BY_WHO: Readonly<Record<(typeof SETTINGS)[number]['who'], Become>> = {
	guest: traits({ isRestricted: true }),
	'of another organisation': traits({ teamId: 'T0OTHER' }),
	'guest of another organisation': traits({ teamId: 'T0OTHER', isRestricted: true }),
	'bot of another organisation': elsewhere({ is_bot: true }),
	'deactivated, of another organisation': elsewhere(LEFT),
	'nothing is known of them': told({ is_restricted: null, team_id: null }),
	'full member, listed channel': asTheyAre,
	'full member, another channel or a direct message': asTheyAre,
	'full member, listed': asTheyAre,
	'full member, not listed': asTheyAre,
	'full member, in the group': inGroup,
	'full member, not in the group': asTheyAre,
};

/** More than act in a test of the settings. */
const MOST_MEMBERS = 20;

/** What each setting is set to, for whom it is said. */
export function envOf(setting: (typeof SETTINGS)[number]['setting'], who: string): Record<string, string> {
	const isNot = /not|another channel/.test(who);
	switch (setting) {
		case 'ALLOW_GUESTS=true':
			return { ALLOW_GUESTS: 'true' };
		case 'ALLOW_EXTERNAL=true':
			return { ALLOW_EXTERNAL: 'true' };
		case 'ALLOWED_CHANNELS':
			return { ALLOWED_CHANNELS: isNot ? 'C0GENERAL' : 'C0GENERAL, C0AGENTS' };
		case 'ALLOWED_USERS':
			return {
				ALLOWED_USERS: isNot ? 'U0ADA' : Array.from({ length: MOST_MEMBERS }, (_, index) => `U0P${index}`).join(),
			};
		case 'ALLOWED_USERGROUPS':
			return { ALLOWED_USERGROUPS: 'S0OPS' };
	}
}
