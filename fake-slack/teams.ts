import { type Core, isMember } from './core.ts';
import type { Json } from './json.ts';
import type { Channel, Person, Team } from './state.ts';

/** Whether a workspace is the app's own or another of the same organisation. */
export function isOwnTeam(core: Pick<Core, 'state'>, teamId: string): boolean {
	const { team, enterprise } = core.state;
	return teamId === team.id || (enterprise?.otherTeams.some((one) => one.id === teamId) ?? false);
}

/** A workspace in payloads. Of other organisations only the id is known. */
function teamOf(core: Core, teamId: string): Pick<Team, 'id' | 'domain'> {
	const { team, enterprise } = core.state;
	const found = [team, ...(enterprise?.otherTeams ?? [])].find((one) => one.id === teamId);
	return { id: teamId, domain: found?.domain ?? 'elsewhere' };
}

/** Whether the channel has people of several workspaces or organisations. */
export function isShared(channel: Channel): boolean {
	return channel.isExtShared || channel.isOrgShared === true;
}

/**
 * A person of another organisation who is in no channel that the app can see (docs.slack.dev, user object:
 * `is_stranger` is false for those "in a shared channel that your app has access to").
 */
export function isStranger(core: Core, person: Person): boolean {
	if (isOwnTeam(core, person.teamId)) return false;
	const { botUser } = core.state.app;
	return !core.state.channels.some(
		(channel) => isMember(channel, person.id) && (!channel.isPrivate || isMember(channel, botUser)),
	);
}

/** The `team` of an interaction: on Enterprise Grid with the organisation. */
export function teamForApp(core: Core, teamId: string): Json {
	const { enterprise } = core.state;
	const team = teamOf(core, teamId);
	if (!enterprise || !isOwnTeam(core, teamId)) return team;
	return { ...team, enterprise_id: enterprise.id, enterprise_name: enterprise.name };
}
