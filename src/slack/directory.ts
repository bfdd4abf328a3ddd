import type { UsersInfoResponse } from '@slack/web-api';
import { z } from 'zod';
import type { Person } from '../domain/person.ts';
import { isForgotten } from '../domain/person.ts';
import { CLOCK_ALLOWANCE_MS, type Clock, unlessAborted, uptimeOf } from '../kernel/clock.ts';
import { type Cell, setBounded, shareRunning } from '../kernel/memory.ts';
import { timeZoneNamed } from '../kernel/quiet-hours.ts';
import type { DeepReadonly } from '../kernel/values.ts';
import { type Need, noRoom, type SlackCalls } from './calls.ts';
import { type SlackClients, slackErrorCode } from './clients.ts';

/** How long facts about people, user groups and who is in a channel are used: who became a guest passes for so long. */
export const FACTS_MAX_AGE_MS = 5 * 60_000;
/** How long the same facts are used for an answer that is sent in somebody's name. */
export const FRESH_MS = 30_000;
export const maxAgeOf = (need: Need) => (need === 'send' || need === 'late' ? FRESH_MS : FACTS_MAX_AGE_MS);

/** Enough for the people who use the app within a few minutes, and for names. */
const MAX_KNOWN = 10_000;
/** So that requests about somebody unknown do not use up Slack's limit of about 100 calls a minute. */
const NULL_MAX_AGE_MS = 10_000;
/** Slack allows 1,000 and recommends 200. With this many, the list of 2,000 people takes no more than a burst. */
export const USERS_PAGE = 500;
/** Who has not asked again for so long does not wait any more. */
const WAITS_MS = 120_000;
/** Those who wait are looked at this often: as often as there may be room for a call about one of them. */
const SERVED_EVERY_MS = 750;
/** For so long what is to be written waits for more: each change of a status sends an event. */
const GATHERED_MS = 1_000;
/** Ends a list whose cursors never end. */
const MAX_PAGES = 400;
/** How long a replica may take for a page before another one reads the list. */
const LIST_LEASE_MS = 10_000;

const NAME = z.string().nullish().catch(null);
/** Slack omits guest flags of people who left and, at times on Enterprise Grid, `team_id`: see `enterprise_user`. */
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

/** What Slack told of somebody. `at`: when it was asked. `isListed`: about many at once. */
export const TOLD_SCHEMA = z.object({
	user: USER_SCHEMA.nullable(),
	at: z.number(),
	isListed: z.boolean(),
	/** Slack knows them, and left out what has to be known, so `user` is null. */
	isUnreadable: z.boolean().default(false),
});
type Told = DeepReadonly<z.infer<typeof TOLD_SCHEMA>>;
type User = NonNullable<Told['user']>;

function factsOf(user: User | null) {
	if (user === null) return null;
	const { enterprise_user: enterprise } = user;
	return {
		/** The person's workspace; null when Slack leaves it out, as it may on Enterprise Grid. */
		teamId: user.team_id ?? null,
		/** The person's organisation on Enterprise Grid and their workspaces in it; null when they are in none. */
		enterprise: enterprise == null ? null : { id: enterprise.enterprise_id, teamIds: enterprise.teams },
		isGuest: isGuest(user),
		// Slack says that Slackbot is no bot (bolt-js #794).
		isBot: user.is_bot || user.id === 'USLACKBOT',
		isDeactivated: user.deleted,
		/** From another organisation, and in no channel that the app can see. */
		isStranger: user.is_stranger === true,
	};
}

export type PersonFacts = NonNullable<ReturnType<typeof factsOf>>;

/** Whether facts of a list need no other call: what they leave out, or contradict each other in, is asked singly. */
function isWhole(user: User): boolean {
	const { team_id: teamId, enterprise_user: enterprise } = user;
	if (isGuest(user) === null && !user.deleted) return false;
	return enterprise == null ? teamId != null : enterprise.teams.length > 0;
}

/** The rows and the list, which replicas share. */
export interface Shared {
	readonly store: {
		of(teamId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
		told(teamId: string, told: ReadonlyMap<string, { readonly at: number }>): Promise<unknown>;
		want(person: Person, now: number): Promise<unknown>;
		wanted(teamId: string, since: number): Promise<ReadonlySet<string>>;
		listed(teamId: string, told: ReadonlyMap<string, object>): Promise<unknown>;
		outdate(teamId: string, userIds: readonly string[]): Promise<unknown>;
	};
	/** Who reads the list. */
	readonly listing: Cell<{ readonly by: string; readonly until: number }>;
	teamId(): string | undefined;
	/** Whether a row can be newer than what this process knows. */
	readonly hasReplicas: boolean;
}

type Parts = Readonly<{ clients: Pick<SlackClients, 'people' | 'background'>; calls: SlackCalls; clock: Clock }>;

/**
 * What Slack tells of people: facts, names and time zones. It looks in memory, then in the row (`shared`; null: there
 * are none), and asks Slack where both are too old. Where Homes find no room for that, one replica reads the list.
 */
export function createDirectory({ clients, calls, clock }: Parts, shared: Shared | null = null) {
	const memory = new Map<string, Told>();
	const names = new Map<string, string>();
	const timeZones = new Map<string, string>();
	const asking = new Map<string, Promise<Told>>();
	/** Those who wait until Slack tells of them, by user id: the one who has waited longest first. */
	const waiting = new Map<string, PromiseWithResolvers<void> & { readonly since: number }>();
	/** By uptime, as `since`: when the newest list read to its end was begun. It tells nothing of who waited then. */
	let listedAt = Number.NEGATIVE_INFINITY;
	const listeners: (() => void)[] = [];
	const stopping = new AbortController();
	const own = crypto.randomUUID();

	const teamId = () => shared?.teamId() ?? '';
	const outdate = async (ids: readonly string[]) => shared?.store.outdate(teamId(), ids).catch(() => undefined);

	function isFresh(known: Told | undefined, need: Need): known is Told {
		if (known === undefined || (known.isListed && maxAgeOf(need) === FRESH_MS)) return false;
		const maxAgeMs = known.user === null ? NULL_MAX_AGE_MS : maxAgeOf(need);
		const ageMs = clock.now() - known.at;
		// What seems to be told later was told before the clock was set back.
		return ageMs > -CLOCK_ALLOWANCE_MS && ageMs < maxAgeMs;
	}

	/** Slack leaves out names of people who left: those that it told before stay. */
	function remember(userId: string, told: Told): Told {
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

	/** What rows tell of these people, if that is newer. */
	async function recall(userIds: readonly string[]): Promise<void> {
		const stored = await shared?.store.of(teamId(), userIds).catch(() => undefined);
		for (const userId of userIds) {
			const { data } = TOLD_SCHEMA.safeParse(stored?.get(userId));
			if (data === undefined) continue;
			// An outdated row still tells the name.
			if (data.at > (memory.get(userId)?.at ?? 0)) remember(userId, data);
			else if (data.user?.name != null && !names.has(userId)) setBounded(names, userId, data.user.name, MAX_KNOWN);
		}
	}

	async function ask(userId: string, need: Need): Promise<Told> {
		if (shared?.hasReplicas !== false || !memory.has(userId)) await recall([userId]);
		const known = memory.get(userId);
		if (isFresh(known, need)) return known;
		// Who has waited longer comes first.
		if (need === 'look' && waiting.size > 0) throw noRoom('users.info', SERVED_EVERY_MS, clock.now());
		await calls.permit('users.info', need).catch((error) => wait(userId, need, error));
		return call(userId, need);
	}

	/** For a call that was permitted. */
	async function call(userId: string, need: Need): Promise<Told> {
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

	const untold = new Map<string, Told>();
	/** One transaction for a second: nobody waits for the rows, and what people send does not wait for these writes. */
	const keepTold = atOneTime(async () => {
		while (untold.size > 0 && shared !== null) {
			await clock.sleep(GATHERED_MS, stopping.signal);
			const told = new Map(untold);
			untold.clear();
			if (told.size > 0) await shared.store.told(teamId(), told).catch(() => undefined);
		}
	});

	/** Those who need it for the same share a call: of others it may be refused, or take long. */
	function askOnce(userId: string, need: Need): Promise<Told> {
		const key = `${need} ${userId}`;
		const call = asking.get(key) ?? ask(userId, need).finally(() => asking.delete(key));
		asking.set(key, call);
		return call;
	}

	/**
	 * Resolves when Slack has told of somebody for whom there was no room, after two minutes without that, and at a stop.
	 * They are told of by the list, and by room for a call as it comes.
	 */
	async function untilTold(userId: string): Promise<void> {
		const wait = waiting.get(userId) ?? { ...Promise.withResolvers<void>(), since: uptimeOf(clock) };
		waiting.set(userId, wait);
		// Whichever replica reads the list looks for them.
		await shared?.store.want({ teamId: teamId(), userId }, clock.now()).catch(() => undefined);
		serveWaiting();
		await wait.promise;
	}

	const serveWaiting = atOneTime(async () => {
		try {
			while (waiting.size > 0) {
				stopping.signal.throwIfAborted();
				// What a list told another replica.
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
				// A person of whom Slack tells nothing holds up nobody.
				if (waiting.delete(userId) && wait !== undefined) waiting.set(userId, wait);
			});
		}
	}

	/** Others come first. */
	async function wait(userId: string, need: Need, error: unknown): Promise<never> {
		if (need === 'home' && shared !== null) {
			await shared.store.want({ teamId: teamId(), userId }, clock.now());
			readList();
		}
		throw error;
	}

	/** Reads the list for those who wait, page by page, until nobody does or it ends; not while another replica does. */
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
				// All of them: others of a crowd may come next. What was told of one person alone serves what is sent, too.
				if (user === undefined || !isWhole(user) || isFresh(memory.get(user.id), 'send')) continue;
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

	async function toldOf(userId: string, need: Need, signal?: AbortSignal): Promise<Told> {
		const known = memory.get(userId);
		return isFresh(known, need) ? known : unlessAborted(askOnce(userId, need), signal);
	}

	/** Facts of somebody; throws when Slack does not tell. Null when it does not know this id, or they were forgotten. */
	async function person(userId: string, need: Need = 'look', signal?: AbortSignal): Promise<PersonFacts | null> {
		return isForgotten(userId) ? null : factsOf((await toldOf(userId, need, signal)).user);
	}

	const changed = new Set<string>();
	/** One statement for the changes of a second, of whomever they are. */
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
		/** Whether somebody was deactivated or forgotten, or is unknown to Slack; false when it tells nothing of them. */
		async hasLeft(userId: string): Promise<boolean> {
			if (isForgotten(userId)) return true;
			const told = await toldOf(userId, 'look').catch(() => null);
			return told !== null && (told.user?.deleted ?? !told.isUnreadable);
		},
		untilTold,
		/** Whether what this process knows of somebody is enough to show them something. */
		knows: (userId: string) => isFresh(memory.get(userId), 'look'),
		/** The members' user ids. */
		async userGroup(groupId: string, signal?: AbortSignal): Promise<ReadonlySet<string>> {
			const { users } = await unlessAborted(clients.people.usergroups.users.list({ usergroup: groupId }), signal);
			return new Set(users ?? []);
		},
		/** Looks up the name of a person whom this process has not seen; null: Slack does not tell it. Never rejects. */
		async learnName(userId: string): Promise<string | null> {
			if (!names.has(userId)) await recall([userId]);
			if (!names.has(userId)) await person(userId).catch(() => null);
			return names.get(userId) ?? null;
		},
		/** The same without asking Slack, for what is drawn: who acted is stored, and nobody forgotten comes back. */
		async recallNames(userIds: readonly string[]): Promise<void> {
			const unknown = userIds.filter((userId) => !names.has(userId));
			if (unknown.length > 0) await recall(unknown);
		},
		displayName: (userId: string) => names.get(userId) ?? 'somebody',
		/** Such as `Europe/Berlin`; null when it is not known, or none in which times can be computed. */
		timeZoneOf: (userId: string) => timeZones.get(userId) ?? null,
		/** Something changed in somebody's account, such as the status. What Slack sent proves nothing: it may be late. */
		changed(userId: string): void {
			changed.add(userId);
			outdateChanged();
		},
		/** Calls `listener` when a list told facts for which Homes wait. */
		onListed: (listener: () => void) => void listeners.push(listener),
		stop: () => stopping.abort(),
	};
}

export type Directory = ReturnType<typeof createDirectory>;

/** Begins the work, which may fail, unless it is running. */
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

/** False needs both flags; null when one is missing. */
function isGuest({ is_restricted: isSome, is_ultra_restricted: isUltra }: User): boolean | null {
	if (isSome === true || isUltra === true) return true;
	return isSome === false && isUltra === false ? false : null;
}
