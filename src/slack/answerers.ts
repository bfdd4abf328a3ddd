import { type Answerers, type AnswerRule, namesAnybody } from '../domain/answerers.ts';
import type { Person } from '../domain/person.ts';
import { within } from '../kernel/clock.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { setBounded } from '../kernel/memory.ts';
import type { AccessPolicy, Lists, Place, Refusal } from './access-policy.ts';
import type { SlackCalls } from './calls.ts';
import type { Installation, SlackClients } from './clients.ts';
import { isDirectMessage } from './ids.ts';
import { andMoreWords, personName, placeWords } from './phrases.ts';
import { rich, sentences, type Words } from './rich-text.ts';
import type { SlackCore } from './slack-core.ts';
import { createUserGroups, groupName, MOST_NAMED, NO_GROUPS } from './user-groups.ts';

/** The time left to look up names after the check; Slack waits 3 s. Without names the refusal is told all the same. */
const NAMES_WITHIN_MS = 700;
/** The most channels whose told list revision is remembered. */
const MOST_TOLD = 1_000;

/** One page of `conversations.members`. A larger channel counts as unknown. */
const MOST_MEMBERS = 999;
/** User ids of a channel's members; null: not known, or the channel does not matter. */
type Members = ReadonlySet<string> | null;

interface Parts {
	readonly installation: Installation;
	readonly lists: Lists;
	readonly policy: Pick<AccessPolicy, 'membersOf' | 'checkNamed'>;
	readonly clients: Pick<SlackClients, 'people'>;
	readonly calls: SlackCalls;
}

/** Says who may answer where channels have lists, and tells a channel once that nobody whom it names is left. */
export function createWhoMayAnswer(
	{ clock, log, directory }: Pick<SlackCore, 'clock' | 'log' | 'directory'>,
	{ clients, calls, installation, lists, policy }: Parts,
) {
	const userGroups = createUserGroups({ client: clients.people, clock, log });
	const toldAt = new Map<string, number>();
	const teamId = () => installation.known()?.teamId ?? '';

	/** False for a person who is deactivated, not in the workspace, or not in `members`. Unknown counts as there. */
	async function isThere(userId: string, members: Members): Promise<boolean> {
		return members?.has(userId) !== false && !(await directory.hasLeft(userId));
	}

	/** Whether anybody of a user group is there. Unknown counts as there. */
	async function isGroupThere(groupId: string, members: Members): Promise<boolean> {
		const inGroup = await policy.membersOf(groupId).catch(() => null);
		if (inGroup === null) return true;
		for (const userId of inGroup) if (await isThere(userId, members)) return true;
		return false;
	}

	async function isAnybodyThere(among: readonly Answerers[]): Promise<boolean> {
		for (const userId of new Set(among.flatMap((list) => list.userIds))) if (await isThere(userId, null)) return true;
		for (const groupId of new Set(among.flatMap((list) => list.groupIds)))
			if (await isGroupThere(groupId, null)) return true;
		return false;
	}

	async function askMembers(channel: string): Promise<Members> {
		await calls.permit('conversations.members', 'look');
		const asked = clients.people.conversations.members({ channel, limit: MOST_MEMBERS });
		const { members, response_metadata: page } = await calls.noting('conversations.members', asked);
		return members === undefined || page?.next_cursor ? null : new Set(members);
	}

	/** The people and groups of a list who are still in the workspace and in `channelId`. Unknown counts as there. */
	async function stillThere({ userIds, groupIds }: Answerers, channelId: string | null): Promise<Answerers> {
		const isListed = channelId !== null && !isDirectMessage(channelId);
		const members = isListed ? await askMembers(channelId).catch(() => null) : null;
		const [people, groups] = await Promise.all([
			Promise.all(userIds.map((id) => isThere(id, members))),
			Promise.all(groupIds.map((id) => isGroupThere(id, members))),
		]);
		return {
			userIds: userIds.filter((_, index) => people[index]),
			groupIds: groupIds.filter((_, index) => groups[index]),
		};
	}

	/**
	 * The names of those whom lists name, as text that notifies nobody. `words`: `names`, and `places` if the lists are
	 * of other channels. `isNobodyLeft`: all of them are gone.
	 */
	async function named(among: readonly Answerers[]) {
		const userIds = [...new Set(among.flatMap((list) => list.userIds))];
		const groupIds = [...new Set(among.flatMap((list) => list.groupIds))];
		const shown = userIds.slice(0, MOST_NAMED);
		const shownGroups = groupIds.slice(0, MOST_NAMED - shown.length);
		const [isThere, groups] = await Promise.all([
			isAnybodyThere(among),
			shownGroups.length === 0 ? NO_GROUPS : userGroups.list(),
			...shown.map(directory.learnName),
		]);
		const names = [...shown.map((id) => personName(id, directory)), ...shownGroups.map((id) => groupName(id, groups))];
		const others = userIds.length + groupIds.length - names.length;
		const last = others === 0 ? names.pop() : undefined;
		const words = [names.join(', '), last].filter(Boolean).join(' and ');
		const told: Words = sentences(words, andMoreWords(others));
		return { names: told, places: '' as Words, words: told, isNobodyLeft: !isThere };
	}

	async function tellNobodyLeft(rules: readonly AnswerRule[]): Promise<void> {
		const untold = rules.filter(({ channelId, revision }) => toldAt.get(channelId) !== revision);
		if (untold.length === 0) return;
		for (const { channelId, revision } of untold) setBounded(toldAt, channelId, revision, MOST_TOLD);
		log.warn('nobody_may_answer', { channels: untold.map(({ channelId }) => channelId) });
		await lists.tellNobodyLeft(teamId(), untold, clock.now());
	}

	/**
	 * Whom the lists of a session name; null without lists: everybody who may use Handraise may answer. `here`: the
	 * channel in which the words stand. If its list is not among them, the words name their channels.
	 */
	async function of(sessionId: string, here: string | null) {
		const rules = await lists.ofSession(teamId(), sessionId);
		if (rules.length === 0) return null;
		const found = await named(rules);
		if (found.isNobodyLeft) await tellNobodyLeft(rules);
		const [first, ...others] = rules.map(({ channelId }) => channelId);
		if (first === undefined || first === here || others.includes(here ?? '')) return found;
		const places = sentences(placeWords(first), andMoreWords(others.length));
		return { ...found, places, words: rich`${found.names} (named in ${places})` };
	}

	/** A `not_named` as an error with the names of whom to ask (for `errorContext`). Other refusals are unchanged. */
	async function explained(refusal: Refusal, { answers, unwatches, channelId }: Place) {
		if (refusal !== 'not_named') return refusal;
		const own = unwatches === true && channelId !== null ? await lists.ofChannel(teamId(), channelId) : null;
		const asked =
			own !== null && namesAnybody(own) ? named([own]) : answers === undefined ? null : of(answers, channelId);
		const who = asked && (await within(clock, asked, NAMES_WITHIN_MS, () => null));
		const code = who?.isNobodyLeft === true ? 'nobody_left' : own === null ? 'not_named' : 'not_named_here';
		return Object.assign(new HandraiseError('a list of people does not name them', { code }), { who: who?.words });
	}

	return {
		userGroups,
		of,
		explained,
		stillThere,

		/** Why the lists of a session do not let somebody answer; null: they do. `here`: the channel that reads it. */
		async whyNot(person: Person, sessionId: string, here: string | null): Promise<Refusal | HandraiseError | null> {
			const { refusal } = await policy.checkNamed(person, sessionId);
			return refusal && explained(refusal, { channelId: here, answers: sessionId });
		},
	};
}

/** The people and groups whom lists name. */
export type Named = NonNullable<Awaited<ReturnType<WhoMayAnswer['of']>>>;
export type WhoMayAnswer = Omit<ReturnType<typeof createWhoMayAnswer>, 'userGroups'>;
