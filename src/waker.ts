import type { Clock } from './clock.ts';

/** A sleep that can be ended early. */
export interface Waker {
	wake(): void;
	/** Resolves after `ms` or when woken; at once if woken since the last wait. Rejects when aborted. */
	wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWaker(clock: Clock): Waker {
	let woken = false;
	let sleeper: AbortController | null = null;
	return {
		wake() {
			woken = true;
			sleeper?.abort();
		},
		async wait(ms, signal) {
			if (!woken) {
				sleeper = new AbortController();
				try {
					await clock.sleep(ms, AbortSignal.any([sleeper.signal, signal]));
				} catch {
					signal.throwIfAborted();
				} finally {
					sleeper = null;
				}
			}
			woken = false;
		},
	};
}
