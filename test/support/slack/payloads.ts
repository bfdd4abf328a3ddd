import { type Core, nextId, personOf } from './core.ts';
import type { Json } from './json.ts';
import type { Channel } from './state.ts';

/** Who did something, and in which of their windows. */
export interface Viewer {
	user: string;
	window: string;
}

/** What every interactive payload begins with. */
export function payloadBase(core: Core, type: string, user: string): Json {
	const person = personOf(core, user);
	// For somebody of another organisation, `team` of a view's payload is theirs; the app's own stands in the view as
	// app_installed_team_id (Bolt's App.js relies on it).
	const foreign = type.startsWith('view_') && person.teamId !== core.state.team.id;
	return {
		type,
		user: { id: person.id, username: person.name, name: person.name, team_id: person.teamId },
		team: foreign
			? { id: person.teamId, domain: 'elsewhere' }
			: { id: core.state.team.id, domain: core.state.team.domain },
		api_app_id: core.state.app.id,
		token: 'verification',
		enterprise: null,
		is_enterprise_install: false,
	};
}

/** The channel of a payload, named as Slack names direct messages and private channels there. */
export function channelForApp(channel: Channel): Json {
	return { id: channel.id, name: channel.isIm ? 'directmessage' : channel.isPrivate ? 'privategroup' : channel.name };
}

/** The envelope of an Events API event. */
export function eventPayload(core: Core, event: Json, isExtShared = false): Json {
	const now = core.clock.now();
	return {
		token: 'verification',
		team_id: core.state.team.id,
		api_app_id: core.state.app.id,
		event,
		type: 'event_callback',
		event_id: nextId(core, 'Ev'),
		event_time: Math.floor(now / 1000),
		is_ext_shared_channel: isExtShared,
		authorizations: [
			{
				enterprise_id: null,
				team_id: core.state.team.id,
				user_id: core.state.app.botUser,
				is_bot: true,
				is_enterprise_install: false,
			},
		],
	};
}

/** The timestamp of an action: seconds with six digits. */
export function actionTs(core: Core): string {
	return (core.clock.now() / 1000).toFixed(6);
}
