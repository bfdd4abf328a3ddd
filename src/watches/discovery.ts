import { randomUUID } from 'node:crypto';
import { type Clock, hasCome } from '../clock.ts';
import type { Log } from '../log.ts';
import { isWaiting } from '../questions/session.ts';
import type { AnnouncementContent, NewAnnouncement } from './announcements.ts';
import { isTeamChannel } from './channel-guard.ts';
import type { Discovered, Discovery, DiscoverySettings, NoListReason } from './discovered.ts';
import type { WaitingList } from './listing.ts';
import type { DiscoveryStore, LimitReached, RaisedHand, WatchMetrics } from './ports.ts';
import type { ChannelKey, WatchLimits } from './watch.ts';

/** A longer list is cut. */
const MOST_WAITING = 500;
/**
 * A session that asked nothing when it was read, or could not be read, is read again after this while it is listed, and
 * after twice the time before when that is so again.
 */
const RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 30 * 60_000;
/** So many sessions of a list at once: they are read ahead of others. */
const MOST_RAISED = 20;

interface Dependencies {
	readonly store: DiscoveryStore;
	readonly serviceUrl: string;
	/** `DISCOVER_SESSIONS` */
	readonly discoverSessions: boolean;
	/** `SESSION_SERVICE_LIST` */
	readonly usesList: boolean;
	/** Whether the service has no list, or its list has failed for some minutes. */
	readonly isUnlisted: () => boolean;
	/** Whether the last list worked. */
	readonly isListed: () => boolean;
	readonly limits: WatchLimits;
	readonly metrics: Pick<WatchMetrics, 'limitReached'>;
	readonly clock: Clock;
	readonly log: Log;
	/** Wakes poller and outbox. */
	readonly onChange: () => void;
}

/** Brings the raised hands of all listed sessions into the channels that want them. */
export function createDiscoveries(dependencies: Dependencies) {
	const { store, serviceUrl, discoverSessions, usesList, isUnlisted, isListed, limits, metrics, clock, log, onChange } =
		dependencies;
	/** Whether the newest list was too long. */
	let isCut = false;

	function whyNot(): NoListReason | null {
		if (!discoverSessions) return 'notDiscovering';
		if (!usesList) return 'listOff';
		return isUnlisted() ? 'noList' : null;
	}

	/** Returns whether a watch was added. */
	async function raise(discovery: Discovery): Promise<boolean> {
		const { teamId, channelId } = discovery;
		let isChanged = false;
		for (const { sessionId, loweredAt } of inOrder(await store.raisedHands(discovery), clock.now())) {
			const now = clock.now();
			const session = { service: serviceUrl, sessionId };
			const hand = { id: randomUUID(), teamId, channelId, session, createdAt: now, limits };
			// Others have been read: they wait like watched sessions.
			const result = await store.raiseHand({ ...hand, ahead: loweredAt === null });
			if (result.kind === 'limit') {
				if (await store.noteFull(discovery, { announcement: fullIn(discovery, result, now), limits, now })) {
					metrics.limitReached(result.limit);
					isChanged = true;
				}
				return isChanged;
			}
			if (result.kind === 'raised') isChanged = true;
		}
		if (discovery.isFull) await store.noteFull(discovery, { announcement: null, limits, now: clock.now() });
		return isChanged;
	}

	/** Adds a watch for each listed session that a channel does not watch; its first read decides whether it asks. */
	async function raiseAll(): Promise<void> {
		let isChanged = false;
		for (const discovery of await store.discoveries(serviceUrl)) {
			if (await raise(discovery)) isChanged = true;
		}
		if (isChanged) onChange();
	}

	/** Tells the channels why no more questions come. Returns how many were told. */
	async function pause(why: NoListReason): Promise<number> {
		const toldCount = await store.notePaused(serviceUrl, why, clock.now());
		if (toldCount > 0) onChange();
		return toldCount;
	}

	return {
		/** Why sessions are not discovered; null when they are. */
		whyNot,
		/** Whether sessions can be listed at the moment. */
		isListed,
		/** Tells the channels when the settings do not allow any more what they were promised. */
		async start(): Promise<void> {
			const why = whyNot();
			if (why === null) return;
			await store.replaceWaiting(serviceUrl, [], clock.now());
			const toldCount = await pause(why);
			if (discoverSessions || toldCount > 0) log.warn({ why, channels: toldCount }, 'sessions are not discovered');
		},
		/** The sessions that wait for a person now. */
		async listed(list: Pick<WaitingList, 'sessions' | 'isComplete'>): Promise<void> {
			const sessions = list.sessions.filter(({ status }) => isWaiting(status));
			// Of a part nobody knows who is missing, but there is no room for all anyway.
			if (!discoverSessions || (!list.isComplete && sessions.length < MOST_WAITING)) return;
			const now = clock.now();
			if (sessions.length > MOST_WAITING && !isCut) {
				log.warn({ sessions: sessions.length }, `more sessions wait than are discovered: only ${MOST_WAITING} are`);
			}
			isCut = sessions.length > MOST_WAITING;
			const isChanged = await store.replaceWaiting(serviceUrl, sessions.slice(0, MOST_WAITING), now);
			const toldCount = await store.notePaused(serviceUrl, null, now);
			if (isChanged || toldCount > 0) onChange();
			await raiseAll();
		},
		/** The service does not list its sessions any more. */
		async unlisted(): Promise<void> {
			if (discoverSessions) await pause('noList');
		},
		/** `watch all`. The access policy has allowed the request, and the bot is a member of the channel. */
		async begin(
			channel: ChannelKey,
			{ userId, settings }: { userId: string; settings: Partial<DiscoverySettings> },
		): Promise<'begun' | 'changed' | 'already'> {
			const { teamId, channelId } = channel;
			const now = clock.now();
			const discovery = { teamId, channelId, service: serviceUrl, createdBy: userId, createdAt: now, settings };
			const begun = await store.discover(discovery, noticesIn(channel, { kind: 'discoveryBegun', by: userId }, now));
			if (begun === 'begun') onChange();
			await raiseAll();
			return begun;
		},
		/** Ends `watch all` in a channel. What it brought there ends with the channel's watches. */
		async end(channel: ChannelKey, userId: string): Promise<Discovery | null> {
			const now = clock.now();
			const announcements = noticesIn(channel, { kind: 'discoveryEnded', by: userId }, now);
			const ended = await store.endDiscovery(channel, { now, announcements: () => announcements });
			if (ended !== null) onChange();
			return ended;
		},
		of: (channel: ChannelKey) => store.discoveryOf(channel, serviceUrl),
		/** Null when people see only what is watched. */
		async discovered(): Promise<Discovered | null> {
			if (!discoverSessions) return null;
			const why = whyNot();
			// The next list tells which of them still wait.
			return { sessions: why === null ? await store.waiting(serviceUrl) : [], why };
		},
	};
}

export type Discoveries = ReturnType<typeof createDiscoveries>;

/** Those that are due: first those that nobody has read, so that the others take no place from them. */
function inOrder(hands: readonly RaisedHand[], now: number): readonly RaisedHand[] {
	const due = hands.filter(({ loweredAt, loweredCount }) => {
		const retryMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** Math.max(0, loweredCount - 1));
		return loweredAt === null || hasCome(loweredAt + retryMs, now, LONGEST_RETRY_MS);
	});
	return due.toSorted((one, other) => (one.loweredAt ?? 0) - (other.loweredAt ?? 0)).slice(0, MOST_RAISED);
}

function toldIn({ teamId, channelId }: ChannelKey, content: AnnouncementContent, now: number): NewAnnouncement {
	return { target: { kind: 'channel', teamId, channelId }, key: `${content.kind}:${now}`, content };
}

/** For the other people of a channel; a direct message has none. */
function noticesIn(channel: ChannelKey, content: AnnouncementContent, now: number): readonly NewAnnouncement[] {
	return isTeamChannel(channel) ? [toldIn(channel, content, now)] : [];
}

function fullIn(channel: ChannelKey, { limit, most }: LimitReached, now: number): NewAnnouncement {
	return toldIn(channel, { kind: 'discoveryFull', limit: limit === 'all' ? 'all' : 'channel', most }, now);
}
