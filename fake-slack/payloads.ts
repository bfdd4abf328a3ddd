import { type Core, nextId, nextTs, personOf } from './core.ts';
import type { Json } from './json.ts';
import type { Channel } from './state.ts';
import { isOwnTeam, isShared, teamForApp } from './teams.ts';

/** A person and one of their windows. */
export interface Viewer {
	user: string;
	window: string;
}

/**
 * The first fields of every interactive payload. `user.team_id` is the workspace a person belongs to, wherever in the
 * organisation they act (bolt-js #1875).
 */
export function payloadBase(core: Core, type: string, user: string): Json {
	const person = personOf(core, user);
	const { enterprise } = core.state;
	// For a person of another organisation, `team` in a view's payload is theirs. The app's own is app_installed_team_id
	// in the view (Bolt's App.js relies on it).
	const foreign = type.startsWith('view_') && !isOwnTeam(core, person.teamId);
	return {
		type,
		user: { id: person.id, username: person.name, name: person.name, team_id: person.teamId },
		team: teamForApp(core, foreign ? person.teamId : core.state.team.id),
		api_app_id: core.state.app.id,
		token: 'verification',
		enterprise: enterprise ? { id: enterprise.id, name: enterprise.name } : null,
		is_enterprise_install: false,
	};
}

/** The name of a channel in payloads: direct messages and private channels have generic names. */
export function channelNameForApp(channel: Channel): string {
	if (channel.isIm) return 'directmessage';
	// The real name of a group's direct message lists its people. No source.
	return channel.isPrivate && channel.isMpim !== true ? 'privategroup' : channel.name;
}

export function channelForApp(channel: Channel): Json {
	return { id: channel.id, name: channelNameForApp(channel) };
}

/** The envelope of an Events API event; `channel`: where it happened. */
export function eventPayload(core: Core, event: Json, channel?: Channel): Json {
	const now = core.clock.now();
	const { team, enterprise, app } = core.state;
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
				team_id: team.id,
				user_id: app.botUser,
				is_bot: true,
				is_enterprise_install: false,
			},
		],
	};
}

/**
 * The timestamp of an action or event: seconds with six digits. No two are equal, so that a second press within a
 * millisecond differs from a redelivery of the first.
 */
export function actionTs(core: Core): string {
	return nextTs(core);
}
