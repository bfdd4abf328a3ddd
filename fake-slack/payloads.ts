import { type Core, nextId, personOf } from './core.ts';
import type { Json } from './json.ts';
import type { Channel } from './state.ts';
import { installationForApp, isOwnTeam, isShared, teamForApp } from './teams.ts';

/** Who did something, and in which of their windows. */
export interface Viewer {
	user: string;
	window: string;
}

/**
 * What every interactive payload begins with. `user.team_id` is the workspace a person belongs to, wherever in the
 * organisation they act (bolt-js #1875). `isInChannel`: it comes from a message, so a workspace is named even where the
 * app is installed for the whole organisation; else `team` is null there (bolt-python #23).
 */
export function payloadBase(core: Core, type: string, user: string, isInChannel = false): Json {
	const person = personOf(core, user);
	const installation = installationForApp(core);
	// For somebody of another organisation, `team` of a view's payload is theirs; the app's own stands in the view as
	// app_installed_team_id (Bolt's App.js relies on it).
	const foreign = type.startsWith('view_') && !isOwnTeam(core, person.teamId);
	const team = teamForApp(core, foreign ? person.teamId : core.state.team.id);
	return {
		type,
		user: { id: person.id, username: person.name, name: person.name, team_id: person.teamId },
		team: installation.is_enterprise_install && !isInChannel ? null : team,
		api_app_id: core.state.app.id,
		token: 'verification',
		...installation,
	};
}

/** What the name of a channel is in payloads: direct messages and private channels go without their own. */
export function channelNameForApp(channel: Channel): string {
	if (channel.isIm) return 'directmessage';
	// A group's direct message has a made-up name, which says no more than who is in it. No source.
	return channel.isPrivate && channel.isMpim !== true ? 'privategroup' : channel.name;
}

export function channelForApp(channel: Channel): Json {
	return { id: channel.id, name: channelNameForApp(channel) };
}

/** The envelope of an Events API event; `channel`: where it happened. */
export function eventPayload(core: Core, event: Json, channel?: Channel): Json {
	const now = core.clock.now();
	const { team, enterprise, app } = core.state;
	const isOrgInstall = enterprise?.isOrgInstall === true;
	const shared = channel !== undefined && isShared(channel);
	return {
		token: 'verification',
		team_id: team.id,
		...(enterprise ? { enterprise_id: enterprise.id } : {}),
		...(shared ? { context_team_id: team.id, context_enterprise_id: enterprise?.id ?? null } : {}),
		api_app_id: app.id,
		event,
		type: 'event_callback',
		event_id: nextId(core, 'Ev'),
		event_time: Math.floor(now / 1000),
		is_ext_shared_channel: channel?.isExtShared === true,
		authorizations: [
			{
				enterprise_id: enterprise?.id ?? null,
				team_id: isOrgInstall ? null : team.id,
				user_id: app.botUser,
				is_bot: true,
				is_enterprise_install: isOrgInstall,
			},
		],
	};
}

/** The timestamp of an action: seconds with six digits. */
export function actionTs(core: Core): string {
	return (core.clock.now() / 1000).toFixed(6);
}
