import { type Core, isMember, personOf } from './core.ts';
import type { Viewer } from './payloads.ts';
import type { Channel, Message, Person } from './state.ts';
import { isOwnTeam } from './teams.ts';

type Directory = Pick<Core, 'state'>;

/** The workspaces of the own organisation whose full member this person is. */
function workspacesOf(slack: Directory, { isBot, isRestricted, teams, teamId }: Person): string[] {
	return isBot || isRestricted ? [] : (teams ?? [teamId]).filter((team) => isOwnTeam(slack, team));
}

/**
 * Whether a person can read a conversation and press in it: its members, and in public channels all full members of their
 * workspaces, as a preview (liatrio/gratibot #928). Guests, bots and people of other organisations have to be in it.
 */
export function canOpen(slack: Directory, user: string, channel: Channel): boolean {
	const person = slack.state.people.find(({ id }) => id === user);
	if (person === undefined || person.deleted) return false;
	const workspaces = [slack.state.team.id, ...(channel.connectedTeams ?? [])];
	const isPreviewed = !channel.isPrivate && workspacesOf(slack, person).some((team) => workspaces.includes(team));
	return isMember(channel, user) || isPreviewed;
}

/** Whether a person sees the message at all. */
export function sees(slack: Directory, { user }: Viewer, { channel, ephemeralFor }: Message): boolean {
	const place = slack.state.channels.find(({ id }) => id === channel);
	return place !== undefined && canOpen(slack, user, place) && (ephemeralFor ?? user) === user;
}

/** Whether Slack lists a person to another: people of a common workspace, and those who share a conversation. */
export function canMeet(slack: Directory, { user }: Viewer, other: Person): boolean {
	const person = slack.state.people.find(({ id }) => id === user);
	if (person === undefined || other.deleted) return false;
	const theirs = other.teams ?? [other.teamId];
	const isColleague = workspacesOf(slack, person).some((team) => theirs.includes(team));
	return isColleague || slack.state.channels.some((channel) => isMember(channel, user) && isMember(channel, other.id));
}

/** Throws for somebody without a client: bots have none, and Slack ends the sessions of deactivated people. */
export function requireClient(core: Core, { user }: Viewer): void {
	const { name, isBot, deleted } = personOf(core, user);
	if (deleted) throw new Error(`${name} is deactivated: Slack has ended their sessions.`);
	if (isBot) throw new Error(`${name} is a bot: it has no client to type or press in.`);
}

/** Throws with words for the person where they cannot act on a message, because they do not see it. */
export function requireSeen(core: Core, viewer: Viewer, message: Message): void {
	requireClient(core, viewer);
	if (!sees(core, viewer, message)) throw new Error(`${viewer.user} cannot see this message.`);
}
