import type { WebClient } from '@slack/web-api';
import { type AccessPolicy, type Directory, FRESH_MS, type Refusal } from '../../answers/access-policy.ts';
import type { Person } from '../../answers/answer.ts';
import { HandraiseError } from '../../errors.ts';
import type { Mention } from '../../watches/channel-settings.ts';
import { slackErrorCode } from '../clients.ts';
import type { SlackMemberships } from '../memberships.ts';

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

/** The most that Slack accepts. */
const PAGE_SIZE = 1_000;
const NO_SUCH_GROUP = new Set(['no_such_subteam', 'subteam_not_found']);

interface Dependencies {
	readonly client: WebClient;
	readonly accessPolicy: AccessPolicy;
	readonly directory: Directory;
	readonly memberships: Pick<SlackMemberships, 'isMemberNow'>;
}

/**
 * Checks whether people and user groups may be mentioned in a channel: whoever is mentioned must see the question there,
 * and people must be allowed to answer it.
 */
export function createMentionChecks({ client, accessPolicy, directory, memberships }: Dependencies) {
	async function personProblem(userId: string, { channelId, person }: MentionPlace): Promise<PersonProblem | null> {
		const verdict = await accessPolicy.check({ userId, claimedTeamId: null }, { channelId }, FRESH_MS);
		if (!verdict.allowed) {
			if (verdict.refusal !== 'could_not_check') return verdict.refusal;
			throw new HandraiseError('Slack did not tell who somebody is', { code: 'slack_unavailable', retryable: true });
		}
		if (userId === person.userId) return null;
		// Nobody else sees a person's direct message with the app.
		if (channelId.startsWith('D')) return 'not_here';
		return (await memberships.isMemberNow(userId, channelId)) ? null : 'not_here';
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

	async function groupProblems(
		groupIds: readonly string[],
		place: MentionPlace,
		signal: AbortSignal,
	): Promise<MentionProblem[]> {
		const groups = await Promise.all(
			groupIds.map(async (groupId) => ({ groupId, members: await membersOf(groupId, signal) })),
		);
		const gone = groups.filter(({ members }) => members === null);
		let absent = groups.filter(({ members }) => members !== null);
		if (absent.length > 0) {
			for await (const page of pagesOfMembers(place, signal)) {
				absent = absent.filter(({ members }) => !page.some((userId) => members?.has(userId)));
				if (absent.length === 0) break;
			}
		}
		return [
			...gone.map(({ groupId }) => ({ kind: 'group', groupId, why: 'gone' }) as const),
			...absent.map(({ groupId }) => ({ kind: 'group', groupId, why: 'nobody_here' }) as const),
		];
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
				groupProblems(groupIds, place, signal),
			]);
			const refused = people.flatMap(({ userId, why }): MentionProblem[] =>
				why === null ? [] : [{ kind: 'person', userId, why }],
			);
			return [...refused, ...groups];
		},
	};
}
