import type { Clock } from './clock.ts';

/** Without a reason each abort would make an error with a stack. */
const WOKEN = 'woken';

/** A sleep that can be ended early. */
export function createWaker(clock: Clock) {
	let isWoken = false;
	let sleeper: AbortController | null = null;
	return {
		wake() {
			isWoken = true;
			sleeper?.abort(WOKEN);
		},
		/** Forgets wakes since the last wait. */
		clear() {
			isWoken = false;
		},
		/** Resolves to false after `ms`, or to true when woken; at once if woken since the last wait. Rejects when aborted. */
		async wait(ms: number, signal: AbortSignal): Promise<boolean> {
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
