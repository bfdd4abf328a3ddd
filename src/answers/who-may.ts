import { type Clock, uptimeOf } from '../clock.ts';
import { keepNewest } from '../keep-newest.ts';
import type { Person } from './answer.ts';

/** What Slack says about a person. */
export interface PersonFacts {
	/** The workspace the person belongs to; null when Slack leaves it out: then the request's own word counts. */
	readonly teamId: string | null;
	readonly isGuest: boolean;
	readonly isBot: boolean;
	readonly isDeactivated: boolean;
	/** Of another organisation, seen through a shared channel. */
	readonly isStranger: boolean;
}

/** Who people are, asked of Slack. Each throws when Slack can not be asked. */
export interface Directory {
	person(userId: string, signal: AbortSignal): Promise<PersonFacts>;
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

export type Refusal =
	| 'guest'
	| 'bot'
	| 'external'
	| 'deactivated'
	| 'channel_not_allowed'
	| 'user_not_allowed'
	/** Slack could not be asked: nobody passes unchecked. */
	| 'could_not_check';

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly refusal: Refusal };

/** Facts about people hold for this long: a guest who was made one a moment ago may pass until then. */
const CACHE_MS = 5 * 60_000;
const CACHE_ENTRIES = 10_000;
/** Leaves room for the rest of the three seconds in which Slack wants its acknowledgement. */
const ASK_WITHIN_MS = 1_500;

interface Dependencies {
	readonly rules: AccessRules;
	/** The workspace the app is installed in. */
	readonly teamId: string;
	readonly directory: Directory;
	readonly clock: Clock;
}

/** Decides who may read sessions and answer: at the command, at opening, at watching and again at Submit. Fails closed. */
export function createGatekeeper({ rules, teamId, directory, clock }: Dependencies) {
	const people = createCache<PersonFacts>(clock);
	const groups = createCache<ReadonlySet<string>>(clock);

	async function isListed(userId: string, signal: AbortSignal): Promise<boolean> {
		if (rules.users.length === 0 && rules.userGroups.length === 0) return true;
		if (rules.users.includes(userId)) return true;
		for (const group of rules.userGroups) {
			const members = await groups.get(group, () => directory.userGroup(group, signal));
			if (members.has(userId)) return true;
		}
		return false;
	}

	async function check(person: Person, channelId: string | null): Promise<Verdict> {
		// Direct messages are no way around the list.
		if (rules.channels.length > 0 && (channelId === null || !rules.channels.includes(channelId))) {
			return refused('channel_not_allowed');
		}
		// Interactions say which workspace the person acts from; that needs no question to Slack.
		if (!rules.allowExternal && person.teamId !== teamId) return refused('external');
		const signal = AbortSignal.timeout(ASK_WITHIN_MS);
		try {
			const facts = await people.get(person.userId, () => directory.person(person.userId, signal));
			if (facts.isBot) return refused('bot');
			if (facts.isDeactivated) return refused('deactivated');
			if (!rules.allowExternal && (facts.isStranger || (facts.teamId ?? person.teamId) !== teamId))
				return refused('external');
			if (!rules.allowGuests && facts.isGuest) return refused('guest');
			return (await isListed(person.userId, signal)) ? { allowed: true } : refused('user_not_allowed');
		} catch {
			return refused('could_not_check');
		}
	}

	return {
		/** `channelId` is where the person acts, or where the form or answer they act on came from. */
		check,
	};
}

export type Gatekeeper = ReturnType<typeof createGatekeeper>;

function refused(refusal: Refusal): Verdict {
	return { allowed: false, refusal };
}

/**
 * Answers asked of Slack, kept for a while; the oldest goes first when there are too many. Failures are not kept. Who asks
 * while the same is being asked shares the answer: Slack allows about 100 such questions a minute.
 */
function createCache<Value>(clock: Clock) {
	const entries = new Map<string, { readonly value: Value; readonly until: number }>();
	const asking = new Map<string, Promise<Value>>();

	async function askAndKeep(key: string, ask: () => Promise<Value>): Promise<Value> {
		const value = await ask();
		keepNewest(entries, key, { value, until: uptimeOf(clock) + CACHE_MS }, CACHE_ENTRIES);
		return value;
	}

	return {
		async get(key: string, ask: () => Promise<Value>): Promise<Value> {
			const kept = entries.get(key);
			if (kept !== undefined && kept.until > uptimeOf(clock)) return kept.value;
			const running = asking.get(key);
			if (running !== undefined) return running;
			const answer = askAndKeep(key, ask).finally(() => asking.delete(key));
			asking.set(key, answer);
			return answer;
		},
	};
}
