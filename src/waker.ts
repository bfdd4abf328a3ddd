import type { Clock } from './clock.ts';

/** A sleep that can be ended early. */
export interface Waker {
	wake(): void;
	/** Forgets wakes since the last wait. */
	clear(): void;
	/**
	 * Resolves to false after `ms`, or to true when woken; at once if woken since the last wait. Rejects when aborted.
	 */
	wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** Without a reason each abort would make an error with a stack. */
const WOKEN = 'woken';

export function createWaker(clock: Clock): Waker {
	let isWoken = false;
	let sleeper: AbortController | null = null;
	return {
		wake() {
			isWoken = true;
			sleeper?.abort(WOKEN);
		},
		clear() {
			isWoken = false;
		},
		async wait(ms, signal) {
			if (!isWoken) {
				sleeper = new AbortController();
				try {
					await clock.sleep(ms, AbortSignal.any([sleeper.signal, signal]));
				} catch {
					signal.throwIfAborted();
				} finally {
					sleeper = null;
				}
			}
			const wasWoken = isWoken;
			isWoken = false;
			return wasWoken;
		},
	};
}
