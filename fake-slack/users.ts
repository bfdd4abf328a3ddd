import type { Core } from './core.ts';
import type { Json } from './json.ts';
import type { Person } from './state.ts';
import { isOwnTeam, isStranger } from './teams.ts';

/**
 * People of an organisation with several workspaces have `enterprise_user` and no `team_id` (lookerbot #184; that it is
 * always missing is stricter than documented).
 */
function membership(core: Core, person: Person): Json {
	const { enterprise } = core.state;
	if (!enterprise || !isOwnTeam(core, person.teamId)) return { team_id: person.teamId };
	return {
		enterprise_user: {
			id: person.id,
			enterprise_id: enterprise.id,
			enterprise_name: enterprise.name,
			is_admin: false,
			is_owner: false,
			teams: person.teams ?? [person.teamId],
		},
	};
}

/** A person as Web API methods and events tell of them. */
export function userForApp(core: Core, person: Person): Json {
	const updated = person.updatedAt === undefined ? 0 : Math.floor(person.updatedAt / 1000);
	const known = { id: person.id, ...membership(core, person), name: person.name, updated };
	if (person.deleted) return { ...known, deleted: true, is_bot: false };
	return {
		...known,
		deleted: false,
		real_name: person.realName,
		...(person.tz === null ? {} : { tz: person.tz ?? 'Europe/London' }),
		profile: {
			real_name: person.realName,
			display_name: person.displayName ?? person.name,
			status_text: person.statusText ?? '',
			team: person.teamId,
		},
		is_admin: false,
		is_owner: false,
		is_restricted: person.isRestricted,
		is_ultra_restricted: person.isUltraRestricted,
		is_bot: person.isBot,
		is_app_user: false,
		// Slack omits the key for people of the own workspace.
		...(isStranger(core, person) ? { is_stranger: true } : {}),
	};
}

/** Whether somebody belongs to this workspace: people of other organisations in a shared channel do not. */
export function belongsTo(person: Person, teamId: string): boolean {
	return (person.teams ?? [person.teamId]).includes(teamId);
}
