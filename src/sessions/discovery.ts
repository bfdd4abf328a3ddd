import type { Core } from '../core.ts';
import { isWaiting, type ListedSession } from '../domain/session.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { SharedState } from '../kernel/memory.ts';
import { backOff } from '../kernel/retries.ts';
import type { SessionService } from '../service/session-service.ts';
import { isDirectMessage } from '../slack/ids.ts';
import type { ChannelKey, Discovery, NoListReason } from '../store/watch.ts';
import type { LeftOut, NewPost, PostContent } from '../surfaces/post.ts';
import type { PostStore } from '../surfaces/post-store.ts';
import type { DiscoveryStore } from './discovery-store.ts';
import { createListing, type ListingState } from './listing.ts';
import type { WatchStore } from './watch-store.ts';

const MOST_WAITING = 500;
/** A listed session that asked nothing, or could not be read, is read again after this, then after twice the time. */
const RETRY = { firstMs: 30_000, longestMs: 30 * 60_000 } as const;
/** At most this many sessions are added to a channel after one list. */
const MOST_RAISED = 20;

/** Adds a watch for each listed session that waits, in the channels with `watch all`. */
export function createDiscoveries(
	core: Core<{ discoveries: DiscoveryStore; watches: WatchStore; posts: PostStore }>,
	listing: { readonly isUnlisted: () => boolean },
) {
	const { serviceUrl, clock, log, store } = core;
	const { discoveries } = store;
	const { DISCOVER_SESSIONS: discoverSessions, watchLimits: limits } = core.config;
	let isCut = false;
	let hasListed = false;
	/** The newest notice of each channel: with the next list the store need not be asked again. */
	const toldKeys = new Map<string, string>();

	function whyNot(): NoListReason | null {
		if (!discoverSessions) return 'notDiscovering';
		return listing.isUnlisted() ? 'noList' : null;
	}

	/** The listed sessions that a channel does not watch and that may be read now, the newest first. */
	async function dueHands(discovery: Discovery) {
		const due = (await discoveries.raisedHands(discovery)).filter(({ loweredAt, loweredCount }) => {
			return loweredAt === null || loweredAt + backOff(loweredCount, RETRY) <= clock.now();
		});
		return due.toSorted((one, other) => other.newsAt - one.newsAt).slice(0, MOST_RAISED);
	}

	async function raise(discovery: Discovery): Promise<void> {
		const { teamId, channelId } = discovery;
		while (await store.watches.makeRoom(discovery, { limits, now: clock.now() }));
		for (const { sessionId, loweredAt, newsAt } of await dueHands(discovery)) {
			// Only news is read ahead. If a backlog were, too, neither lists nor news would get their turn.
			const ahead = newsAt > 0 && loweredAt === null;
			const hand = { id: crypto.randomUUID(), teamId, channelId, createdAt: clock.now(), limits, ahead, newsAt };
			const result = await store.watches.raiseHand({ ...hand, session: { service: serviceUrl, sessionId } });
			if (result.kind === 'limit') return tell(discovery, () => leftOut(discovery));
		}
	}

	/** Why questions are left out of a channel now; null: they are not. */
	async function leftOut(discovery: Discovery): Promise<LeftOut | null> {
		const why = whyNot();
		if (why !== null) return { kind: 'discoveryPaused', why };
		// Watches without a posted question do not count: they may end with their first read.
		const reached = await store.watches.limitOf(discovery, limits);
		if (reached === null || (await dueHands(discovery)).length === 0) return null;
		return { kind: 'discoveryFull', limit: reached.limit === 'all' ? 'all' : 'channel', most: reached.most };
	}

	/** Tells a channel at most once a day. Days begin at the hour of `watch all`, when people are there. */
	async function tell(discovery: Discovery, find: () => Promise<LeftOut | null>): Promise<void> {
		const now = clock.now();
		const key = `discoveryLeftOut:${discovery.createdAt}:${Math.floor((now - discovery.createdAt) / DAY_MS)}`;
		const { teamId, channelId } = discovery;
		const place = `${teamId}:${channelId}`;
		if (toldKeys.get(place) === key) return;
		const content = await find();
		if (content === null) return;
		await store.posts.planOnce({ target: { kind: 'channel', teamId, channelId }, key, content }, now);
		toldKeys.set(place, key);
		if (content.kind === 'discoveryFull') core.metrics.watches.limitReached({ limit: content.limit });
	}

	/** Adds watches in all channels. The first read of a session decides whether its question is posted. */
	async function raiseAll(): Promise<void> {
		for (const discovery of await discoveries.list(serviceUrl)) await raise(discovery);
	}

	/** Tells the channels why no more questions come. Returns the number of channels. */
	async function pause(why: NoListReason): Promise<number> {
		const paused = await discoveries.list(serviceUrl);
		for (const discovery of paused) await tell(discovery, async () => ({ kind: 'discoveryPaused', why }));
		await store.posts.notePaused(serviceUrl, why, clock.now());
		return paused.length;
	}

	return {
		whyNot,
		leftOut,
		/** Tells the channels with `watch all` if the settings no longer allow it. */
		async start(): Promise<void> {
			const why = whyNot();
			if (why === null) return;
			await discoveries.replaceWaiting(serviceUrl, [], { now: clock.now(), isFollowing: false, isCut: false });
			const channels = await pause(why);
			if (discoverSessions || channels > 0) log.warn('discovery_off', { why, channels });
		},
		async listed(list: { sessions: readonly ListedSession[]; isComplete: boolean }): Promise<void> {
			const sessions = list.sessions.filter(({ status }) => isWaiting(status));
			// An incomplete list without waiting sessions proves nothing.
			if (!discoverSessions || (!list.isComplete && sessions.length === 0)) return;
			const now = clock.now();
			const shown = sessions.slice(0, MOST_WAITING);
			const isCutNow = !list.isComplete || shown.length < sessions.length;
			if (isCutNow && !isCut) log.warn('discovery_cut', { sessions: sessions.length, discovered: shown.length });
			const options = { now, isFollowing: hasListed, isCut: isCut || isCutNow };
			isCut = isCutNow;
			hasListed = true;
			await discoveries.replaceWaiting(serviceUrl, shown, options);
			await store.posts.notePaused(serviceUrl, null, now);
			await raiseAll();
		},
		async unlisted(): Promise<void> {
			if (discoverSessions) await pause('noList');
		},
		/** `watch all`. The access policy has allowed the request, and the bot is a member of the channel. */
		async begin(channel: ChannelKey, userId: string) {
			const now = clock.now();
			const discovery = { ...channel, service: serviceUrl, createdBy: userId, createdAt: now };
			const begun = await discoveries.begin(discovery, noticesIn(channel, { kind: 'discoveryBegun', by: userId }, now));
			await raiseAll();
			return begun;
		},
		/** Ends `watch all` in a channel. The caller ends the watches that it added. */
		end(channel: ChannelKey, userId: string): Promise<Discovery | null> {
			const now = clock.now();
			const told = noticesIn(channel, { kind: 'discoveryEnded', by: userId }, now);
			return discoveries.end(channel, { now, posts: () => told });
		},
		of: (channel: ChannelKey) => discoveries.find(channel, serviceUrl),
		/** The sessions that wait, longest first, or why none are listed. Null when people see only what is watched. */
		async waiting() {
			if (!discoverSessions) return null;
			const why = whyNot();
			// The next list tells which of them still wait.
			return { sessions: why === null ? await discoveries.waiting(serviceUrl) : [], why };
		},
	};
}

/** A notice for the other people of a channel. A direct message has none. */
function noticesIn(channel: ChannelKey, content: PostContent, now: number): readonly NewPost[] {
	if (isDirectMessage(channel.channelId)) return [];
	return [{ target: { kind: 'channel', ...channel }, key: `${content.kind}:${now}`, content }];
}

type DiscoveryCore = Parameters<typeof createDiscoveries>[0] & Parameters<typeof createListing>[0];

/** Lists waiting sessions, if the service has a list, and adds watches for them in the channels with `watch all`. */
export function registerDiscovery(
	core: DiscoveryCore & Core<{ sharedStateOf(name: string): SharedState<ListingState> }>,
	{ budget, health }: SessionService,
) {
	const { store, serviceUrl } = core;
	const options = { budget: budget.background, health, state: store.sharedStateOf(`list:${serviceUrl}`) };
	const listing = createListing(core, options);
	const discoveries = createDiscoveries(core, listing);
	const stopping = new AbortController();
	let running: Promise<void> | undefined;
	return {
		...discoveries,
		isListed: listing.isAvailable,
		listKnowledge: listing.knowledge,
		async start(): Promise<void> {
			await discoveries.start();
			running = listing.run(discoveries, stopping.signal);
		},
		async stop(): Promise<void> {
			stopping.abort();
			await running;
		},
	};
}
