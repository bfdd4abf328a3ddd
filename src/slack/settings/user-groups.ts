import type { WebClient } from '@slack/web-api';
import { type Clock, uptimeOf } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { slackErrorCode, slackFailure } from '../clients.ts';

/** A user group as people choose it. Names and handles are untrusted text. */
export interface UserGroup {
	readonly id: string;
	readonly name: string;
	/** Without the @. */
	readonly handle: string;
}

/** The user groups of the workspace, by name, or why they are not known. */
export type UserGroups =
	| { readonly kind: 'listed'; readonly groups: readonly UserGroup[] }
	| { readonly kind: 'unknown'; readonly why: 'missing_scope' | 'no_answer' };

/** Slack allows 20 lists a minute for all people together. */
const MAX_AGE_MS = 60_000;

/** Lists user groups by `usergroups.list`, which needs an optional scope. Keeps the list for a minute, but no failure. */
export function createUserGroups({ client, clock, log }: { client: WebClient; clock: Clock; log: Log }) {
	let latest: { readonly groups: readonly UserGroup[]; readonly askedAt: number } | null = null;

	return {
		/** Does not throw. */
		async list(): Promise<UserGroups> {
			const now = uptimeOf(clock);
			if (latest !== null && now - latest.askedAt < MAX_AGE_MS) return { kind: 'listed', groups: latest.groups };
			try {
				const { usergroups = [] } = await client.usergroups.list();
				const groups = usergroups
					.flatMap(({ id, name, handle = '' }) => (id === undefined ? [] : [{ id, name: name ?? handle, handle }]))
					.toSorted((one, other) => one.name.localeCompare(other.name));
				latest = { groups, askedAt: now };
				return { kind: 'listed', groups };
			} catch (error) {
				log.info({ code: slackFailure(error).code }, 'user groups could not be listed');
				return { kind: 'unknown', why: slackErrorCode(error) === 'missing_scope' ? 'missing_scope' : 'no_answer' };
			}
		},
	};
}
