import type { WebClient } from '@slack/web-api';
import { oneLine } from '../domain/shown-text.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { createCache } from '../kernel/memory.ts';
import { slackErrorCode, slackFailure } from './clients.ts';

/** A user group as people choose it. Names and handles are untrusted text. */
export interface UserGroup {
	readonly id: string;
	readonly name: string;
	/** Without the @. */
	readonly handle: string;
}

export type UserGroups =
	| { readonly kind: 'listed'; readonly groups: readonly UserGroup[] }
	| { readonly kind: 'unknown'; readonly why: 'missing_scope' | 'no_answer' };

export const NO_GROUPS: UserGroups = { kind: 'unknown', why: 'no_answer' };

/** The most people and user groups that one line names. */
export const MOST_NAMED = 5;
/** Slack allows 20 lists a minute for all people together. */
const MAX_AGE_MS = 60_000;

/** Lists user groups; the scope for it is optional. Keeps the list for a minute, but no failure. */
export function createUserGroups({ client, clock, log }: { client: WebClient; clock: Clock; log: Log }) {
	const lists = createCache(clock, async (): Promise<UserGroups> => {
		const { usergroups = [] } = await client.usergroups.list();
		const groups = usergroups
			.flatMap(({ id, name, handle = '' }) => (id === undefined ? [] : [{ id, name: name ?? handle, handle }]))
			.toSorted((one, other) => one.name.localeCompare(other.name));
		return { kind: 'listed', groups };
	});

	return {
		/** Never rejects. */
		list: (): Promise<UserGroups> =>
			lists.get('', MAX_AGE_MS).catch((error: unknown) => {
				log.info({ code: slackFailure(error).code }, 'user groups could not be listed');
				return { kind: 'unknown', why: slackErrorCode(error) === 'missing_scope' ? 'missing_scope' : 'no_answer' };
			}),
	};
}

export type UserGroupList = ReturnType<typeof createUserGroups>;

export function groupIn(groups: UserGroups, groupId: string) {
	return groups.kind === 'listed' ? groups.groups.find(({ id }) => id === groupId) : undefined;
}

export function groupName(groupId: string, groups: UserGroups): string {
	const group = groupIn(groups, groupId);
	const name = oneLine(group?.handle || group?.name || '', 80);
	return name === '' ? 'a user group' : `user group ${name}`;
}
