import { setTimeout as delay } from 'node:timers/promises';

/** Time as everything that waits sees it, so that tests can move it instead of sleeping. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. */
export const systemClock: Clock = {
	now: () => Date.now(),
	async sleep(ms, signal) {
		try {
			await delay(ms, undefined, signal === undefined ? {} : { signal });
		} catch (error) {
			signal?.throwIfAborted();
			throw error;
		}
	},
};
