import type { WebClient } from '@slack/web-api';
import { type AccessPolicy, type Directory, FRESH_MS, type Refusal } from '../../answers/access-policy.ts';
import type { Person } from '../../answers/answer.ts';
import { HandraiseError } from '../../errors.ts';
import type { Mention } from '../../watches/channel-settings.ts';
import type { Memberships } from '../channels.ts';
import { slackErrorCode } from '../clients.ts';

/** Why somebody or a group cannot be mentioned in a place. */
export type MentionProblem =
	| { readonly kind: 'person'; readonly userId: string; readonly why: PersonProblem }
	| { readonly kind: 'group'; readonly groupId: string; readonly why: 'gone' | 'nobody_here' };
export type PersonProblem = Exclude<Refusal, 'could_not_check'> | 'not_here';

/** Where somebody is to be mentioned, and by whom it is set. */
interface MentionPlace {
	readonly channelId: string;
	readonly person: Person;
}

/** `members` null: it does not exist any more. */
interface Group {
	readonly groupId: string;
	readonly members: ReadonlySet<string> | null;
}

/** The most that Slack accepts. */
const PAGE_SIZE = 1_000;
const NO_SUCH_GROUP = new Set(['no_such_subteam', 'subteam_not_found']);

interface Dependencies {
	readonly client: WebClient;
	readonly accessPolicy: AccessPolicy;
	readonly directory: Directory;
	readonly memberships: Pick<Memberships, 'isMemberNow'>;
}

/**
 * Checks whether people and user groups may be mentioned in a channel: whoever is mentioned must see the question there,
 * and people must be allowed to answer it.
 */
export function createMentionChecks({ client, accessPolicy, directory, memberships }: Dependencies) {
	/** What the access policy says. */
	async function personProblem(userId: string, { channelId }: MentionPlace): Promise<PersonProblem | null> {
		const { refusal } = await accessPolicy.check({ userId, claimedTeamId: null }, { channelId }, FRESH_MS);
		if (refusal !== 'could_not_check') return refusal;
		throw new HandraiseError('Slack did not tell who somebody is', { code: 'slack_unavailable', retryable: true });
	}

	/** Whether somebody who is not on the first page of the channel's members is in the channel. */
	async function isFurtherOn(userId: string, { channelId }: MentionPlace): Promise<boolean> {
		// Nobody else sees a person's direct message with the app.
		return channelId.startsWith('D') ? false : memberships.isMemberNow(userId, channelId);
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

	async function* pagesOfMembers({ channelId, person }: MentionPlace, signal: AbortSignal) {
		if (channelId.startsWith('D')) {
			yield [person.userId];
			return;
		}
		let cursor: string | null = null;
		do {
			signal.throwIfAborted();
			const page: Awaited<ReturnType<typeof client.conversations.members>> = await client.conversations.members({
				channel: channelId,
				limit: PAGE_SIZE,
				...(cursor !== null && { cursor }),
			});
			yield page.members ?? [];
			cursor = page.response_metadata?.next_cursor || null;
		} while (cursor !== null);
	}

	/**
	 * Those of these people and groups whom nobody in the channel is. One list of its members answers for all in most
	 * channels. Of larger ones, the people further on are looked up one by one: that takes as long however large it is.
	 */
	async function absentOf(
		{ userIds, groups }: { userIds: readonly string[]; groups: readonly Group[] },
		place: MentionPlace,
		signal: AbortSignal,
	) {
		const absent = { userIds: [...userIds], groups: [...groups] };
		if (userIds.length + groups.length === 0) return absent;
		let isFirst = true;
		for await (const page of pagesOfMembers(place, signal)) {
			if (isFirst) {
				const others = absent.userIds.filter((userId) => !page.includes(userId));
				const found = await Promise.all(others.map((userId) => isFurtherOn(userId, place)));
				absent.userIds = others.filter((_, index) => found[index] === false);
			}
			isFirst = false;
			absent.groups = absent.groups.filter(({ members }) => !page.some((userId) => members?.has(userId)));
			if (absent.groups.length === 0) break;
		}
		return absent;
	}

	return {
		/** Empty when all of them may be mentioned. Throws when Slack does not tell, or when the signal is aborted. */
		async problems(
			{ userIds, groupIds }: Mention,
			place: MentionPlace,
			signal: AbortSignal,
		): Promise<readonly MentionProblem[]> {
			const [people, groups] = await Promise.all([
				Promise.all(userIds.map(async (userId) => ({ userId, why: await personProblem(userId, place) }))),
				Promise.all(groupIds.map(async (groupId) => ({ groupId, members: await membersOf(groupId, signal) }))),
			]);
			const wanted = {
				userIds: people.flatMap(({ userId, why }) => (why === null ? [userId] : [])),
				groups: groups.filter(({ members }) => members !== null),
			};
			const absent = await absentOf(wanted, place, signal);
			return [
				...people.flatMap(({ userId, why }): MentionProblem[] => {
					const whyNot = absent.userIds.includes(userId) ? 'not_here' : why;
					return whyNot === null ? [] : [{ kind: 'person', userId, why: whyNot }];
				}),
				...groups.flatMap(({ groupId, members }): MentionProblem[] => {
					if (members === null) return [{ kind: 'group', groupId, why: 'gone' }];
					const isAbsent = absent.groups.some((group) => group.groupId === groupId);
					return isAbsent ? [{ kind: 'group', groupId, why: 'nobody_here' }] : [];
				}),
			];
		},
	};
}
