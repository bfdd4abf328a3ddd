import type { Core } from '../core.ts';
import type { SharedState } from '../kernel/memory.ts';
import type { SessionService } from '../service/session-service.ts';
import { createDiscoveries } from './discovery.ts';
import { createListing, type ListingState } from './listing.ts';

type Takes = Parameters<typeof createDiscoveries>[0] & Parameters<typeof createListing>[0];

/** Lists waiting sessions, where the service can, and brings those that nobody watches to who wants them. */
export function registerDiscovery(
	core: Takes & Core<{ sharedStateOf(name: string): SharedState<ListingState> }>,
	{ budget, health }: SessionService,
) {
	const { store, serviceUrl } = core;
	const options = { budget: budget.background, health, cell: store.sharedStateOf(`list:${serviceUrl}`) };
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
