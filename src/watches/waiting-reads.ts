import type { Clock } from '../clock.ts';
import type { WaitingList } from './listing.ts';
import type { ListingMetrics, ReadingStore } from './ports.ts';

/** A listed session is compared again after this, and after twice the time before when its read contradicts the list. */
const COMPARE_AGAIN_MS = 30_000;
const LONGEST_COMPARE_AGAIN_MS = 30 * 60_000;

interface Comparison {
	readonly at: number;
	readonly againAfterMs: number;
}

/**
 * Has watched sessions read at once that newly wait by the list and not by their last read. `onEarlyRead` is called after
 * a read was moved forward.
 */
export function createWaitingReads({
	store,
	serviceUrl,
	onEarlyRead,
	metrics,
	clock,
}: {
	store: Pick<ReadingStore, 'readWaiting'>;
	serviceUrl: string;
	onEarlyRead: () => void;
	metrics: ListingMetrics;
	clock: Clock;
}): (list: WaitingList) => Promise<void> {
	/** Of the sessions in the list before. */
	let compared: ReadonlyMap<string, Comparison> = new Map();

	return async ({ sessions }) => {
		const now = clock.now();
		const isFresh = ({ at, againAfterMs }: Comparison) => at <= now && now < at + againAfterMs;
		const listed = sessions.map(({ sessionId }) => ({ sessionId, before: compared.get(sessionId) }));
		const ids = listed.flatMap(({ sessionId, before }) => (before !== undefined && isFresh(before) ? [] : [sessionId]));
		const moved = new Set(await store.readWaiting({ service: serviceUrl, ids }, now));
		compared = new Map(
			listed.map(({ sessionId, before }): [string, Comparison] => {
				if (before !== undefined && isFresh(before)) return [sessionId, before];
				const isContradicted = before !== undefined && moved.has(sessionId);
				const doubled = isContradicted ? 2 * before.againAfterMs : COMPARE_AGAIN_MS;
				return [sessionId, { at: now, againAfterMs: Math.min(LONGEST_COMPARE_AGAIN_MS, doubled) }];
			}),
		);
		if (moved.size === 0) return;
		metrics.listedReads(moved.size);
		onEarlyRead();
	};
}
