import type { Clock } from '../clock.ts';
import type { WaitingList } from './listing.ts';
import type { ListedWaiting, ListingMetrics, ReadingStore } from './ports.ts';

/** A listed session is compared again after this, and after twice the time before when its read contradicts the list. */
const COMPARE_AGAIN_MS = 30_000;
const LONGEST_COMPARE_AGAIN_MS = 30 * 60_000;

/** A session in the list, and when it was compared with its newest read. */
interface Comparison extends ListedWaiting {
	readonly at: number;
	readonly againAfterMs: number;
}

/**
 * Has watched sessions read at once that newly wait by the list and not by their newest read. `onEarlyRead` is called
 * after a read was moved forward.
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
	metrics: Pick<ListingMetrics, 'listedReads'>;
	clock: Clock;
}): (list: WaitingList) => Promise<void> {
	/** The sessions of the list before, by id. */
	let compared: ReadonlyMap<string, Comparison> = new Map();
	/** When the list before came; null: none, or not all sessions were in it. */
	let completeAt: number | null = null;

	return async ({ sessions, isComplete }) => {
		const now = clock.now();
		const isDue = ({ at, againAfterMs }: Comparison) => at > now || now >= at + againAfterMs;
		const listed = sessions.map(
			({ sessionId }): Comparison =>
				compared.get(sessionId) ?? {
					sessionId,
					absentAt: completeAt,
					at: Number.NEGATIVE_INFINITY,
					againAfterMs: COMPARE_AGAIN_MS,
				},
		);
		const moved = new Set(await store.readWaiting(serviceUrl, listed.filter(isDue), now));
		compared = new Map(
			listed.map((comparison): [string, Comparison] => {
				const { sessionId, againAfterMs: before } = comparison;
				if (!isDue(comparison)) return [sessionId, comparison];
				const isContradicted = moved.has(sessionId) && compared.has(sessionId);
				const againAfterMs = isContradicted ? Math.min(LONGEST_COMPARE_AGAIN_MS, 2 * before) : COMPARE_AGAIN_MS;
				return [sessionId, { ...comparison, at: now, againAfterMs }];
			}),
		);
		completeAt = isComplete ? now : null;
		if (moved.size === 0) return;
		metrics.listedReads(moved.size);
		onEarlyRead();
	};
}
