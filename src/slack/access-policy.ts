import type { Config } from '../config.ts';
import type { Origin } from '../domain/answer.ts';
import {
	type Answerers,
	type AnswerRule,
	isNamed,
	mayAnswer,
	namesAnybody,
	type PersonInGroups,
} from '../domain/answerers.ts';
import type { Person } from '../domain/person.ts';
import { startDeadline } from '../kernel/clock.ts';
import { StoreUnavailableError } from '../kernel/errors.ts';
import { createCache } from '../kernel/memory.ts';
import type { Need } from './calls.ts';
import { type Identity, isGoneGroup, slackFailure } from './clients.ts';
import { maxAgeOf, type PersonFacts } from './directory.ts';
import type { SlackCore } from './slack-core.ts';

type Ours = Pick<Identity, 'teamId' | 'enterpriseId'>;
type AccessRules = Pick<Config, Extract<keyof Config, `ALLOW${string}`>>;

/** The place of an act: where somebody acts, or where their form or answer came from. */
export interface Place extends Pick<Origin, 'channelId' | 'isCopy'> {
	/** The session of an open window or an own answer: its person may have left the channel since it was opened. */
	readonly sessionId?: string;
	/** The rule about channels does not apply. */
	readonly inAnyChannel?: true;
	/** The session that they answer: the lists of who may answer of its channels apply. */
	readonly answers?: string;
	/** They end watches in this channel: the channel's own list applies. */
	readonly unwatches?: true;
}

export const ANYWHERE: Place = { channelId: null, inAnyChannel: true };

/** Refusals that Slack or the settings prove. They hold until something changes, so an answer fails for good. */
// biome-ignore format: a list of words
export const PROVEN_REFUSALS = [
	'guest', 'bot', 'external', 'deactivated', 'channel_not_allowed', 'user_not_allowed', 'not_named',
] as const;
/** `could_not_check`: Slack gave no answer, left out a required fact or contradicted itself. */
export type Refusal = (typeof PROVEN_REFUSALS)[number] | 'could_not_check';

/** Whether this code says that somebody may not answer. */
export const isProvenRefusal = (code: string | null) => PROVEN_REFUSALS.some((refusal) => refusal === code);

/** Why a person may not act somewhere; null if they may. `need`: `look` if left out. */
export type MayAct = (person: Person, place: Place, need?: Need) => Promise<Refusal | null>;

/** `not_named` in other words: of a list that decides about watches, or of which nobody is left. */
export const NAMED_REFUSALS = ['not_named_here', 'nobody_left'] as const;

/** Whether a rule refused. A person who could not be checked is not refused: that is a failure. */
export const isCertainRefusal = (code: string) =>
	[...PROVEN_REFUSALS, ...NAMED_REFUSALS, 'not_there'].some((refusal) => refusal === code);

/** `not_there`: they act on an older copy or window of a question, are not in its channel and do not hold it. */
export type ActRefusal = Refusal | 'not_there';

/** `refusal`: null when allowed. `retryAt`: Slack asks for no call before this time, milliseconds since the epoch. */
export type AccessVerdict = { readonly refusal: Refusal | null; readonly retryAt?: number | null };

/** What a rule looked at: a setting, fields of `users.info`, lists of channels. `no_answer`: Slack did not respond. */
export type Ground = keyof AccessRules | PersonField | 'list' | 'no_answer';
type PersonField = 'id' | 'is_bot' | 'deleted' | 'is_stranger' | 'team_id' | 'enterprise_user' | typeof GUEST_FLAGS;
const GUEST_FLAGS = 'is_restricted is_ultra_restricted';
/** The result of one rule; `refusal`: null when it does not refuse. */
type Ruling = readonly [ground: Ground, refusal: Refusal | null];

/** `claimedTeamId`: the workspace that the request names. On Enterprise Grid it proves nothing about the person. */
type Acting = { readonly userId: string; readonly claimedTeamId: string | null };

/** Slack waits 3 s for an acknowledgement, and this check is a part of that time. */
const ASK_WITHIN_MS = 1_500;
/** The time-out of background calls, for checks for which no acknowledgement waits. */
const ASK_PATIENTLY_MS = 10_000;

/** The stored lists of who may answer, one for each channel that has one. */
export interface Lists {
	/** The lists that decide about a session. */
	ofSession(teamId: string, sessionId: string): Promise<readonly AnswerRule[]>;
	/** The lists of all sessions that have some, by session id. */
	ofAll(teamId: string): Promise<ReadonlyMap<string, readonly AnswerRule[]>>;
	/** The list of a channel. */
	ofChannel(teamId: string, channelId: string): Promise<Answerers>;
	/** Posts to these channels that nobody whom they name is left, once for each revision of a list. */
	tellNobodyLeft(teamId: string, rules: readonly AnswerRule[], now: number): Promise<unknown>;
}

/** Decides who may read sessions, watch and answer. Refuses everybody while `installation` is null (not yet known). */
export function createAccessPolicy(
	{ config, directory, clock }: Pick<SlackCore, 'directory' | 'clock'> & { readonly config: AccessRules },
	installation: () => Ours | null,
	lists: Omit<Lists, 'tellNobodyLeft'>,
) {
	const groups = createCache(clock, directory.userGroup);

	/** A group that is gone has no members. */
	const membersOf = (groupId: string, need: Need = 'look', signal?: AbortSignal): Promise<ReadonlySet<string>> =>
		groups.get(groupId, maxAgeOf(need), signal).catch((error: unknown) => {
			if (isGoneGroup(error)) return new Set<string>();
			throw error;
		});

	/** The groups of these lists that somebody is in. Asks Slack only if the lists do not name the person by id. */
	async function withGroups(userId: string, among: readonly Answerers[], need: Need, signal?: AbortSignal) {
		const none: PersonInGroups = { userId, groupIds: new Set() };
		if (isNamed(none, among)) return none;
		const asked = [...new Set(among.flatMap(({ groupIds }) => groupIds))];
		const isIn = await Promise.all(asked.map(async (id) => (await membersOf(id, need, signal)).has(userId)));
		return { userId, groupIds: new Set(asked.filter((_, index) => isIn[index])) } satisfies PersonInGroups;
	}

	/** The ruling of the place's lists; null when it has none, or they name nobody. */
	async function placeRuling(
		{ teamId, userId }: Person,
		place: Place,
		need: Need,
		signal: AbortSignal,
	): Promise<Ruling | null> {
		const { answers, unwatches, channelId } = place;
		const ofSession = answers === undefined ? [] : await lists.ofSession(teamId, answers);
		const own = unwatches === true && channelId !== null ? await lists.ofChannel(teamId, channelId) : null;
		const among = [...ofSession, ...(own !== null && namesAnybody(own) ? [own] : [])];
		if (among.length === 0) return null;
		return ['list', isNamed(await withGroups(userId, among, need, signal), among) ? null : 'not_named'];
	}

	async function listRuling(userId: string, signal: AbortSignal, need: Need): Promise<Ruling | null> {
		const { ALLOWED_USERS: users, ALLOWED_USERGROUPS: userGroups } = config;
		if (users.length === 0 && userGroups.length === 0) return null;
		if (users.includes(userId)) return ['ALLOWED_USERS', null];
		for (const group of userGroups) {
			if ((await groups.get(group, maxAgeOf(need), signal)).has(userId)) return ['ALLOWED_USERGROUPS', null];
		}
		return [userGroups.length === 0 ? 'ALLOWED_USERS' : 'ALLOWED_USERGROUPS', 'user_not_allowed'];
	}

	function* personRulings(facts: PersonFacts, ours: Ours): Generator<Ruling> {
		if (facts.isBot) yield ['is_bot', 'bot'];
		if (facts.isDeactivated) yield ['deleted', 'deactivated'];
		yield config.ALLOW_EXTERNAL ? ['ALLOW_EXTERNAL', null] : membershipRuling(facts, ours);
		if (config.ALLOW_GUESTS) yield ['ALLOW_GUESTS', null];
		else yield [GUEST_FLAGS, facts.isGuest === null ? 'could_not_check' : facts.isGuest ? 'guest' : null];
	}

	/** All rules in their order: the first one that refuses decides. Throws when Slack does not answer. */
	async function* rulings({ userId, claimedTeamId }: Acting, place: Place, need: Need): AsyncGenerator<Ruling> {
		const ours = installation();
		if (ours === null) return yield ['no_answer', 'could_not_check'];
		// With a list of channels, direct messages are refused too.
		const { ALLOWED_CHANNELS: listed } = config;
		if (place.inAnyChannel !== true && listed.length > 0)
			yield ['ALLOWED_CHANNELS', listed.includes(place.channelId ?? '') ? null : 'channel_not_allowed'];
		// Without an organisation, another workspace is always another organisation's: no need to ask Slack.
		const claimsOther = claimedTeamId !== null && claimedTeamId !== ours.teamId;
		if (!config.ALLOW_EXTERNAL && ours.enterpriseId === null && claimsOther) yield ['team_id', 'external'];
		using deadline = startDeadline(clock, need === 'late' ? ASK_PATIENTLY_MS : ASK_WITHIN_MS);
		const { signal } = deadline;
		const facts = await directory.person(userId, need, signal);
		if (facts === null) return yield ['id', 'could_not_check'];
		yield* personRulings(facts, ours);
		const ofList = await listRuling(userId, signal, need);
		if (ofList !== null) yield ofList;
		const ofPlace = await placeRuling({ teamId: ours.teamId, userId }, place, need, signal);
		if (ofPlace !== null) yield ofPlace;
	}

	/** Throws when it is the store that does not answer. */
	function notAnswered(error: unknown): AccessVerdict {
		if (error instanceof StoreUnavailableError) throw error;
		const { retryAfterMs } = slackFailure(error);
		return { ...NOT_CHECKED, retryAt: retryAfterMs === null ? null : clock.now() + retryAfterMs };
	}

	/** `grounds`: what the rules looked at; of a refusal, the last one decided. */
	async function check(acting: Acting, place: Place, need: Need = 'look') {
		const grounds: Ground[] = [];
		const verdict = (given: AccessVerdict) => ({ ...given, grounds: grounds as readonly Ground[] });
		try {
			for await (const [ground, refusal] of rulings(acting, place, need)) {
				grounds.push(ground);
				if (refusal !== null) return verdict({ refusal });
			}
			return verdict({ refusal: null });
		} catch (error) {
			grounds.push('no_answer');
			return verdict(notAnswered(error));
		}
	}

	return {
		check,
		/** As `check`, for somebody who makes no request now. */
		async checkAbsent({ teamId, userId }: Person, place: Place, need?: Need): Promise<AccessVerdict> {
			// For Slack, people of another workspace are strangers to this one, so its facts would refuse all of them.
			if (teamId !== installation()?.teamId) return NOT_CHECKED;
			return check({ userId, claimedTeamId: null }, place, need);
		},
		/** Checks only the lists of a session, for somebody who may use Handraise; works before `auth.test` too. */
		async checkNamed(person: Person, sessionId: string, need: Need = 'look'): Promise<AccessVerdict> {
			using deadline = startDeadline(clock, need === 'late' ? ASK_PATIENTLY_MS : ASK_WITHIN_MS);
			const place = { channelId: null, answers: sessionId };
			const ruling = placeRuling(person, place, need, deadline.signal);
			return ruling.then((said) => ({ refusal: said?.[1] ?? null }), notAnswered);
		},
		membersOf,
		/** Which sessions somebody may answer by their lists. `failure`: why Slack did not tell group members, or null. */
		async answering({ teamId, userId }: Person, sessionIds: readonly string[]) {
			const rules = await lists.ofAll(teamId);
			const among = sessionIds.flatMap((id) => rules.get(id) ?? []);
			// Lists that name the person by id need no call. The others may name them by a group.
			const others = among.filter((list) => !list.userIds.includes(userId));
			let failure: unknown = null;
			const person = await withGroups(userId, others, 'look').catch((error: unknown): PersonInGroups => {
				failure = error;
				return { userId, groupIds: new Set() };
			});
			return { failure, mayAnswer: (sessionId: string) => mayAnswer(person, rules.get(sessionId) ?? []) };
		},
		/** Whether somebody is named in a list of who may answer, or nobody is. Throws when Slack does not tell. */
		mayChange: async (userId: string, list: Answerers) =>
			!namesAnybody(list) || isNamed(await withGroups(userId, [list], 'send'), [list]),
		/** The groups of these lists that somebody is in. Counts none of them while Slack does not tell group members. */
		async withGroups(userId: string, rules: readonly AnswerRule[]): Promise<PersonInGroups> {
			using deadline = startDeadline(clock, ASK_WITHIN_MS);
			const nothing: PersonInGroups = { userId, groupIds: new Set() };
			return withGroups(userId, rules, 'send', deadline.signal).catch(() => nothing);
		},
	};
}

export type AccessPolicy = ReturnType<typeof createAccessPolicy>;

/** Whether Slack's facts prove a membership. They may be missing or contradict each other: `could_not_check`. */
function membershipRuling({ teamId, enterprise, isStranger }: PersonFacts, ours: Ours): Ruling {
	if (isStranger) return ['is_stranger', 'external'];
	const isOfTeam = teamId === ours.teamId;
	if (enterprise === null) return ['team_id', isOfTeam ? null : teamId === null ? 'could_not_check' : 'external'];
	const namesTeam = enterprise.teamIds.includes(ours.teamId);
	const isMember = enterprise.id === ours.enterpriseId && namesTeam;
	return ['enterprise_user', isMember ? null : isOfTeam || namesTeam ? 'could_not_check' : 'external'];
}

export const NOT_CHECKED = { refusal: 'could_not_check' } as const;
