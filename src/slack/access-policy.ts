import { startDeadline } from '../core/clock.ts';
import { createCache } from '../core/values.ts';
import type { Core } from '../core.ts';
import type { Origin, Person } from '../questions/answer.ts';
import { type Identity, type PersonFacts, slackFailure } from './clients.ts';

type Installation = Pick<Identity, 'teamId' | 'enterpriseId'>;

/** Where somebody acts, or where their form or answer came from. */
export interface Place extends Pick<Origin, 'channelId' | 'isCopy'> {
	/** The session that they act on by what they have had since they were in that channel, such as a window. */
	readonly sessionId?: string;
	/** The rule about channels does not apply. */
	readonly inAnyChannel?: true;
}

export const ANYWHERE: Place = { channelId: null, inAnyChannel: true };

/** Proven by Slack or by the settings. */
export const PROVEN_REFUSALS = [
	'guest',
	'bot',
	'external',
	'deactivated',
	'channel_not_allowed',
	'user_not_allowed',
] as const;
/** `could_not_check`: Slack gave no answer, left out a required fact or contradicted itself. */
export type Refusal = (typeof PROVEN_REFUSALS)[number] | 'could_not_check';

/** Whether this code says that somebody may not answer. */
export function isProvenRefusal(code: string | null): boolean {
	return PROVEN_REFUSALS.some((refusal) => refusal === code);
}

/** Why a person may not act in a channel, or in any (null); null if they may. `maxAgeMs`: of facts about people and groups. */
export type MayAct = (person: Person, channelId: string | null, maxAgeMs?: number) => Promise<Refusal | null>;

/** `not_there`: they act on a question that they had before, are not in its channel and do not have it. */
export type ActRefusal = Refusal | 'not_there';

/** `refusal`: null when it is allowed. `retryAt`: Slack asks for no call before this time, milliseconds since the epoch. */
export type Verdict = { readonly refusal: Refusal | null; readonly retryAt?: number | null };

/** How long facts about people and user groups are used: a person who became a guest may pass for so long. */
const FACTS_MAX_AGE_MS = 5 * 60_000;
/** How long the same facts are used for an answer that is sent in somebody's name. */
export const FRESH_MS = 30_000;
/** Slack wants its acknowledgement within 3 s, which includes more than this check. */
const ASK_WITHIN_MS = 1_500;
/** Where nobody waits for an acknowledgement: the time-out of background calls. */
const ASK_PATIENTLY_MS = 10_000;

/** Decides who may read sessions, watch and answer. Fails closed. `isPatient`: nobody waits for an acknowledgement. */
export function createAccessPolicy(
	{ config, directory, clock }: Core,
	installation: Installation,
	{ isPatient = false }: { isPatient?: boolean } = {},
) {
	const people = createCache(clock, directory.person);
	const groups = createCache(clock, directory.userGroup);

	async function isListedPerson(userId: string, signal: AbortSignal, maxAgeMs: number): Promise<boolean> {
		const { ALLOWED_USERS: users, ALLOWED_USERGROUPS: userGroups } = config;
		if (users.length === 0 && userGroups.length === 0) return true;
		if (users.includes(userId)) return true;
		for (const group of userGroups) {
			if ((await groups.get(group, maxAgeMs, signal)).has(userId)) return true;
		}
		return false;
	}

	function refusalOf(facts: PersonFacts): Refusal | null {
		if (facts.isBot) return 'bot';
		if (facts.isDeactivated) return 'deactivated';
		if (!config.ALLOW_EXTERNAL) {
			const membership = membershipOf(facts, installation);
			if (membership !== 'member') return membership === 'external' ? 'external' : 'could_not_check';
		}
		if (config.ALLOW_GUESTS || facts.isGuest === false) return null;
		return facts.isGuest === true ? 'guest' : 'could_not_check';
	}

	/** `claimedTeamId`: the workspace in the request. It proves nothing on Enterprise Grid, where each person has a fixed one. */
	async function check(
		{ userId, claimedTeamId }: { readonly userId: string; readonly claimedTeamId: string | null },
		place: Place,
		maxAgeMs: number = FACTS_MAX_AGE_MS,
	): Promise<Verdict> {
		// With a list of channels, direct messages are refused too.
		const isListed = config.ALLOWED_CHANNELS.length === 0 || config.ALLOWED_CHANNELS.includes(place.channelId ?? '');
		if (place.inAnyChannel !== true && !isListed) return { refusal: 'channel_not_allowed' };
		// Without an organisation, another workspace always belongs to another organisation: no need to ask Slack.
		const claimsOther = claimedTeamId !== null && claimedTeamId !== installation.teamId;
		if (!config.ALLOW_EXTERNAL && installation.enterpriseId === null && claimsOther) return { refusal: 'external' };
		using deadline = startDeadline(clock, isPatient ? ASK_PATIENTLY_MS : ASK_WITHIN_MS);
		const { signal } = deadline;
		try {
			const facts = await people.get(userId, maxAgeMs, signal);
			const refusal = facts === null ? 'could_not_check' : refusalOf(facts);
			if (refusal !== null) return { refusal };
			return { refusal: (await isListedPerson(userId, signal, maxAgeMs)) ? null : 'user_not_allowed' };
		} catch (error) {
			const { retryAfterMs } = slackFailure(error);
			return { ...NOT_CHECKED, retryAt: retryAfterMs === null ? null : clock.now() + retryAfterMs };
		}
	}

	return {
		check,
		/** For somebody who makes no request now, in a channel or in any (null). */
		async checkAbsent({ teamId, userId }: Person, channelId: string | null, maxAgeMs?: number): Promise<Verdict> {
			// Another workspace's Slack would call everybody of this one a stranger.
			if (teamId !== installation.teamId) return NOT_CHECKED;
			return check({ userId, claimedTeamId: null }, channelId === null ? ANYWHERE : { channelId }, maxAgeMs);
		},
	};
}

export type AccessPolicy = ReturnType<typeof createAccessPolicy>;

/** Whether Slack's facts prove that somebody is a member. `unproven`: facts are missing or contradict each other. */
function membershipOf({ teamId, enterprise, isStranger }: PersonFacts, ours: Installation) {
	if (isStranger) return 'external';
	const isOfTeam = teamId === ours.teamId;
	if (enterprise === null) return isOfTeam ? 'member' : teamId === null ? 'unproven' : 'external';
	const namesTeam = enterprise.teamIds.includes(ours.teamId);
	if (enterprise.id === ours.enterpriseId && namesTeam) return 'member';
	return isOfTeam || namesTeam ? 'unproven' : 'external';
}

export const NOT_CHECKED = { refusal: 'could_not_check' } as const;
