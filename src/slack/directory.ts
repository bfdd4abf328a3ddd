import type { WebClient } from '@slack/web-api';
import type { Directory } from '../answers/who-may.ts';
import { keepNewest } from '../keep-newest.ts';
import type { Names } from './words.ts';

/** Enough for the people of a large workspace who use the app within a day. */
const MOST_NAMES = 5_000;

/**
 * Who people are, from Slack's `users.info` and `usergroups.users.list`. Everybody who acts is looked up, so their names
 * are known afterwards without another call.
 */
export function createDirectory({ client }: { client: WebClient }): Directory & Names {
	const names = new Map<string, string>();

	function remember(userId: string, name: string | undefined): void {
		if (name === undefined || name === '') return;
		keepNewest(names, userId, name, MOST_NAMES);
	}

	return {
		async person(userId, signal) {
			const { user } = await within(client.users.info({ user: userId }), signal);
			if (user === undefined) throw new Error('users.info names nobody');
			remember(userId, user.profile?.display_name || user.profile?.real_name || user.real_name || user.name);
			return {
				teamId: user.team_id ?? null,
				isGuest: user.is_restricted === true || user.is_ultra_restricted === true,
				isBot: user.is_bot === true,
				isDeactivated: user.deleted === true,
				isStranger: user.is_stranger === true,
			};
		},
		async userGroup(groupId, signal) {
			const { users } = await within(client.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		displayName: (userId) => names.get(userId) ?? 'somebody',
	};
}

/** The Web API client takes no signal; what it answers after the signal is dropped. */
function within<Value>(call: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		call.then(resolve, reject);
	});
}
