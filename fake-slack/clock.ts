import { setTimeout as delay } from 'node:timers/promises';

/** The time of everything that waits, so that a test can move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds. Rejects when the signal is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
	/** Absent for a clock that a test moves: its sleepers wake early, while bytes under way need real time. */
	readonly sleepsInRealTime?: true;
}

/** The machine's clock. */
export const realClock: Clock = {
	sleepsInRealTime: true,
	now: () => Date.now(),
	sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};
