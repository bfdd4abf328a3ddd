import { setTimeout as delay } from 'node:timers/promises';

/** The time of everything that waits, so that a test can move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds. Rejects when the signal is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const realClock: Clock = {
	now: () => Date.now(),
	sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};
