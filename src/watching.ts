import { type Cell, setBounded, within } from './core/basics.ts';
import type { Core } from './core.ts';
import { createDiscoveries } from './features/discover/discovery.ts';
import { createListing, type Listing, type ListingState } from './features/discover/listing.ts';
import { createChannelGuard, createEndings } from './features/watch/endings.ts';
import { createPoller, type PollerOptions } from './features/watch/poller.ts';
import { createSubscriptions } from './features/watch/subscribe.ts';
import { type Announcer, createOutbox } from './posts/outbox.ts';
import type { createChannelList } from './slack/channels.ts';
import type { PersonRequest } from './slack/request.ts';
import type { Store } from './stores.ts';

interface Options extends Omit<PollerOptions, 'onEnd'> {
	readonly listCell: Cell<ListingState>;
	readonly announcer: Announcer;
	readonly listChannels: ReturnType<typeof createChannelList>;
}

/** How long who begins a watch waits for Slack's word on its first post, and of how many watches that is remembered. */
const EXPECTED_WITHIN_MS = 3_000;
const MAX_EXPECTED = 1_000;

/** Everything that watches: reads sessions when they are due and posts what changed. */
export function createWatching(core: Core<Store>, options: Options) {
	const { config, clock } = core;
	const { listCell: cell, announcer, listChannels, ...reading } = options;
	const stopping = new AbortController();
	const { signal } = stopping;
	const listing: Listing | null = config.SESSION_SERVICE_LIST ? createListing(core, { ...reading, cell }) : null;
	const discoveries = createDiscoveries(core, listing);
	const endings = createEndings(core);
	const poller = createPoller(core, { ...reading, onEnd: endings.ended });

	/** By watch, or by channel for `watch all`, who waits for Slack's word on its new post. */
	const expected = new Map<string, (refused: string | null) => void>();
	function expectPost(id: string) {
		const { promise, resolve } = Promise.withResolvers<string | null>();
		setBounded(expected, id, resolve, MAX_EXPECTED);
		return () => within(clock, promise, EXPECTED_WITHIN_MS, () => null).finally(() => expected.delete(id));
	}

	const outbox = createOutbox(core, announcer, endings.endChannel, (id, code) => expected.get(id)?.(code));
	const guard = createChannelGuard(core, listChannels, (channel) => endings.endChannel(channel, 'channelShared'));
	const running: Promise<unknown>[] = [];
	return {
		subscriptions: createSubscriptions(core, { ...reading, expectPost }),
		discoveries: { ...discoveries, expectPost },
		isListed: () => listing?.isAvailable() ?? false,
		/** Shows on the message of a press, if that is a post of ours, what it changed, or that it is a repeat. */
		showPressed({ person, channelId, messageTs: ts, responseUrl, postKey }: PersonRequest, isChanged: boolean): void {
			if (channelId === null || ts === null) return;
			const place = { teamId: person.teamId, placeIds: [channelId, person.userId], ts, key: postKey };
			outbox.showPressed(place, responseUrl, isChanged);
		},
		endings,
		/** Begins to read, which needs no Slack. */
		async start(): Promise<void> {
			await discoveries.start();
			poller.start();
			if (listing !== null) running.push(listing.run(discoveries, signal));
		},
		/** Begins to post, once the workspace is known: the store then gives out only its posts. */
		async startPosting(): Promise<void> {
			await endings.endNotAllowed();
			if (signal.aborted) return;
			if (config.ALLOW_EXTERNAL) outbox.start();
			else running.push(guard.run(signal), guard.firstCheck().then(outbox.start));
		},
		/** Stops reading and posting, and gives the leases back. */
		async stop(): Promise<void> {
			stopping.abort();
			await Promise.all([...running, poller.stop(), outbox.stop()]);
		},
	};
}
