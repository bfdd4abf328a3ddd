/**
 * What was learned of one session's own rhythm: small, JSON-safe, stored with the session. All times are clock
 * milliseconds, durations milliseconds.
 */
export interface Rhythm {
	/** Steps seen while it was stepping, older ones fading. */
	readonly steps: number;
	/** The time those steps took. */
	readonly stepMs: number;
	/** Fading sums over single gaps that could be measured, for their spread: count, sum of logs, sum of squared logs. */
	readonly gaps: readonly [count: number, sum: number, squares: number];
	/** The newest step happened in this interval: after the one, not after the other. Null before any was seen. */
	readonly lastStep: readonly [after: number, until: number] | null;
	/** Times it was seen waking up after being quiet, fading, and the quiet time that belongs to them. */
	readonly wakes: number;
	readonly quietMs: number;
	/** Questions seen, fading like `steps`. */
	readonly questions: number;
}

export const unknownRhythm: Rhythm = {
	steps: 0,
	stepMs: 0,
	gaps: [0, 0, 0],
	lastStep: null,
	wakes: 0,
	quietMs: 0,
	questions: 0,
};
