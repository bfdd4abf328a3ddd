import type { Cell } from '../cell.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import type { WatchStore } from '../store/watch-store.ts';
import type { Announcer } from './announcer.ts';
import { createBackgroundBudget, leaving, type SharedBudget, usualReadsPerSecond } from './capacity.ts';
import { type ChannelList, createChannelGuard, endChannel, endNotAllowed } from './channel-guard.ts';
import { createDiscoveries } from './discovery.ts';
import { createListing, type Listing, type ListingService, type ListingState } from './listing.ts';
import { createOutbox } from './outbox.ts';
import { createPoller, type PollerOptions } from './poller.ts';
import { createSubscriptions } from './subscribe.ts';
import { createWaitingReads } from './waiting-reads.ts';
import type { ChannelEnd, ChannelKey, SessionKey, WatchLimits } from './watch.ts';

const DAY_MS = 24 * 3_600_000;
/** Unused rates are removed after this; ended watches too, or earlier when answers are. */
const FORGET_AFTER_DAYS = 7;
/** The agent takes a moment to go on after an answer. */
const EARLY_READ_AFTER_MS = 2_000;

interface Options extends Omit<PollerOptions, 'store' | 'budget' | 'onNews'> {
	readonly store: WatchStore;
	readonly budget: SharedBudget;
	readonly rateLimiter: RateLimiter;
	/** Null: the service's list is not used. */
	readonly listing: {
		readonly sessionService: ListingService;
		readonly cell: Cell<ListingState>;
		readonly metrics: Metrics['listing'];
	} | null;
	readonly limits: WatchLimits;
	/** Empty: all. */
	readonly allowedChannels: readonly string[];
	/** Whether channels shared with other organisations may have watches. */
	readonly allowExternal: boolean;
	/** How long texts of posts are kept at most. */
	readonly retentionDays: number;
	/** `DISCOVER_SESSIONS` */
	readonly discoverSessions: boolean;
}

/** Everything that watches: reads sessions when they are due and posts what changed. */
export function createWatching(options: Options) {
	const { store, budget, metrics, rateLimiter, retentionDays, allowExternal, clock, log } = options;
	const stopping = new AbortController();
	let wakeOutbox = () => {};

	const background = createBackgroundBudget(budget);
	const wakeLoops = () => {
		poller.wake();
		wakeOutbox();
	};
	const wakeAll = () => {
		wakeLoops();
		options.onQuestions();
	};
	const discoveries = createDiscoveries({
		...options,
		usesList: options.listing !== null,
		isUnlisted: () => listing?.isUnlisted() ?? false,
		isListed: () => listing?.isAvailable() ?? false,
		onChange: wakeAll,
	});
	const listing: Listing | null = options.listing === null ? null : createListingFor(options.listing);
	const poller = createPoller({
		...options,
		budget: leaving(background, () => listing?.reservedPerSecond() ?? 0),
		onNews: () => wakeOutbox(),
	});
	const subscriptions = createSubscriptions({
		...options,
		usualReadsPerSecond: () => usualReadsPerSecond(budget),
		onChange: wakeAll,
	});

	function createListingFor(list: NonNullable<Options['listing']>): Listing {
		const readWaiting = createWaitingReads({ ...options, metrics: list.metrics, onEarlyRead: () => poller.wake() });
		return createListing({
			...options,
			...list,
			budget: background,
			countWatched: () => store.countSessions(options.serviceUrl),
			isExpected: async () => (await store.discoveries(options.serviceUrl)).length > 0,
			async onList(found) {
				// Sessions that were never read say nothing about the service. Those that were are read again soon, and tell.
				const { health, serviceUrl } = options;
				if (health.failingSince !== null && !(await store.isFailing(serviceUrl))) health.succeeded();
				await readWaiting(found);
				await discoveries.listed(found);
			},
			onUnlisted: discoveries.unlisted,
		});
	}

	/** Slack takes no more posts in this channel, or another organisation reads it or is invited to it. */
	async function channelEnded(channel: ChannelKey, reason: ChannelEnd): Promise<void> {
		await endChannel(store, channel, reason, { now: clock.now(), log });
		wakeOutbox();
		options.onQuestions();
	}

	const running: Promise<unknown>[] = [];
	return {
		subscriptions,
		discoveries,
		/** Updates a session's cards after its question was claimed or answered; `readEarly`: the service received an answer. */
		questionUpdated(key: SessionKey, { readEarly }: { readEarly: boolean }): void {
			const now = clock.now();
			store
				.refresh(key, { now, earlyReadAt: readEarly ? now + EARLY_READ_AFTER_MS : null })
				.then(wakeLoops)
				.catch((error: unknown) =>
					log.warn({ err: error }, 'the cards of a question could not be marked for an update'),
				);
		},
		/** Shows in a question's posts that a one-press answer was given, taken back or has failed. */
		choiceUpdated(key: SessionKey): void {
			store
				.redraw(key, clock.now())
				.then(wakeLoops)
				.catch((error: unknown) => log.warn({ err: error }, 'the posts of a question could not be drawn again'));
		},
		/** Requests to the service a second that are kept for lists and the reads that they lead to. */
		reservedPerSecond: () => listing?.reservedPerSecond() ?? 0,
		/** Posts were stored for the outbox. */
		wakeOutbox: () => wakeOutbox(),
		/** A read was moved forward. */
		wakePoller: () => poller.wake(),
		channelEnded,
		/** Removes what is no longer needed. */
		async forget(): Promise<void> {
			const now = clock.now();
			await store.removeEnded(now - Math.min(FORGET_AFTER_DAYS, retentionDays) * DAY_MS);
			const listed = discoveries.whyNot() === null ? options.serviceUrl : null;
			await store.removeTexts(now - retentionDays * DAY_MS, listed);
		},
		/** Begins to read, which needs no Slack. */
		async start(): Promise<void> {
			await discoveries.start();
			const { signal } = stopping;
			running.push(poller.run(signal), ...(listing === null ? [] : [listing.run(signal)]));
		},
		/**
		 * Begins to post: only when the workspace is known, because the store then gives out only its posts. Resolves when the
		 * watches of channels that are no longer allowed have ended.
		 */
		async startPosting({ announcer, channels }: { announcer: Announcer; channels: ChannelList }): Promise<void> {
			await endNotAllowed(store, options.allowedChannels, { now: clock.now(), log });
			const { signal } = stopping;
			const outbox = createOutbox({ store, announcer, rateLimiter, clock, metrics, log });
			wakeOutbox = () => outbox.wake();
			const end = (channel: ChannelKey) => channelEnded(channel, 'channelShared');
			const guard = createChannelGuard({ store, channels, end, clock, log, metrics });
			if (allowExternal) running.push(outbox.run(signal));
			else
				running.push(
					guard.run(signal),
					guard.firstCheck(signal).then(() => outbox.run(signal)),
				);
		},
		/** Stops reading and posting, and gives the leases back. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all(running);
		},
	};
}
