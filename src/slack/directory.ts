import type { UsersInfoResponse } from '@slack/web-api';
import { z } from 'zod';
import { isForgotten, type Person } from '../domain/person.ts';
import { CLOCK_ALLOWANCE_MS, type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import { type SharedState, setBounded, shareRunning } from '../kernel/memory.ts';
import { timeZoneNamed } from '../kernel/quiet-hours.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { type Need, rateLimitError, type SlackCalls } from './calls.ts';
import { type SlackClients, slackErrorCode } from './clients.ts';

/** Facts about people, user groups and members of channels are used this long: a new guest passes until then. */
export const FACTS_MAX_AGE_MS = 5 * 60_000;
/** The age limit of facts for an answer that is sent in somebody's name. */
export const FRESH_MS = 30_000;
export const maxAgeOf = (need: Need) => (need === 'send' || need === 'late' ? FRESH_MS : FACTS_MAX_AGE_MS);

/** The most people in memory: enough for those who use the app within a few minutes, and for names. */
const MAX_KNOWN = 10_000;
/** An unknown id is not asked again for this long, because Slack allows only about 100 calls a minute. */
const NULL_MAX_AGE_MS = 10_000;
/** Slack allows 1,000 and recommends 200. With 500, the list of 2,000 people fits into a burst of calls. */
export const USERS_PAGE = 500;
/** A person's wait for Slack's facts ends after this. */
const WAITS_MS = 120_000;
/** The pause between looks at those who wait: `users.info` gets room for one call in this time. */
const SERVED_EVERY_MS = 750;
/** Writes are gathered this long, because each change of a person's status sends an event. */
const GATHERED_MS = 1_000;
/** Ends a list whose cursors never end. */
const MAX_PAGES = 400;
/** A replica that takes longer than this for a page loses the list to another one. */
const LIST_LEASE_MS = 10_000;

const NAME = z.string().nullish().catch(null);
/** Slack omits guest flags of people who left. On Enterprise Grid it may omit `team_id`; see `enterprise_user`. */
const USER_SCHEMA = z
	.object({
		id: z.string(),
		deleted: z.boolean(),
		is_bot: z.boolean(),
		team_id: z.string().nullish(),
		enterprise_user: z.object({ enterprise_id: z.string(), teams: z.array(z.string()) }).nullish(),
		is_restricted: z.boolean().nullish(),
		is_ultra_restricted: z.boolean().nullish(),
		is_stranger: z.boolean().nullish(),
		tz: z.string().transform(timeZoneNamed).nullish().catch(null),
		name: NAME,
		real_name: NAME,
		profile: z.object({ display_name: NAME, real_name: NAME }).nullish().catch(null),
	})
	.transform(({ profile, real_name, ...user }) => {
		return { ...user, name: profile?.display_name || profile?.real_name || real_name || user.name };
	});

/** What Slack told of a person. `at`: when it was asked, clock milliseconds. `isListed`: by a list of many people. */
export const PERSON_RECORD = z.object({
	user: USER_SCHEMA.nullable(),
	at: z.number(),
	isListed: z.boolean(),
	/** Slack knows the person but left out a required field, so `user` is null. */
	isUnreadable: z.boolean().default(false),
});
type PersonRecord = DeepReadonly<z.infer<typeof PERSON_RECORD>>;
type User = NonNullable<PersonRecord['user']>;

function factsOf(user: User | null) {
	if (user === null) return null;
	const { enterprise_user: enterprise } = user;
	return {
		/** The person's workspace; null when Slack leaves it out, as it may on Enterprise Grid. */
		teamId: user.team_id ?? null,
		/** The person's organisation on Enterprise Grid and their workspaces in it; null when they are in none. */
		enterprise: enterprise == null ? null : { id: enterprise.enterprise_id, teamIds: enterprise.teams },
		isGuest: isGuest(user),
		// Slack sends `is_bot: false` for Slackbot (bolt-js #794).
		isBot: user.is_bot || user.id === 'USLACKBOT',
		isDeactivated: user.deleted,
		/** From another organisation, and in no channel that the app can see. */
		isStranger: user.is_stranger === true,
	};
}

export type PersonFacts = NonNullable<ReturnType<typeof factsOf>>;

/** Whether the facts of a list are enough. A person with missing or contradicting facts is asked about singly. */
function isComplete(user: User): boolean {
	const { team_id: teamId, enterprise_user: enterprise } = user;
	if (isGuest(user) === null && !user.deleted) return false;
	return enterprise == null ? teamId != null : enterprise.teams.length > 0;
}

/** What replicas share: stored rows of people, and who reads the list. */
export interface Shared {
	readonly store: {
		of(teamId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
		told(teamId: string, told: ReadonlyMap<string, { readonly at: number }>): Promise<unknown>;
		want(person: Person, now: number): Promise<unknown>;
		wanted(teamId: string, since: number): Promise<ReadonlySet<string>>;
		listed(teamId: string, told: ReadonlyMap<string, object>): Promise<unknown>;
		outdate(teamId: string, userIds: readonly string[]): Promise<unknown>;
	};
	/** The replica that reads the list, until when. */
	readonly listing: SharedState<{ readonly by: string; readonly until: number }>;
	teamId(): string | undefined;
	/** Whether a row can be newer than what this process knows. */
	readonly hasReplicas: boolean;
}

type Parts = Readonly<{ clients: Pick<SlackClients, 'people' | 'background'>; calls: SlackCalls; clock: Clock }>;

/**
 * What Slack tells of people: facts, names and time zones. It looks in memory, then in stored rows (`shared`; null:
 * there are none), then asks Slack. If the limit has no room for a Home's call, one replica reads `users.list` instead.
 */
export function createDirectory({ clients, calls, clock }: Parts, shared: Shared | null = null) {
	const memory = new Map<string, PersonRecord>();
	const names = new Map<string, string>();
	const timeZones = new Map<string, string>();
	const asking = new Map<string, Promise<PersonRecord>>();
	/** People who wait until Slack tells of them, by user id, the longest waiting first. */
	const waiting = new Map<string, PromiseWithResolvers<void> & { readonly since: number }>();
	/** Uptime, as `since`, at which the newest complete read of the list began. Who waited then was not in it. */
	let listedAt = Number.NEGATIVE_INFINITY;
	const listeners: (() => void)[] = [];
	const stopping = new AbortController();
	const own = crypto.randomUUID();

	const teamId = () => shared?.teamId() ?? '';
	const outdate = async (ids: readonly string[]) => shared?.store.outdate(teamId(), ids).catch(() => undefined);

	function isFresh(known: PersonRecord | undefined, need: Need): known is PersonRecord {
		if (known === undefined || (known.isListed && maxAgeOf(need) === FRESH_MS)) return false;
		const maxAgeMs = known.user === null ? NULL_MAX_AGE_MS : maxAgeOf(need);
		const ageMs = clock.now() - known.at;
		// A time in the future means that the clock was set back since.
		return ageMs > -CLOCK_ALLOWANCE_MS && ageMs < maxAgeMs;
	}

	/** Keeps former names and time zones, because Slack leaves them out for people who left. */
	function remember(userId: string, told: PersonRecord): PersonRecord {
		setBounded(memory, userId, told, MAX_KNOWN);
		const { name, tz } = told.user ?? {};
		if (name != null) setBounded(names, userId, name, MAX_KNOWN);
		if (tz != null) setBounded(timeZones, userId, tz, MAX_KNOWN);
		if (isFresh(told, 'look')) endWait(userId);
		return told;
	}

	function endWait(userId: string): void {
		waiting.get(userId)?.resolve();
		waiting.delete(userId);
	}

	/** Takes over what stored rows tell of these people, if it is newer. */
	async function recall(userIds: readonly string[]): Promise<void> {
		const stored = await shared?.store.of(teamId(), userIds).catch(() => undefined);
		for (const userId of userIds) {
			const { data } = PERSON_RECORD.safeParse(stored?.get(userId));
			if (data === undefined) continue;
			// The name in an outdated row is better than none.
			if (data.at > (memory.get(userId)?.at ?? 0)) remember(userId, data);
			else if (data.user?.name != null && !names.has(userId)) setBounded(names, userId, data.user.name, MAX_KNOWN);
		}
	}

	async function ask(userId: string, need: Need): Promise<PersonRecord> {
		if (shared?.hasReplicas !== false || !memory.has(userId)) await recall([userId]);
		const known = memory.get(userId);
		if (isFresh(known, need)) return known;
		// Others have waited longer.
		if (need === 'look' && waiting.size > 0) throw rateLimitError('users.info', SERVED_EVERY_MS, clock.now());
		await calls.permit('users.info', need).catch((error) => wait(userId, need, error));
		return call(userId, need);
	}

	/** Asks Slack. The call has to be permitted before. */
	async function call(userId: string, need: Need): Promise<PersonRecord> {
		const at = clock.now();
		const { users } = need === 'late' ? clients.background : clients.people;
		const { user } = await calls.noting('users.info', users.info({ user: userId })).catch(nobodyIfUnknown);
		const { data } = USER_SCHEMA.safeParse(user);
		const isTold = data?.id === userId;
		const told = { user: isTold ? data : null, at, isListed: false, isUnreadable: user !== undefined && !isTold };
		untold.set(userId, told);
		keepTold();
		return remember(userId, told);
	}

	const untold = new Map<string, PersonRecord>();
	/** Writes rows in one transaction a second, so that these writes delay no answers. Nobody waits for them. */
	const keepTold = atOneTime(async () => {
		while (untold.size > 0 && shared !== null) {
			await clock.sleep(GATHERED_MS, stopping.signal);
			const told = new Map(untold);
			untold.clear();
			if (told.size > 0) await shared.store.told(teamId(), told).catch(() => undefined);
		}
	});

	/** Requests with the same need share a call. With another need a call may be refused, or take longer. */
	function askOnce(userId: string, need: Need): Promise<PersonRecord> {
		const key = `${need} ${userId}`;
		const call = asking.get(key) ?? ask(userId, need).finally(() => asking.delete(key));
		asking.set(key, call);
		return call;
	}

	/**
	 * Waits for facts about a person for whom the limit had no room: by the list, or by a call once there is room.
	 * Resolves also after two minutes without facts, and at a stop.
	 */
	async function untilTold(userId: string): Promise<void> {
		const wait = waiting.get(userId) ?? { ...Promise.withResolvers<void>(), since: uptimeOf(clock) };
		waiting.set(userId, wait);
		// The replica that reads the list looks for all who are wanted.
		await shared?.store.want({ teamId: teamId(), userId }, clock.now()).catch(() => undefined);
		serveWaiting();
		await wait.promise;
	}

	const serveWaiting = atOneTime(async () => {
		try {
			while (waiting.size > 0) {
				stopping.signal.throwIfAborted();
				// Another replica may have read them in the list.
				if (shared?.hasReplicas === true) await recall([...waiting.keys()]);
				for (const [userId, { since }] of waiting) if (uptimeOf(clock) - since >= WAITS_MS) endWait(userId);
				if (Array.from(waiting.values()).some(({ since }) => since > listedAt)) readList();
				await askForFirst();
				await clock.sleep(SERVED_EVERY_MS, stopping.signal);
			}
		} finally {
			for (const userId of waiting.keys()) endWait(userId);
		}
	});

	/** Asks about those who have waited longest, as far as there is room. Nobody waits for Slack's replies here. */
	async function askForFirst(): Promise<void> {
		for (const userId of waiting.keys()) {
			const key = `look ${userId}`;
			if (asking.has(key)) continue;
			if ((await calls.waitMs('users.info', 'look')) > 0) return;
			const asked = call(userId, 'look').finally(() => asking.delete(key));
			asking.set(key, asked);
			asked.catch(() => {
				const wait = waiting.get(userId);
				// Goes to the end, so that a failing call holds up nobody.
				if (waiting.delete(userId) && wait !== undefined) waiting.set(userId, wait);
			});
		}
	}

	/** For a call without room: Homes are served by the list. Throws `error`. */
	async function wait(userId: string, need: Need, error: unknown): Promise<never> {
		if (need === 'home' && shared !== null) {
			await shared.store.want({ teamId: teamId(), userId }, clock.now());
			readList();
		}
		throw error;
	}

	/** Reads the list page by page, until nobody waits any more or it ends. Only one replica reads at a time. */
	const readList = atOneTime(async () => {
		if (shared === null) return;
		const { store, listing } = shared;
		const [begunAt, begunUptime] = [clock.now(), uptimeOf(clock)];
		for (let [cursor, pages] = ['', 0]; pages < MAX_PAGES; pages += 1) {
			const wanted = await store.wanted(teamId(), clock.now() - WAITS_MS);
			if (wanted.size === 0) return;
			const now = clock.now();
			const isOurs = await listing.update((before) => {
				if (before !== null && before.by !== own && before.until > now) return { state: before, result: false };
				return { state: { by: own, until: now + LIST_LEASE_MS }, result: true };
			});
			if (!isOurs) return;
			await calls.turn('users.list', stopping.signal);
			const at = clock.now();
			const asked = clients.background.users.list({ limit: USERS_PAGE, ...(cursor !== '' && { cursor }) });
			const { members = [], response_metadata: page } = await calls.noting('users.list', asked);
			for (const member of members) {
				const { data: user } = USER_SCHEMA.safeParse(member);
				// Keeps everybody, because others of a crowd may come next. Fresh facts of a single call are better than these.
				if (user === undefined || !isComplete(user) || isFresh(memory.get(user.id), 'send')) continue;
				remember(user.id, { user, at, isListed: true, isUnreadable: false });
			}
			const found = [...wanted].flatMap((userId) => {
				const told = memory.get(userId);
				return told?.isListed && told.at >= begunAt ? [[userId, told] as const] : [];
			});
			await store.listed(teamId(), new Map(found));
			if (found.length > 0) for (const listener of listeners) listener();
			cursor = page?.next_cursor ?? '';
			if (cursor !== '') continue;
			listedAt = begunUptime;
			return;
		}
	});

	async function toldOf(userId: string, need: Need, signal?: AbortSignal): Promise<PersonRecord> {
		const known = memory.get(userId);
		return isFresh(known, need) ? known : unlessAborted(askOnce(userId, need), signal);
	}

	/** Facts about a person; null for an id unknown to Slack or a forgotten person. Throws when Slack does not tell. */
	async function person(userId: string, need: Need = 'look', signal?: AbortSignal): Promise<PersonFacts | null> {
		return isForgotten(userId) ? null : factsOf((await toldOf(userId, need, signal)).user);
	}

	const changed = new Set<string>();
	/** Writes the changes of a second, of all people, in one statement. */
	const outdateChanged = atOneTime(async () => {
		while (changed.size > 0) {
			await clock.sleep(GATHERED_MS, stopping.signal);
			const ids = [...changed];
			changed.clear();
			for (const id of ids) {
				memory.delete(id);
				untold.delete(id);
			}
			await outdate(ids);
		}
	});

	return {
		person,
		/** Whether a person is deactivated, forgotten or unknown to Slack; false when Slack does not tell. */
		async hasLeft(userId: string): Promise<boolean> {
			if (isForgotten(userId)) return true;
			const told = await toldOf(userId, 'look').catch(() => null);
			return told !== null && (told.user?.deleted ?? !told.isUnreadable);
		},
		untilTold,
		/** Whether this process has fresh facts about a person. */
		knows: (userId: string) => isFresh(memory.get(userId), 'look'),
		/** The user ids of a group's members. */
		async userGroup(groupId: string, signal?: AbortSignal): Promise<ReadonlySet<string>> {
			const { users } = await unlessAborted(clients.people.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		/**
		 * The name of a person, asked for if it is not known or their account has changed since. Null: Slack does not tell
		 * it. Never rejects.
		 */
		async learnName(userId: string): Promise<string | null> {
			const isKnown = () => names.has(userId) && memory.has(userId);
			if (!isKnown()) await recall([userId]);
			if (!isKnown()) await person(userId).catch(() => null);
			return names.get(userId) ?? null;
		},
		/** Takes names from stored rows without asking Slack. For drawings: whoever acted has a row, unless forgotten. */
		async recallNames(userIds: readonly string[]): Promise<void> {
			const unknown = userIds.filter((userId) => !names.has(userId));
			if (unknown.length > 0) await recall(unknown);
		},
		displayName: (userId: string) => names.get(userId) ?? 'somebody',
		/** Such as `Europe/Berlin`; null when it is not known, or none in which times can be computed. */
		timeZoneOf: (userId: string) => timeZones.get(userId) ?? null,
		/** Call it when a person's account changed. Facts are asked anew, because Slack's event may be late. */
		changed(userId: string): void {
			changed.add(userId);
			outdateChanged();
		},
		/** Calls `listener` when the list has told facts for which Homes wait. */
		onListed: (listener: () => void) => void listeners.push(listener),
		stop: () => stopping.abort(),
	};
}

export type Directory = ReturnType<typeof createDirectory>;

/** Starts `work` unless it is running. Ignores its failure. */
function atOneTime(work: () => Promise<void>): () => void {
	const begun = shareRunning(work);
	return () => void begun().catch(() => undefined);
}

/** Slack's codes for ids of nobody, or of people whom the app cannot see. */
const UNKNOWN = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);

function nobodyIfUnknown(error: unknown): UsersInfoResponse {
	if (UNKNOWN.has(slackErrorCode(error) ?? '')) return { ok: false };
	throw error;
}

/** Null when Slack left out a flag and the other one is not set. */
function isGuest({ is_restricted: isSome, is_ultra_restricted: isUltra }: User): boolean | null {
	if (isSome === true || isUltra === true) return true;
	return isSome === false && isUltra === false ? false : null;
}
