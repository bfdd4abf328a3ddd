import type { WebClient } from '@slack/web-api';
import type { Directory } from '../answers/who-may.ts';

/** Who people are, from Slack's `users.info` and `usergroups.users.list`. */
export function createDirectory({ client }: { client: WebClient }): Directory {
	return {
		async person(userId, signal) {
			const { user } = await within(client.users.info({ user: userId }), signal);
			if (user?.team_id === undefined) throw new Error('users.info names no workspace');
			return {
				teamId: user.team_id,
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
	};
}

/** The Web API client takes no signal; what it answers after the signal is dropped. */
function within<Value>(call: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		call.then(resolve, reject);
	});
}
