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
export function createReadings(now: () => number) {
	const readings = new Map<string, Reading>();
	return {
		put(sessionId: string, reading: Reading): void {
			keepNewest(readings, sessionId, reading, MOST_READINGS);
		},
		get(sessionId: string): Reading | null {
			const reading = readings.get(sessionId);
			return reading === undefined || now() - reading.readAt > KEEP_MS ? null : reading;
		},
	};
}

export type Readings = ReturnType<typeof createReadings>;
