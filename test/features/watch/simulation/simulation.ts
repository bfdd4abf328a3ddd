import type { Script } from './population.ts';

/** `with a list`: the schedule and a service that lists the sessions that wait. */
export type Policy = 'adaptive' | 'with a list' | 'round robin' | 'viewers at 1 Hz';

export interface Result {
	/** For each question, ms from the step that asks it to the end of the read that finds it; infinity when none does. */
	readonly detection: readonly number[];
	readonly requestsPerMinute: number;
	/** Reads a second. */
	readonly backgroundPerSecond: number;
	readonly refused: number;
	/** For each `/session`, ms until its request was granted. */
	readonly personWaits: readonly number[];
	readonly updates: { readonly wanted: number; readonly sent: number; readonly dropped: number } | null;
	/** Samples of the cards of working sessions: ms since the oldest step that a card does not show; 0 when it shows all. */
	readonly staleness: readonly number[];
	/** `detection` by session, without questions that no read found. */
	readonly detectionOf: readonly (readonly number[])[];
}

export interface SimulationOptions {
	readonly scripts: readonly Script[];
	readonly lengthMs: number;
	readonly seed: number;
	/** Who watches each session; left out: one person watches all. */
	readonly creators?: readonly string[];
}

/** The time of a read: that of the service's check of a key, with five keys. It finds the state at half of that time. */
export const READ_MS = 300;
/** All watches begin at once; figures are taken after this. */
export const WARM_UP_MS = 15 * 60_000;
/** The mean time between two `/session`. */
export const PERSON_EVERY_MS = 15_000;

/** Counts questions that no read found, without those of the last minutes, which could still be found. */
export function neverFound(scripts: readonly Script[], counts: readonly number[], end: number): number[] {
	return scripts.flatMap(({ steps, questions }, index) =>
		[...questions.keys()]
			.filter((step) => step >= (counts[index] as number))
			.filter((step) => (steps[step] as number) > WARM_UP_MS && (steps[step] as number) < end - WARM_UP_MS)
			.map(() => Number.POSITIVE_INFINITY),
	);
}
