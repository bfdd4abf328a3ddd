import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Directory } from '../answers/access-policy.ts';
import { setBounded } from '../bounded-map.ts';
import { slackErrorCode } from './clients.ts';
import type { Names } from './words/people.ts';

/** Enough for the people of a large workspace who use the app within a day. */
const MOST_NAMES = 5_000;

/**
 * What has to be known of a person. Slack sends `id`, `deleted` and `is_bot` with everybody; the two words about guests
 * not with people who left, and the workspace not always on Enterprise Grid, where `enterprise_user` names it.
 */
const facts = z.object({
	id: z.string(),
	deleted: z.boolean(),
	is_bot: z.boolean(),
	team_id: z.string().nullish(),
	enterprise_user: z.object({ enterprise_id: z.string(), teams: z.array(z.string()) }).nullish(),
	is_restricted: z.boolean().nullish(),
	is_ultra_restricted: z.boolean().nullish(),
	is_stranger: z.boolean().nullish(),
});

/**
 * Who people are, from Slack's `users.info` and `usergroups.users.list`. Everybody who acts is looked up, so their names
 * are known afterwards without another call.
 */
export function createDirectory({ client }: { client: WebClient }): Directory & Names {
	const names = new Map<string, string>();

	function remember(userId: string, name: string | undefined): void {
		if (name === undefined || name === '') return;
		setBounded(names, userId, name, MOST_NAMES);
	}

	return {
		async person(userId, signal) {
			const user = await within(client.users.info({ user: userId }), signal).then((reply) => reply.user, nullIfUnknown);
			const parsed = facts.safeParse(user);
			if (!parsed.success || parsed.data.id !== userId) return null;
			const told = parsed.data;
			remember(userId, user?.profile?.display_name || user?.profile?.real_name || user?.real_name || user?.name);
			const enterprise = told.enterprise_user ?? null;
			return {
				teamId: told.team_id ?? null,
				enterprise: enterprise === null ? null : { id: enterprise.enterprise_id, teamIds: enterprise.teams },
				isGuest: isGuest(told.is_restricted, told.is_ultra_restricted),
				isBot: told.is_bot,
				isDeactivated: told.deleted,
				isStranger: told.is_stranger === true,
			};
		},
		async userGroup(groupId, signal) {
			const { users } = await within(client.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		displayName: (userId) => names.get(userId) ?? 'somebody',
	};
}

/** What Slack says of ids that are nobody's, or nobody's whom the app may see. */
const UNKNOWN = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

function nullIfUnknown(error: unknown): null {
	if (UNKNOWN.has(slackErrorCode(error) ?? '')) return null;
	throw error;
}

/** Null unless Slack says both: a guest of either kind is one, and only two times no is a no. */
function isGuest(
	isRestricted: boolean | null | undefined,
	isUltraRestricted: boolean | null | undefined,
): boolean | null {
	if (isRestricted === true || isUltraRestricted === true) return true;
	return isRestricted === false && isUltraRestricted === false ? false : null;
}

/** The Web API client takes no signal; what it answers after the signal is dropped. */
function within<Value>(call: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		call.then(resolve, reject);
	});
}
