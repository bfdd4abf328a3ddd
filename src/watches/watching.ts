import type { Cell } from '../cell.ts';
import type { Core } from '../core.ts';
import type { LeaseLoop } from '../lease-loop.ts';
import type { createChannelList } from '../slack/channels.ts';
import type { Announcer } from '../slack/posts/announcer.ts';
import { createChannelGuard, endChannel, endNotAllowed } from './channel-guard.ts';
import { createDiscoveries } from './discovery.ts';
import { createListing, type Listing, type ListingState } from './listing.ts';
import { createOutbox } from './outbox.ts';
import { createPoller, type PollerOptions } from './poller.ts';
import { createBackgroundBudget, type SharedBudget } from './schedule.ts';
import { createSubscriptions } from './subscribe.ts';
import type { ChannelEnd, ChannelKey, SessionKey } from './watch.ts';

const DAY_MS = 24 * 3_600_000;
/** Ended watches are removed after this, or earlier when answers are. */
const FORGET_AFTER_DAYS = 7;
/** The agent takes a moment to go on after an answer. */
const EARLY_READ_AFTER_MS = 2_000;

interface Options extends Omit<PollerOptions, 'budget' | 'onNews'> {
	readonly budget: Omit<SharedBudget, 'reservedPerSecond'>;
	/** What replicas share about the service's list. */
	readonly listCell: Cell<ListingState>;
}

/** Everything that watches: reads sessions when they are due and posts what changed. */
export function createWatching(core: Core, { budget, listCell, ...options }: Options) {
	const { config, serviceUrl, clock, log } = core;
	const { watches: store } = core.store;
	const { retentionDays } = config;
	const stopping = new AbortController();
	let outbox: LeaseLoop | null = null;
	const wakeOutbox = () => outbox?.wake();

	const reservedPerSecond = () => listing?.reservedPerSecond() ?? 0;
	const background = createBackgroundBudget({ ...budget, reservedPerSecond });
	const wakeLoops = () => {
		poller.wake();
		wakeOutbox();
	};
	const wakeAll = () => {
		wakeLoops();
		options.onQuestions();
	};
	const discoveries = createDiscoveries(core, {
		isUnlisted: () => listing?.isUnlisted() ?? false,
		isListed: () => listing?.isAvailable() ?? false,
		onChange: wakeAll,
	});
	const listing: Listing | null = config.service.usesList
		? createListing(core, {
				cell: listCell,
				health: options.health,
				budget: background,
				discoveries,
				onEarlyRead: () => poller.wake(),
			})
		: null;
	const poller = createPoller(core, { ...options, budget: background, onNews: wakeOutbox });
	const subscriptions = createSubscriptions(core, { ...options, budget: background, onChange: wakeAll });

	/** Slack takes no more posts in this channel, or another organisation reads it or is invited to it. */
	async function channelEnded(channel: ChannelKey, reason: ChannelEnd): Promise<void> {
		await endChannel(core, channel, reason);
		wakeOutbox();
		options.onQuestions();
	}

	const warnOf = (what: string) => (error: unknown) => log.warn({ err: error }, what);
	const running: Promise<unknown>[] = [];
	return {
		subscriptions,
		discoveries,
		/** Updates a session's cards after its question was claimed or answered; `readEarly`: the service received an answer. */
		questionUpdated(key: SessionKey, { readEarly }: { readEarly: boolean }): void {
			const now = clock.now();
			const update = store.refresh(key, { now, earlyReadAt: readEarly ? now + EARLY_READ_AFTER_MS : null });
			update.then(wakeLoops, warnOf('the cards of a question could not be marked for an update'));
		},
		/** Shows in a question's posts that a one-press answer was given, taken back or has failed. */
		choiceUpdated(key: SessionKey): void {
			const drawn = store.redraw(key, clock.now());
			drawn.then(wakeLoops, warnOf('the posts of a question could not be drawn again'));
		},
		/** Requests to the service a second that are kept for lists and the reads that they lead to. */
		reservedPerSecond,
		/** Posts were stored for the outbox. */
		wakeOutbox,
		/** A read was moved forward. */
		wakePoller: poller.wake,
		channelEnded,
		/** Removes what is no longer needed. */
		async forget(): Promise<void> {
			const now = clock.now();
			await store.removeEnded(now - Math.min(FORGET_AFTER_DAYS, retentionDays) * DAY_MS);
			const listed = discoveries.whyNot() === null ? serviceUrl : null;
			await store.removeTexts(now - retentionDays * DAY_MS, listed);
		},
		/** Begins to read, which needs no Slack. */
		async start(): Promise<void> {
			await discoveries.start();
			poller.start();
			if (listing !== null) running.push(listing.run(stopping.signal));
		},
		/** Begins to post, once the workspace is known: the store then gives out only its posts. */
		async startPosting(announcer: Announcer, listChannels: ReturnType<typeof createChannelList>): Promise<void> {
			await endNotAllowed(core);
			const { signal } = stopping;
			if (signal.aborted) return;
			const posting = createOutbox(core, announcer);
			outbox = posting;
			const guard = createChannelGuard(core, listChannels, (channel) => channelEnded(channel, 'channelShared'));
			if (config.access.allowExternal) posting.start();
			else running.push(guard.run(signal), guard.firstCheck(signal).then(posting.start));
		},
		/** Stops reading and posting, and gives the leases back. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all([...running, poller.stop(), outbox?.stop()]);
		},
	};
}
