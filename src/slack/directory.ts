import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Directory } from '../answers/access-policy.ts';
import { setBounded } from '../bounded-map.ts';
import { timeZoneNamed } from '../inbox/quiet-hours.ts';
import { slackErrorCode, slackRetryAfterMs } from './clients.ts';
import type { Names } from './words.ts';

/** Enough for the daily users of a large workspace, for names and for time zones. */
const MAX_NAMES = 5_000;

/**
 * Slack sends `id`, `deleted` and `is_bot` for everybody. It leaves out the two flags for guests for people who left, and
 * sometimes `team_id` on Enterprise Grid, where `enterprise_user` lists the workspaces.
 */
const USER_SCHEMA = z.object({
	id: z.string(),
	deleted: z.boolean(),
	is_bot: z.boolean(),
	team_id: z.string().nullish(),
	enterprise_user: z.object({ enterprise_id: z.string(), teams: z.array(z.string()) }).nullish(),
	is_restricted: z.boolean().nullish(),
	is_ultra_restricted: z.boolean().nullish(),
	is_stranger: z.boolean().nullish(),
	tz: z.string().transform(timeZoneNamed).nullish().catch(null),
});

/**
 * Looks people up by Slack's `users.info` and `usergroups.users.list`. The access policy looks up everybody who acts, so
 * their names and time zones need no call of their own.
 */
export function createDirectory({ client }: { client: WebClient }): Directory & Names & TimeZones & NameLookup {
	const names = new Map<string, string>();
	const timeZones = new Map<string, string>();

	const directory: Directory = {
		async person(userId, signal) {
			const user = await unlessAborted(client.users.info({ user: userId }), signal).then(
				(response) => response.user,
				nullIfUnknown,
			);
			const { data: facts } = USER_SCHEMA.safeParse(user);
			if (facts === undefined || facts.id !== userId) return null;
			const name = user?.profile?.display_name || user?.profile?.real_name || user?.real_name || user?.name;
			if (name) setBounded(names, userId, name, MAX_NAMES);
			if (facts.tz) setBounded(timeZones, userId, facts.tz, MAX_NAMES);
			const { enterprise_user: enterprise } = facts;
			return {
				teamId: facts.team_id ?? null,
				enterprise: enterprise == null ? null : { id: enterprise.enterprise_id, teamIds: enterprise.teams },
				isGuest: isGuest(facts),
				// Slack says that Slackbot is no bot (bolt-js #794).
				isBot: facts.is_bot || facts.id === SLACKBOT,
				isDeactivated: facts.deleted,
				isStranger: facts.is_stranger === true,
			};
		},
		async userGroup(groupId, signal) {
			const { users } = await unlessAborted(client.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		retryAfterMs: slackRetryAfterMs,
	};
	return {
		...directory,
		async learnName(userId) {
			if (names.has(userId)) return;
			// The client gives up by itself. Without the name, a message says "somebody".
			await directory.person(userId, new AbortController().signal).catch(() => null);
		},
		displayName: (userId) => names.get(userId) ?? 'somebody',
		timeZoneOf: (userId) => timeZones.get(userId) ?? null,
	};
}

export interface NameLookup {
	/** Looks up the name of a person whom this process has not seen. Never rejects. */
	learnName(userId: string): Promise<void>;
}

/** The time zones of people whom the access policy has looked up. */
export interface TimeZones {
	/** Such as `Europe/Berlin`; null when it is not known, or none in which times can be computed. */
	timeZoneOf(userId: string): string | null;
}

const SLACKBOT = 'USLACKBOT';

/** Slack's codes for ids of nobody, or of people whom the app cannot see. */
const UNKNOWN = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

function nullIfUnknown(error: unknown): null {
	if (UNKNOWN.has(slackErrorCode(error) ?? '')) return null;
	throw error;
}

/** False needs both flags; null when one is missing. */
function isGuest({
	is_restricted: isRestricted,
	is_ultra_restricted: isUltraRestricted,
}: z.infer<typeof USER_SCHEMA>): boolean | null {
	if (isRestricted === true || isUltraRestricted === true) return true;
	return isRestricted === false && isUltraRestricted === false ? false : null;
}

/** The Web API client takes no signal: a response that comes later is ignored. */
export function unlessAborted<Value>(call: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		call.then(resolve, reject);
	});
}
