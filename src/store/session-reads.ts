import { z } from 'zod';
import { MINUTE_MS } from '../kernel/clock.ts';

/**
 * When the next read is due (`at`, clock milliseconds). Those with `by` before `at` are awaited: they go first, in the
 * order of `by`. Of others the one goes first that has waited most times its interval since its last read.
 */
export interface PlannedRead {
	readonly at: number;
	readonly by: number;
}

/**
 * A read that a due reminder waits for, and the first one after a delivery, go before those due in this time before
 * them (`by` before `at`).
 */
export const AWAITED_AHEAD_MS = 5 * MINUTE_MS;

/** A read that shows what was asked a moment ago goes before all of those, however many wait. */
export const NEWS_AHEAD_MS = 2 * AWAITED_AHEAD_MS;

const unread = z.object({ count: z.int(), since: z.number(), isMissing: z.boolean(), code: z.string().nullable() });

/** What else reads of a session have shown. Stored as JSON with it: each field has a default for rows without it. */
export const sessionReads = z.object({
	/** Failures in a row, 404s or others, of a session that was read before. `code`: the newest's, if it seems alone. */
	unread: unread.nullable().default(null),
	/** The average cost of a read: bytes of its body, and milliseconds of the service. Newer reads weigh more. */
	byteCount: z.number().default(0),
	tookMs: z.number().default(0),
});
export type SessionReads = Readonly<z.infer<typeof sessionReads>>;

/** The weight of a read in the average cost. */
const COST_WEIGHT = 1 / 4;

/** Clears the failures, and adds the cost of a successful read to the average. */
export function readsAfter(
	{ byteCount, tookMs }: SessionReads,
	read: Readonly<Record<'byteCount' | 'tookMs', number>>,
): SessionReads {
	const averaged = (before: number, newest: number) => Math.round(before + COST_WEIGHT * (newest - before));
	return { unread: null, byteCount: averaged(byteCount, read.byteCount), tookMs: averaged(tookMs, read.tookMs) };
}
