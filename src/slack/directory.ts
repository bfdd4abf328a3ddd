import type { UsersInfoResponse, WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { PersonFacts } from '../answers/access-policy.ts';
import { setBounded } from '../bounded-map.ts';
import { timeZoneNamed } from '../inbox/quiet-hours.ts';
import { slackErrorCode, slackRetryAfterMs } from './clients.ts';

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

/** The access policy looks up everybody who acts, so their names and time zones need no call of their own. */
export function createDirectory(client: WebClient) {
	const names = new Map<string, string>();
	const timeZones = new Map<string, string>();

	async function person(userId: string, signal?: AbortSignal): Promise<PersonFacts | null> {
		const { user } = await unlessAborted(client.users.info({ user: userId }), signal).catch(nobodyIfUnknown);
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
	}

	return {
		person,
		/** The members' user ids. */
		async userGroup(groupId: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
			const { users } = await unlessAborted(client.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		retryAfterMs: slackRetryAfterMs,
		/** Looks up the name of a person whom this process has not seen. Without it, a message says "somebody". Never rejects. */
		async learnName(userId: string): Promise<void> {
			if (!names.has(userId)) await person(userId).catch(() => null);
		},
		displayName: (userId: string) => names.get(userId) ?? 'somebody',
		/** Such as `Europe/Berlin`; null when it is not known, or none in which times can be computed. */
		timeZoneOf: (userId: string) => timeZones.get(userId) ?? null,
	};
}

const SLACKBOT = 'USLACKBOT';

/** Slack's codes for ids of nobody, or of people whom the app cannot see. */
const UNKNOWN = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

function nobodyIfUnknown(error: unknown): UsersInfoResponse {
	if (UNKNOWN.has(slackErrorCode(error) ?? '')) return { ok: false };
	throw error;
}

/** False needs both flags; null when one is missing. */
function isGuest({ is_restricted: isSome, is_ultra_restricted: isUltra }: z.infer<typeof USER_SCHEMA>): boolean | null {
	if (isSome === true || isUltra === true) return true;
	return isSome === false && isUltra === false ? false : null;
}

/** What comes after an abort is ignored: Slack's libraries take no signal. */
export function unlessAborted<Value>(call: Promise<Value>, signal?: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted === true) reject(signal.reason);
		signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
		call.then(resolve, reject);
	});
}
