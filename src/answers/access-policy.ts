import { setBounded } from '../bounded-map.ts';
import { type Clock, startDeadline, uptimeOf } from '../clock.ts';

/** What Slack says about a person. */
export interface PersonFacts {
	/** The workspace the person belongs to; null when Slack leaves it out, as it may on Enterprise Grid. */
	readonly teamId: string | null;
	/** The person's organisation on Enterprise Grid and their workspaces in it; null for people of no organisation. */
	readonly enterprise: { readonly id: string; readonly teamIds: readonly string[] } | null;
	/** Null when Slack does not say it. */
	readonly isGuest: boolean | null;
	readonly isBot: boolean;
	readonly isDeactivated: boolean;
	/** Of another organisation, and in no channel that the app can see. */
	readonly isStranger: boolean;
}

/** Who people are, asked of Slack. Each throws when Slack cannot be asked. */
export interface Directory {
	/** Null when Slack knows nobody by this id, or does not say what has to be known. */
	person(userId: string, signal: AbortSignal): Promise<PersonFacts | null>;
	/** Ids of the members. */
	userGroup(groupId: string, signal: AbortSignal): Promise<ReadonlySet<string>>;
}

/** The operator's rules; empty lists allow everybody. */
export interface AccessRules {
	readonly allowGuests: boolean;
	readonly allowExternal: boolean;
	readonly channels: readonly string[];
	readonly users: readonly string[];
	readonly userGroups: readonly string[];
}

/** Where the app is installed. */
export interface Installation {
	readonly teamId: string;
	/** Null for a workspace that belongs to no organisation. */
	readonly enterpriseId: string | null;
}

/** Who acts, as the request says. */
export interface Claimant {
	readonly userId: string;
	/**
	 * The workspace that the request names. On Enterprise Grid it says nothing: interactions carry one fixed workspace for
	 * all workspaces of a person. Null when the request names none.
	 */
	readonly claimedTeamId: string | null;
}

/**
 * Where somebody acts, or where the form or answer they act on came from. `anyChannel`: the rule about channels does not
 * hold for what they want.
 */
export type Place = { readonly channelId: string | null } | 'anyChannel';

export type Refusal =
	| 'guest'
	| 'bot'
	| 'external'
	| 'deactivated'
	| 'channel_not_allowed'
	| 'user_not_allowed'
	/** Slack could not be asked, left out what has to be known or contradicted itself: nobody passes unproven. */
	| 'could_not_check';

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly refusal: Refusal };

/** Facts about people and user groups hold for this long: a person who has just become a guest may pass until then … */
const FACTS_HOLD_MS = 5 * 60_000;
/** … but not for what is sent in somebody's name. */
export const FRESH_MS = 30_000;
/** "Slack says nothing about this person" holds for this long, so that their requests do not use up Slack's rate. */
const NOTHING_HOLDS_MS = 10_000;
const CACHE_ENTRIES = 10_000;
/** Leaves time for the rest: Slack wants its acknowledgement within three seconds. */
const ASK_WITHIN_MS = 1_500;

interface Dependencies {
	readonly rules: AccessRules;
	readonly installation: Installation;
	readonly directory: Directory;
	readonly clock: Clock;
}

/** Decides who may read sessions, watch them and answer: asked before everything a person wants done. Fails closed. */
export function createAccessPolicy({ rules, installation, directory, clock }: Dependencies) {
	const people = createCache<PersonFacts | null>(clock);
	const groups = createCache<ReadonlySet<string>>(clock);

	async function isListed(userId: string, signal: AbortSignal, maxAgeMs: number): Promise<boolean> {
		if (rules.users.length === 0 && rules.userGroups.length === 0) return true;
		if (rules.users.includes(userId)) return true;
		for (const group of rules.userGroups) {
			const members = await groups.get(group, maxAgeMs, () => directory.userGroup(group, signal));
			if (members.has(userId)) return true;
		}
		return false;
	}

	/** What the facts about a person forbid. */
	function refusalOf(facts: PersonFacts): Refusal | null {
		if (facts.isBot) return 'bot';
		if (facts.isDeactivated) return 'deactivated';
		if (!rules.allowExternal) {
			const membership = membershipOf(facts, installation);
			if (membership !== 'member') return membership === 'external' ? 'external' : 'could_not_check';
		}
		if (rules.allowGuests || facts.isGuest === false) return null;
		return facts.isGuest === true ? 'guest' : 'could_not_check';
	}

	/**
	 * @param maxAgeMs how old, in milliseconds, what is known of the person and of the user groups may be
	 */
	async function check(
		{ userId, claimedTeamId }: Claimant,
		place: Place,
		maxAgeMs: number = FACTS_HOLD_MS,
	): Promise<Verdict> {
		// Direct messages are no way around the list.
		if (place !== 'anyChannel' && !isAmong(rules.channels, place.channelId)) return refused('channel_not_allowed');
		// Outside of organisations another workspace is another organisation's; that needs no question to Slack.
		const claimsOther = claimedTeamId !== null && claimedTeamId !== installation.teamId;
		if (!rules.allowExternal && installation.enterpriseId === null && claimsOther) return refused('external');
		const { signal, end } = startDeadline(clock, ASK_WITHIN_MS);
		try {
			const facts = await people.get(userId, maxAgeMs, () => directory.person(userId, signal));
			const refusal = facts === null ? 'could_not_check' : refusalOf(facts);
			if (refusal !== null) return refused(refusal);
			return (await isListed(userId, signal, maxAgeMs)) ? { allowed: true } : refused('user_not_allowed');
		} catch {
			return refused('could_not_check');
		} finally {
			end();
		}
	}

	return { check };
}

export type AccessPolicy = ReturnType<typeof createAccessPolicy>;

/** Whose member somebody is, as far as Slack's facts prove it; `unproven` where they are missing or contradict each other. */
function membershipOf(
	{ teamId, enterprise, isStranger }: PersonFacts,
	ours: Installation,
): 'member' | 'external' | 'unproven' {
	if (isStranger) return 'external';
	const isOfTeam = teamId === ours.teamId;
	if (enterprise === null) return isOfTeam ? 'member' : teamId === null ? 'unproven' : 'external';
	const namesTeam = enterprise.teamIds.includes(ours.teamId);
	if (enterprise.id === ours.enterpriseId && namesTeam) return 'member';
	return isOfTeam || namesTeam ? 'unproven' : 'external';
}

function isAmong(channels: readonly string[], channelId: string | null): boolean {
	return channels.length === 0 || (channelId !== null && channels.includes(channelId));
}

function refused(refusal: Refusal): Verdict {
	return { allowed: false, refusal };
}

/**
 * Keeps responses of Slack for a while, the newest `CACHE_ENTRIES` of them, but no failures. Simultaneous requests for the
 * same share one call: Slack allows about 100 a minute.
 */
function createCache<Value>(clock: Clock) {
	const entries = new Map<string, { readonly value: Value; readonly askedAt: number }>();
	const asking = new Map<string, Promise<Value>>();

	async function askAndKeep(key: string, ask: () => Promise<Value>): Promise<Value> {
		const askedAt = uptimeOf(clock);
		const value = await ask();
		setBounded(entries, key, { value, askedAt }, CACHE_ENTRIES);
		return value;
	}

	return {
		async get(key: string, maxAgeMs: number, ask: () => Promise<Value>): Promise<Value> {
			const kept = entries.get(key);
			const holdsMs = kept?.value === null ? Math.min(NOTHING_HOLDS_MS, maxAgeMs) : maxAgeMs;
			if (kept !== undefined && uptimeOf(clock) - kept.askedAt < holdsMs) return kept.value;
			const running = asking.get(key);
			if (running !== undefined) return running;
			const answer = askAndKeep(key, ask).finally(() => asking.delete(key));
			asking.set(key, answer);
			return answer;
		},
	};
}
