import { type Clock, uptimeOf } from '../../clock.ts';
import { keepNewest } from '../../keep-newest.ts';
import type { Session } from '../../questions/session.ts';

/** The session as it was read at a time. */
export interface Reading {
	readonly session: Session;
	/** Milliseconds since the epoch. */
	readonly readAt: number;
}

/** Sessions can be megabytes; the service's client holds about as many for its conditional reads. */
const MOST_READINGS = 20;
/** Older ones are read again even for turning a page. */
const KEEP_MS = 10 * 60_000;

/**
 * The latest readings people look at, so that turning a page or changing the fields costs no request and shows the same
 * session.
 */
export function createReadings(clock: Clock) {
	const readings = new Map<string, { readonly reading: Reading; readonly keptAt: number }>();
	return {
		put(sessionId: string, reading: Reading): void {
			keepNewest(readings, sessionId, { reading, keptAt: uptimeOf(clock) }, MOST_READINGS);
		},
		get(sessionId: string): Reading | null {
			const kept = readings.get(sessionId);
			return kept === undefined || uptimeOf(clock) - kept.keptAt > KEEP_MS ? null : kept.reading;
		},
	};
}

export type Readings = ReturnType<typeof createReadings>;
