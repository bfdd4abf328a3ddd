import type { Script } from './population.ts';

export type Policy = 'adaptive' | 'round robin' | 'viewers at 1 Hz';

export interface Result {
	/** Of each question, ms from the step that asked it to the end of the read that found it; infinity when none did. */
	readonly detection: readonly number[];
	readonly requestsPerMinute: number;
	readonly backgroundPerSecond: number;
	readonly refused: number;
	/** Of each `/session`, ms until it might be sent. */
	readonly personWaits: readonly number[];
	readonly updates: { readonly wanted: number; readonly sent: number; readonly dropped: number } | null;
	/** Of cards of sessions at work, sampled: ms since the oldest step that they do not show; 0 when they show all. */
	readonly staleness: readonly number[];
	/** `detection` of each session by itself, without those that no read came for. */
	readonly detectionOf: readonly (readonly number[])[];
}

export interface SimulationOptions {
	readonly scripts: readonly Script[];
	readonly lengthMs: number;
	readonly seed: number;
	/** Who watches each session; one person watches all of them when left out. */
	readonly creators?: readonly string[];
}

/** A read takes what the service's check of a key takes with five keys; what it finds is of the middle of that time. */
export const READ_MS = 300;
/** Everybody begins to be watched at once; figures are taken from here on. */
export const WARM_UP_MS = 15 * 60_000;
/** Somebody types `/session` so often. */
export const PERSON_EVERY_MS = 15_000;

/** Questions that no read came for, but for those of the last minutes, which might still have been found. */
export function neverFound(scripts: readonly Script[], counts: readonly number[], end: number): number[] {
	return scripts.flatMap(({ steps, questions }, index) =>
		[...questions.keys()]
			.filter((step) => step >= (counts[index] as number))
			.filter((step) => (steps[step] as number) > WARM_UP_MS && (steps[step] as number) < end - WARM_UP_MS)
			.map(() => Number.POSITIVE_INFINITY),
	);
}
