import type { ConversationsMembersResponse, WebClient } from '@slack/web-api';
import { type AccessPolicy, type Directory, FRESH_MS, type Refusal } from '../../answers/access-policy.ts';
import type { Person } from '../../answers/answer.ts';
import { type Clock, uptimeOf, within } from '../../clock.ts';
import { HandraiseError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Mention } from '../../watches/channel-settings.ts';
import type { Memberships } from '../channels.ts';
import { slackErrorCode, slackFailure } from '../clients.ts';

/** Why people and groups cannot be mentioned in a place. */
export interface MentionProblems {
	readonly people: readonly { readonly userId: string; readonly why: PersonProblem }[];
	readonly groups: readonly { readonly groupId: string; readonly why: 'gone' | 'nobody_here' }[];
}
export type PersonProblem = Exclude<Refusal, 'could_not_check'> | 'not_here';

/** Where somebody is to be mentioned, and by whom it is set. */
interface MentionPlace {
	readonly channelId: string;
	readonly person: Person;
}

/** The most that Slack accepts. */
const PAGE_SIZE = 1_000;
const NO_SUCH_GROUP = new Set(['no_such_subteam', 'subteam_not_found']);

/** Checks mentions in a channel: whoever is mentioned must see the question there, and people must be allowed to answer it. */
export function createMentionChecks(
	client: WebClient,
	accessPolicy: AccessPolicy,
	{ directory, memberships }: { directory: Directory; memberships: Memberships },
) {
	async function refusalOf(userId: string, { channelId }: MentionPlace) {
		const { refusal } = await accessPolicy.check({ userId, claimedTeamId: null }, { channelId }, FRESH_MS);
		if (refusal !== 'could_not_check') return refusal;
		throw new HandraiseError('Slack did not tell who somebody is', { code: 'slack_unavailable', retryable: true });
	}

	/** Null for a group that does not exist any more. */
	async function membersOf(groupId: string, signal: AbortSignal): Promise<ReadonlySet<string> | null> {
		try {
			return await directory.userGroup(groupId, signal);
		} catch (error) {
			if (NO_SUCH_GROUP.has(slackErrorCode(error) ?? '')) return null;
			throw error;
		}
	}

	async function* pagesOfMembers({ channelId, person }: MentionPlace): AsyncGenerator<readonly string[]> {
		// Nobody else sees a person's direct message with the app.
		if (channelId.startsWith('D')) return yield [person.userId];
		const pages = client.paginate('conversations.members', { channel: channelId, limit: PAGE_SIZE });
		for await (const page of pages) yield (page as ConversationsMembersResponse).members ?? [];
	}

	/**
	 * Those of these people and groups whom nobody in the channel is. One list of its members answers for all in most
	 * channels. Of larger ones, the people further on are looked up one by one: that takes as long however large it is.
	 */
	async function absentOf(
		people: readonly string[],
		groups: ReadonlyMap<string, ReadonlySet<string>>,
		place: MentionPlace,
		signal: AbortSignal,
	): Promise<ReadonlySet<string>> {
		const absent = new Set([...people, ...groups.keys()]);
		if (absent.size === 0) return absent;
		let isFirst = true;
		for await (const page of pagesOfMembers(place)) {
			signal.throwIfAborted();
			for (const userId of page) absent.delete(userId);
			for (const [id, members] of groups) if (page.some((userId) => members.has(userId))) absent.delete(id);
			const others = people.filter((userId) => isFirst && absent.has(userId) && !place.channelId.startsWith('D'));
			isFirst = false;
			const isHere = (userId: string) => memberships.isMemberNow(userId, place.channelId);
			await Promise.all(others.map(async (userId) => (await isHere(userId)) && absent.delete(userId)));
			if (![...groups.keys()].some((id) => absent.has(id))) break;
		}
		return absent;
	}

	/** Throws when Slack does not tell, or when the signal is aborted. */
	return async ({ userIds, groupIds }: Mention, place: MentionPlace, signal: AbortSignal): Promise<MentionProblems> => {
		const [people, groups] = await Promise.all([
			Promise.all(userIds.map(async (userId) => ({ userId, why: await refusalOf(userId, place) }))),
			Promise.all(groupIds.map(async (groupId) => ({ groupId, members: await membersOf(groupId, signal) }))),
		]);
		const allowed = people.flatMap(({ userId, why }) => (why === null ? userId : []));
		const existing = new Map(groups.flatMap(({ groupId, members }) => (members === null ? [] : [[groupId, members]])));
		const absent = await absentOf(allowed, existing, place, signal);
		return {
			people: people.flatMap(({ userId, why }) =>
				why !== null || absent.has(userId) ? [{ userId, why: why ?? 'not_here' }] : [],
			),
			groups: groups.flatMap(({ groupId, members }) =>
				members === null || absent.has(groupId)
					? [{ groupId, why: members === null ? ('gone' as const) : ('nobody_here' as const) }]
					: [],
			),
		};
	};
}

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

export const NO_GROUPS: UserGroups = { kind: 'unknown', why: 'no_answer' };

/** Slack allows 20 lists a minute for all people together. */
const MAX_AGE_MS = 60_000;

/** Lists user groups by `usergroups.list`, which needs an optional scope. Keeps the list for a minute, but no failure. */
export function createUserGroups({ client, clock, log }: { client: WebClient; clock: Clock; log: Log }) {
	let latest: { readonly groups: readonly UserGroup[]; readonly askedAt: number } | null = null;

	/** Does not throw. */
	async function list(): Promise<UserGroups> {
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
	}

	return {
		list,
		/** For an acknowledgement that waits. */
		listWithin: (ms: number) => within(clock, list(), ms, () => NO_GROUPS),
	};
}
