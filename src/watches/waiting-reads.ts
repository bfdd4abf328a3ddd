import type { Core } from '../core.ts';
import type { WaitingList } from './listing.ts';
import type { ListedWaiting, MovedRead } from './watched-session.ts';

/** A listed session is compared again after this, and after twice the time before when a read that was moved found nothing. */
const COMPARE_AGAIN_MS = 30_000;
const LONGEST_COMPARE_AGAIN_MS = 30 * 60_000;

/** A session that is listed or was, and when it was compared with its newest read. */
interface Comparison extends Omit<ListedWaiting, 'moved'> {
	readonly at: number;
	readonly againAfterMs: number;
	/** When its read was last moved; null: never. */
	readonly movedAt: number | null;
	readonly isListed: boolean;
}

/**
 * Has watched sessions read at once that newly wait by the list and not by their newest read. `onEarlyRead` is called
 * after a read was moved forward.
 */
export function createWaitingReads(core: Core, onEarlyRead: () => void): (list: WaitingList) => Promise<void> {
	const { serviceUrl, clock } = core;
	const { watches: store } = core.store;
	const { listing: metrics } = core.metrics;
	/** The sessions of the list before, and those that are gone whose reads were moved not long ago, by id. */
	let compared: ReadonlyMap<string, Comparison> = new Map();
	/** When the list before came; null: none, or not all sessions were in it. */
	let completeAt: number | null = null;
	clock.onStep?.(() => {
		compared = new Map();
		completeAt = null;
	});

	/** The session as it was compared before. One that comes back is compared at once. */
	function comparisonOf(sessionId: string): Comparison {
		const before = compared.get(sessionId);
		if (before?.isListed === true) return before;
		const { againAfterMs, movedAt } = before ?? { againAfterMs: COMPARE_AGAIN_MS, movedAt: null };
		return { sessionId, absentAt: completeAt, at: Number.NEGATIVE_INFINITY, againAfterMs, movedAt, isListed: true };
	}

	function afterMove(comparison: Comparison, { hasChanged }: MovedRead, now: number): Comparison {
		const { at, againAfterMs, movedAt } = comparison;
		const isBack = at === Number.NEGATIVE_INFINITY;
		const foundNothing = !isBack || (movedAt !== null && !hasChanged);
		const nextAfterMs = foundNothing ? Math.min(LONGEST_COMPARE_AGAIN_MS, 2 * againAfterMs) : COMPARE_AGAIN_MS;
		return { ...comparison, at: now, againAfterMs: nextAfterMs, movedAt: now };
	}

	/** It waits by its newest read too, or its last move found nothing and was not long ago. */
	function afterNoMove(comparison: Comparison, now: number): Comparison {
		const { againAfterMs, movedAt } = comparison;
		if (movedAt !== null && movedAt + againAfterMs > now) return { ...comparison, at: movedAt };
		return { ...comparison, at: now, againAfterMs: COMPARE_AGAIN_MS };
	}

	return async ({ sessions, isComplete }) => {
		const now = clock.now();
		const listed = sessions.map(({ sessionId }) => comparisonOf(sessionId));
		const due = listed.filter(({ at, againAfterMs }) => at + againAfterMs <= now);
		const asked = due.map(({ sessionId, absentAt, movedAt, againAfterMs }): ListedWaiting => {
			return { sessionId, absentAt, moved: movedAt === null ? null : { at: movedAt, until: movedAt + againAfterMs } };
		});
		const moved = await store.readWaiting(serviceUrl, asked, now);
		const gone = [...compared.values()].filter(
			({ movedAt }) => movedAt !== null && movedAt + LONGEST_COMPARE_AGAIN_MS > now,
		);
		const next = new Map(gone.map((one) => [one.sessionId, { ...one, isListed: false }]));
		for (const comparison of listed) next.set(comparison.sessionId, comparison);
		for (const comparison of due) {
			const move = moved.find(({ sessionId }) => sessionId === comparison.sessionId);
			const after = move === undefined ? afterNoMove(comparison, now) : afterMove(comparison, move, now);
			next.set(comparison.sessionId, after);
		}
		compared = next;
		completeAt = isComplete ? now : null;
		if (moved.length === 0) return;
		metrics.listedReads(moved.length);
		onEarlyRead();
	};
}
